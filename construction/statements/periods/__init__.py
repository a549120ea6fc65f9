"""Fiscal and calendar periods: computed for every point, written in words, read from words."""
