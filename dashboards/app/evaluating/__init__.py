"""Evaluating one idea from the page: asked of the job runner, watched through files."""
