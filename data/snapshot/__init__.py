"""Snapshots: `write_snapshot` writes a release, `verify` checks one on disk."""
