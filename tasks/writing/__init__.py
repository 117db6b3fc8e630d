"""Drafts of ideas: claims collected before sentences, an outline, figures, sections, and the check
that refuses what nothing carries (OmniScientist §3.5).
"""
