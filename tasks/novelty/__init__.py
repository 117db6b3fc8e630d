"""How new an idea is beside its related works: one judgement from 1 to 5 with its reasons
(RINoBench), and its calibration.
"""
