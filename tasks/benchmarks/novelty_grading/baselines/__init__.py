"""The extractive engine's answers to the grading steps."""
