"""The extractive engine's answers to the novelty steps."""
