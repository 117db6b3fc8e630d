"""Reuse of evaluations that another run paid for, from landing or the lake."""

from schemas.base import replace
from schemas.errors import ConfigurationError, PublicationError
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import Receipt
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.rows import Rows
from warehouse.units import landing, shared
from warehouse.units.letting_go import rows_in_lake
from warehouse.units.record import unit_of
from warehouse.warehouse import Warehouse

_OF_THE_FILE = (
    *("idea_id", "title", "problem", "method", "experiment", "group", "metadata"),
    *("duplicate_of", "duplicate_similarity_0_to_1"),
)
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
    evaluation = unit_of(RUNS, key, _rows_landed(warehouse, receipt))
    taken_over = replace(
        evaluation,
        run_id=to_run,
        idea=replace(evaluation.idea, **{name: getattr(idea, name) for name in _OF_THE_FILE}),
        llm_calls=(),
        api_calls=(),
        reused_from_run_id=receipt.reused_from_run_id or from_run,
    )
    return land(warehouse, taken_over)


def _rows_landed(warehouse: Warehouse, receipt: Receipt) -> Rows:
    """Return the rows of an idea from landing or, if evicted, from the lake."""
    mark = RUNS.folder_of(warehouse, receipt) / shared.LET_GO
    try:
        if not mark.exists():
            return landing.landed_rows(warehouse, RUNS, receipt)
    except PublicationError:
        if not mark.exists():  # else they went while they were read
            raise
    with warehouse.reader() as connection:
        return rows_in_lake(connection, warehouse, RUNS, receipt)
