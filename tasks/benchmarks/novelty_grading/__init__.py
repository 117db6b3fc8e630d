"""Grades justifications of novelty judgements against an expert's: alignment, known and novel
aspects (RINoBench §4.2.2).
"""
