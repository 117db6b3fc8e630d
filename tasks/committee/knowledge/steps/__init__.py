"""The knowledge steps (InnoEval, "Method", 1 and 2).

In their replies, entries outside their bounds are left out; a reply without a sound one is
unparsable.
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
