"""The privacy gates: of sessions (masking, leaks) and of tables."""
