"""Classic text processing that every topic may use: it knows no idea, no step and no engine."""
