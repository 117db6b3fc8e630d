"""The kinds of work that are landed unit by unit and published whole.

Those that modules of `schemas/works` declare are found by themselves; the others are declared beside
how their units land. Each is validated, published, verified, tidied up and held to the conformity
suite like the others.
"""

from schemas.works.registry import work_schemas
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS
from warehouse.units.kind import Kind, kind_of

KINDS: tuple[Kind, ...] = (
    RUNS,
    RANKINGS,
    *map(kind_of, work_schemas()),
    BENCHMARKS,
)
