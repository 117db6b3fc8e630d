"""Estimates of calls, tokens, cost and time, before anything is paid."""
