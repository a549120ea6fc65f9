"""What the one client (`construction.judging.llm`) is made of."""
