"""The gates that look for what is private: of sessions (masking, leaks) and of tables."""
