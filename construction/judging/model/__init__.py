"""The stages that ask a model: prompts as files, and the checks that every answer goes through."""
