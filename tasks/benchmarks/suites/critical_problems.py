"""Suite `critical_problems` (quality checker, arXiv 2505.23824): what a release gives, and the
engine as one more of its judges.

Manuscripts of your own are no part of it: `assay check PAPER... --reasons FILE` finds problems in
them and prints hit rates.
"""

import logging
from collections.abc import Sequence

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import BenchmarkScore
from schemas.works.check_run import CHECKS
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites.problems_judging import judge_released
from tasks.benchmarks.suites.problems_released import PRICES, against_print, released_scores
from tasks.benchmarks.trial import Trial
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from warehouse.kinds.manuscripts.quality_checker import RELEASE_TABLES
from warehouse.kinds.manuscripts.queries import release_views
from warehouse.kinds.manuscripts.release import import_release
from warehouse.run_log import EVENTS
from warehouse.units.kind import kind_of
from warehouse.units.reading import published_units

logger = logging.getLogger(__name__)

NAME = "critical_problems"
FOLDER = "withdrarxiv"


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Import the release, sum it up by SQL, name what differs from the print, and hold the engine's
    votes against the judges'.
    """
    run_ids = _imported(trial)
    trial.evaluated_run_ids.extend(run_ids)
    with release_views(trial.warehouse, run_ids) as connection:
        released = released_scores(connection, NAME, trial.seed)
    with trial.warehouse.reader() as connection:
        checks = {
            run_id: published_units(connection, kind_of(CHECKS), run_id) for run_id in run_ids
        }
    differing = against_print(NAME, released)
    if differing:
        logger.warning(
            "%s: %d figures of the release differ from the print, see the metric %s",
            NAME,
            len(differing),
            differing[0].metric,
        )
    return [*judge_released(trial, NAME, checks), *released, *differing]


def _imported(trial: Trial) -> tuple[RunId, ...]:
    EVENTS.info("%s: importing the release", NAME)
    publications = import_release(trial.data / FOLDER, trial.warehouse)
    for one in publications:
        if not one.published:
            broken = ", ".join(one.failed_expectations)
            raise ConfigurationError(
                f"{FOLDER}/: {one.run_id} breaks {broken}; take its files as they were released"
            )
    if not publications:
        raise ConfigurationError(f"{trial.data / FOLDER} holds nothing: its checks have no row")
    return tuple(one.run_id for one in publications)


def _conditions(*_: object) -> tuple[str, ...]:
    """Return the prices, which the costs follow."""
    return (content_hash(PRICES.read_text("utf-8")),)


SUITE = Suite(
    NAME,
    "Does it see whether a reported problem is the one a paper was withdrawn for, and what do"
    " checkers find at which cost?",
    tuple(f"{FOLDER}/{name}.parquet" for name in RELEASE_TABLES),
    run,
    steps=(JUDGE_HIT,),
    conditions=_conditions,
)
