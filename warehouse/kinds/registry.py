"""Kinds of work that are landed by unit and published as a whole.

Kinds declared in `schemas/works` are found automatically; the others are declared next to their
landing. All are validated, published, verified, compacted and tested for conformity alike.
"""

from schemas.works.registry import work_schemas
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS
from warehouse.units.kind import Kind, kind_of

KINDS: tuple[Kind, ...] = (
    RUNS,
    RANKINGS,
    *map(kind_of, work_schemas()),
    BENCHMARKS,
)
