"""Captured web pages: importing, searching and reading them without a network."""
