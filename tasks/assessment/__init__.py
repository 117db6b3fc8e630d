"""Final assessment of an idea: decisive concerns, their defense, reviewers' preference."""
