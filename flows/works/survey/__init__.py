"""Surveys and answers to questions."""
