"""What transport puts around a person's words, one kind a file; `unwrap` puts them together."""
