"""Fiscal and calendar periods: computed for every point, described in words, read from words."""
