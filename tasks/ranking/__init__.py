"""Grouped ranking: which idea of a group is better, and how sure is that? (InnoEval, "Report
Generation"; OmniScientist §5.2)
"""
