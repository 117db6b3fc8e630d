"""Judging: steps, the engines that run them, and what models take, cost and allow."""
