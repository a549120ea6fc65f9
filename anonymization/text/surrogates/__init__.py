"""Plausible fake values, typed and in the language of what they stand for."""
