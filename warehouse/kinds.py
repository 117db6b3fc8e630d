"""The kinds of work that are landed unit by unit and published whole.

Each is declared beside how its units land. One added here is validated, published, verified, tidied
up and held to the conformity suite like the others.
"""

from typing import Any

from warehouse.benchmarks.landing import BENCHMARKS
from warehouse.curations.landing import CURATIONS
from warehouse.drafts import DRAFTS
from warehouse.experiments import EXPERIMENTS
from warehouse.ideations import IDEATIONS
from warehouse.manuscripts.landing import CHECKS
from warehouse.rankings.landing import RANKINGS
from warehouse.runs.landing import RUNS
from warehouse.surveys import SURVEYS
from warehouse.units.kind import Kind

KINDS: tuple[Kind[Any, Any], ...] = (
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
