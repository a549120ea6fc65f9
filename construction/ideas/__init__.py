"""Candidate ideas of seeds, by a model or by rules, and their filters."""
