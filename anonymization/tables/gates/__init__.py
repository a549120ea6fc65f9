"""The gates on released tables: fidelity and re-identification."""
