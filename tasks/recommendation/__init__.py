"""Data sets, baselines and metrics that works near an idea used."""
