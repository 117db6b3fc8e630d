"""The committee's steps (InnoEval, "Method").

In the replies of those that search for knowledge, entries outside their bounds are left out; a
reply without a sound one is unparsable.
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
