"""What `assay report --json` prints: what the report says of a run, a check,
a benchmark or an idea.
"""

from typing import Any

from dashboards.views.changes import changes_of
from flows.cli.answer import Answer, answer_of
from flows.cli.evaluate.rank_output import matches_answer
from flows.cli.evaluate.run_output import published, state_of
from flows.cli.works import answer_about
from flows.run.pages import published_page
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, RunId
from tasks.works import works
from warehouse.kinds.rankings.queries import group_summaries, ranked_by, ranking_shown
from warehouse.kinds.runs.landing import RUNS
from warehouse.queries import Queries
from warehouse.units.reading import published_kind
from warehouse.warehouse import Warehouse


def report_answer(
    warehouse: Warehouse, run: str | None, idea: str | None = None, *, ranking: bool = False
) -> Answer:
    """What the report says; its rows are those of the command that made what is reported.

    Args:
        run: None: the newest run.

    Raises:
        ConfigurationError: no such lake.
        UnknownNameError: no such run, ranking or idea.
    """
    with warehouse.queries() as queries:
        run_id = RunId(run) if run else queries.latest_run().run_id
        kind = published_kind(queries.connection, run_id)
        if ranking:
            return _ranking(queries, run_id)
        if kind is RUNS:
            return _run(queries, run_id, idea)
    declared = next(work for work in works() if work.kind is kind)
    page: Any = published_page(declared, warehouse, run_id)
    return answer_about(page, declared.result(page.head, page.units))


def _run(queries: Queries, run_id: RunId, idea: str | None) -> Answer:
    run = queries.run(run_id)
    told = published(queries, run_id)
    rows = told.ranked if idea is None else [queries.idea_review(run_id, IdeaId(idea))]
    changes = changes_of(queries, run) if idea is None else None
    beside = {"changes": changes.ideas} if changes is not None else {}
    return answer_of(
        state_of(run),
        rows,
        run=run,
        warnings=(*run.order_reasons, *told.alarms),
        rejected=told.rejections,
        **beside,
    )


def _ranking(queries: Queries, run_id: RunId) -> Answer:
    head = ranking_shown(queries, run_id)
    if head is None:
        raise UnknownNameError(
            f"run {run_id} has no published ranking by matches: `assay rank {run_id}`"
        )
    ranked, groups = ranked_by(queries, head), group_summaries(queries, head)
    return matches_answer(queries.run(run_id), head, ranked, groups)
