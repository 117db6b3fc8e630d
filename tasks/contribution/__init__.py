"""Contribution: what does the idea add, dimension by dimension? (ScholarEval §2.2)"""
