"""What `assay report --json` prints: what the report says of a run, a check,
a benchmark or an idea.
"""

from typing import Any

from flows.cli.answer import Answer
from flows.cli.works import answer_about
from flows.run.pages import published_page
from schemas.identifiers import IdeaId, RunId
from tasks.works import works
from warehouse.kinds.rankings.landing import RANKINGS
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
    with warehouse.queries(as_defined=False) as queries:
        run_id = RunId(run) if run else queries.latest_run().run_id
        kind = published_kind(queries.connection, run_id)
    wanted = RANKINGS if ranking else kind
    declared = next(work for work in works() if work.kind is wanted)
    page: Any = published_page(declared, warehouse, run_id)
    if idea is None:
        return answer_about(page, declared.result(page.head, page.units))
    with warehouse.queries() as queries:
        review = queries.idea_review(run_id, IdeaId(idea))
    return answer_about(page, declared.result(page.head, ()), rows=[review])
