"""The kinds of work that are landed unit by unit and published whole.

Each is declared beside how its units land. One added here is validated, published, verified, tidied
up and held to the conformity suite like the others.
"""

from typing import Any

from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.kinds.curations.landing import CURATIONS
from warehouse.kinds.drafts import DRAFTS
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.kinds.ideations import IDEATIONS
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS
from warehouse.kinds.surveys import SURVEYS
from warehouse.units.kind import Kind

KINDS: tuple[Kind[Any, Any, Any], ...] = (
    RUNS,
    RANKINGS,
    CHECKS,
    SURVEYS,
    CURATIONS,
    EXPERIMENTS,
    IDEATIONS,
    DRAFTS,
    BENCHMARKS,
)
