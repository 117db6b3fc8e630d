"""Tasks of the pipeline.

Top-level files are the few thin Prefect tasks; `tasks/<topic>/` is plain code.
"""
