"""The steps of a search by models: a change of a program, and what is learnt from its runs
(OmniScientist, section 4.3).
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
