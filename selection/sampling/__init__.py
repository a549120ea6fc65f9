"""Sampling with exact, published probabilities: hierarchical weights and systematic draws."""
