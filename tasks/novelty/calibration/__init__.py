"""Calibration: from a judgement and its evidence to a label with its uncertainty, and how much that
gains.
"""
