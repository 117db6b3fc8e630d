"""Calibration: from judgements and what they rest on to a label with its uncertainty, fitted on
labelled outcomes; how much that gains, and never on what it was fitted on.
"""
