"""The stages that ask a model: prompts as files, and the checks of every answer."""
