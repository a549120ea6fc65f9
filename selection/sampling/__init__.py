"""Sampling with exact, published probabilities: hierarchical weights, systematic draws, stages."""
