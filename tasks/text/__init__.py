"""Classic text processing for all topics, independent of ideas, steps and engines."""
