"""Page of a paper: its passages, and the reviews of a run that cite it."""

from collections.abc import Iterator, Mapping
from typing import Any

from dashboards.app.site import PageContent, Visit, idea_link, run_path
from dashboards.render import figures
from dashboards.render import page as pg
from schemas.errors import UnknownNameError
from schemas.identifiers import RunId

PAPERS_LISTED, PASSAGES_SHOWN = 50, 20


def show(visit: Visit) -> PageContent:
    """Show a paper of a run.

    Raises:
        UnknownNameError: the run retrieved no such paper.
    """
    run_id, paper_id = RunId(visit.query.get("run", "")), visit.query.get("paper", "")
    papers = visit.lake.frame("find_papers", run_id=run_id, text=paper_id, limit=PAPERS_LISTED)
    rows = [row for row in papers.to_dicts() if row["paper_id"] == paper_id]
    if not rows:
        raise UnknownNameError(f"run {run_id} retrieved no paper “{paper_id}”")
    (row,) = rows
    title = str(row["title"] or paper_id)
    return PageContent(
        title,
        (*_head(run_id, row), *_passages(visit, run_id, row), *_citations(visit, run_id, row)),
    )


def _head(run_id: RunId, row: Mapping[str, Any]) -> Iterator[pg.Block]:
    yield pg.facts(
        f"published {row['year']}" if row["year"] else "",
        f"retrieved for {figures.plural(int(row['retrieved_for']), 'idea')}",
        f"cited by {figures.plural(int(row['cited_by']), 'idea')}",
        pg.line("run ", pg.report(run_id, run_path(run_id))),
    )
    address = pg.link("Open the paper", str(row["url"] or ""))
    if address.url:
        yield pg.text(address)


def _passages(visit: Visit, run_id: RunId, row: Mapping[str, Any]) -> Iterator[pg.Block]:
    """Yield the retrieved passages of the paper, else its abstract."""
    yield pg.heading("What was read of it")
    passages = visit.lake.frame(
        "passages_of_paper", run_id=run_id, paper_id=row["paper_id"], limit=PASSAGES_SHOWN
    ).to_dicts()
    for passage in passages:
        where = passage["section"] or passage["kind"]
        yield pg.text(f"{where}, found for {figures.plural(passage['ideas'], 'idea')}:")
        yield pg.note(passage["text"])
    if not passages and row["abstract"]:
        yield pg.text("Abstract:")
        yield pg.note(str(row["abstract"]))
    elif not passages:
        yield pg.text("Only its title was known.")


def _citations(visit: Visit, run_id: RunId, row: Mapping[str, Any]) -> Iterator[pg.Block]:
    yield pg.heading("Where it is cited")
    citations = visit.lake.frame("citations_of_paper", run_id=run_id, paper_id=row["paper_id"])
    if citations.is_empty():
        yield pg.text("It was retrieved, and no review of this run cites it.")
        return
    rows = (
        (
            idea_link(run_id, each["idea_id"], each["title"]),
            each["module"], each["subject"], each["field"], int(each["count"]),
        )
        for each in citations.to_dicts()
    )  # fmt: skip
    yield pg.table(("Idea", "Module", "About", "In", "Times:"), rows)
