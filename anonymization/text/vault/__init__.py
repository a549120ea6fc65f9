"""What masking replaced, sealed with the release key, and the way back."""
