"""The extractive engine's answers to the contribution steps: classic text processing, deterministic, without a model."""
