"""Soundness: is each proposed method supported or contradicted by the literature? (ScholarEval
§2.1)
"""
