"""The six categories that questions are balanced over."""
