"""Masking: private spans in texts, JSON and files, replaced so that the vault can undo it."""
