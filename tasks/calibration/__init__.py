"""Calibration: a label with its uncertainty from judgements and their evidence.

Calibrators are fitted on ideas with known outcomes and scored on held-out ideas.
"""
