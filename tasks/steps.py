"""The one list of steps, topic by topic; those of declared kinds of work follow from `WORKS`.

Flows, tests, the plan and the data dictionary iterate it.
"""

from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any

from tasks.benchmarks.steps import STEPS as BENCHMARK_STEPS
from tasks.judging.step import Step
from tasks.works import WORKS


def _steps_of(module: str) -> tuple[Step[Any, Any], ...]:
    """Return the steps of a declared kind: those that `steps` beside it lists, else its own."""
    topic = module.rpartition(".")[0]
    if find_spec(f"{topic}.steps") is not None:
        steps: tuple[Step[Any, Any], ...] = import_module(f"{topic}.steps").STEPS
        return steps
    values = vars(import_module(module)).values()
    return tuple(each for each in values if isinstance(each, Step) and each.package == topic)


_MODULES = dict.fromkeys(place.partition(":")[0] for place in WORKS.values())
STEPS: tuple[Step[Any, Any], ...] = tuple(
    dict.fromkeys((*chain.from_iterable(map(_steps_of, _MODULES)), *BENCHMARK_STEPS))
)
