"""Reuse of evaluations that another run paid for, from landing or the lake."""

from schemas.base import replace
from schemas.errors import ConfigurationError, PublicationError
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import Receipt
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.rows import Rows
from warehouse.units import bucket, landing
from warehouse.units.eviction import rows_in_lake
from warehouse.units.unit_rows import unit_of
from warehouse.warehouse import Warehouse

_PARTS = frozenset(("problem", "method", "experiment"))
_FILE_FIELDS = _PARTS | {
    *("idea_id", "title", "group", "metadata", "manuscript"),
    *("duplicate_of", "duplicate_similarity_0_to_1"),
}
"""Fields that may differ between idea files with the same idea."""


def reuse(
    warehouse: Warehouse, key: EvaluationKey, from_run: RunId, to_run: RunId, idea: Idea
) -> Receipt:
    """Land an evaluation of another run under `to_run`, for `idea`.

    The idea has the same content, perhaps another name or group. Judgements are copied; calls stay
    with the run that paid for them.

    Raises:
        ConfigurationError: `from_run` has not landed `key`, or the lake cannot be opened.
        PublicationError: the rows are neither in landing nor in the lake.
    """
    receipt = landing.read_receipt(warehouse, RUNS, from_run, key)
    if receipt is None:
        raise ConfigurationError(f"run {from_run} has no evaluation {key} to reuse")
    # The parts of a manuscript's plan were made by the evaluation.
    names = _FILE_FIELDS if idea.manuscript is None else _FILE_FIELDS - _PARTS
    evaluation = unit_of(RUNS, key, _unit_rows(warehouse, receipt))
    reused_evaluation = replace(
        evaluation,
        run_id=to_run,
        idea=replace(evaluation.idea, **{name: getattr(idea, name) for name in names}),
        llm_calls=(),
        api_calls=(),
        reused_from_run_id=receipt.reused_from_run_id or from_run,
    )
    return land(warehouse, reused_evaluation)


def _unit_rows(warehouse: Warehouse, receipt: Receipt) -> Rows:
    """Return the rows of an idea from landing or, if evicted, from the lake."""
    mark = RUNS.folder_of(warehouse, receipt) / bucket.EVICTION_MARK
    try:
        if not mark.exists():
            return landing.landed_rows(warehouse, RUNS, receipt)
    except PublicationError:
        if not mark.exists():  # otherwise they were evicted during the read
            raise
    with warehouse.reader() as connection:
        return rows_in_lake(connection, warehouse, RUNS, receipt)
