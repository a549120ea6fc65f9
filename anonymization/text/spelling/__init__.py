"""Which spellings of a known value count as that value, for masking and for the leak search."""
