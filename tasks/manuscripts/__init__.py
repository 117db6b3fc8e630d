"""Critical problems in manuscripts: find them, and judge whether they are the ones authors
retracted for (quality checker).
"""
