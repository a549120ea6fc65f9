"""Attacks on released tables: who can be re-identified, how, and with what knowledge."""
