"""Notebooks for analysts and auditors (marimo): `marimo run notebooks/funnel_overlaps.py`."""
