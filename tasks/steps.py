"""The one list of steps, topic by topic; those of declared kinds of work follow from `WORKS`.

Flows, tests, the plan and the data dictionary iterate it.
"""

from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any

from tasks.assessment.steps import STEPS as ASSESSMENT_STEPS
from tasks.benchmarks.steps import STEPS as BENCHMARK_STEPS
from tasks.committee.steps import STEPS as COMMITTEE_STEPS
from tasks.contribution.steps import STEPS as CONTRIBUTION_STEPS
from tasks.judging.step import Step, steps_in
from tasks.judging.steps import STEPS as SHARED_STEPS
from tasks.novelty.steps import STEPS as NOVELTY_STEPS
from tasks.ranking.steps import STEPS as RANKING_STEPS
from tasks.recommendation.steps import STEPS as RESOURCE_STEPS
from tasks.soundness.steps import STEPS as SOUNDNESS_STEPS
from tasks.works import WORKS


def _module_of(place: str) -> str:
    return place.partition(":")[0]


def _steps_of(module: str) -> tuple[Step[Any, Any], ...]:
    """Return the steps of a declared kind: those of the folder `steps` beside it, else its own."""
    topic = module.rpartition(".")[0]
    if find_spec(f"{topic}.steps") is not None:
        return steps_in(f"{topic}.steps")
    values = vars(import_module(module)).values()
    return tuple(each for each in values if isinstance(each, Step) and each.package == topic)


STEPS: tuple[Step[Any, Any], ...] = (
    *SOUNDNESS_STEPS,
    *CONTRIBUTION_STEPS,
    *COMMITTEE_STEPS,
    *NOVELTY_STEPS,
    *ASSESSMENT_STEPS,
    *SHARED_STEPS,
    *RESOURCE_STEPS,
    *RANKING_STEPS,
    *chain.from_iterable(map(_steps_of, dict.fromkeys(map(_module_of, WORKS.values())))),
    *BENCHMARK_STEPS,
)
