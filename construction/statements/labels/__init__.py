"""Own English labels for the line items of Japanese statements."""
