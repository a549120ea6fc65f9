"""The parts of the model client (`construction.judging.llm`)."""
