"""Plausible fake values, of the same kind and language as the values they replace."""
