"""The soundness module's steps (ScholarEval §2.1, B.1).

Their baselines are deterministic and cheap: no embeddings, randomness or corpus statistics.
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
