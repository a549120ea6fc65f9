"""Pseudonyms: codes by a keyed permutation, names from own lexicons, and both inside text."""
