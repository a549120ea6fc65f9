"""A series of releases: which exist, what changed from one to the next, what may be purged."""
