"""The literature's metrics, their uncertainty and what tells two systems apart; plain functions, no
engine.
"""
