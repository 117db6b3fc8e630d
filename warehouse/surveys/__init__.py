"""Surveys of questions in the warehouse."""
