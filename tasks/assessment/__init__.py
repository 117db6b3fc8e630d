"""The final assessment of an idea: decisive concerns, their defense, and reviewers' preference."""
