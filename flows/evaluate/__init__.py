"""Runs agents on a release with Inspect: the only package that imports it."""
