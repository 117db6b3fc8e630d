"""The committee's steps (InnoEval, "Method").

Invalid entries of replies about several items are omitted; a reply without a valid entry is
unparsable.
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
