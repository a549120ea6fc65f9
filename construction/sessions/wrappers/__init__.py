"""Removes what message transport adds to a person's words; `unwrap` combines all kinds."""
