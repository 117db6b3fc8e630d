"""The extractive engine's answers to the committee's steps: classic text processing, deterministic, without a model."""
