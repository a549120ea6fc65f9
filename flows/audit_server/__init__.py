"""The audit page on the loopback, and as files."""
