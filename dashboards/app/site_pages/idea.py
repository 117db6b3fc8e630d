"""Pages of an idea (review, cited papers, judgements) and of a paper (passages, citations)."""

from collections.abc import Iterator, Mapping
from typing import Any

from dashboards.app.site import (
    PageContent,
    Visit,
    idea_link,
    idea_path,
    paper_path,
    report_files,
    run_path,
    with_query,
)
from dashboards.app.site_pages.decide import decisions_on_unit
from dashboards.render import figures, papers, wording
from dashboards.render import page as pg
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.judgements import call_blocks, judgement_blocks
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, PaperId, RunId
from warehouse.queries import Queries
from warehouse.row_models import IdeaReview

PASSAGES_SHOWN, PASSAGE_CHARACTERS = 3, 700
# The script opens this fold next to a clicked citation.
CITED = "cited"


def show(visit: Visit) -> PageContent:
    """Show an idea of a run; with `call` in the URL, the transcript of that call.

    Raises:
        UnknownNameError: the run has no such idea.
    """
    run_id, idea_id = RunId(visit.query.get("run", "")), IdeaId(visit.query.get("idea", ""))
    review = visit.lake.ask(Queries.idea_review, run_id, idea_id)
    page = idea_view(idea_page(review), full=True)
    address = idea_path(run_id, idea_id)
    if (call_id := visit.query.get("call")) is not None:
        back = pg.text(pg.report("The review of the idea", address))
        transcript = call_blocks(review, call_id, visit.lake.warehouse)
        return PageContent(f"Call: {page.document_name}", (back, *transcript), heading=page.title)
    blocks = (
        pg.facts(*_neighbors(visit, run_id, idea_id), report_files(run_id, idea_id)),
        *page.blocks,
        *decisions_on_unit(visit, run_id, idea_id),
        *_papers_with_passages(review),
        pg.heading("Who judged what"),
        *judgement_blocks(
            review, lambda call: with_query("/idea", run=run_id, idea=idea_id, call=call)
        ),
    )
    return PageContent(page.document_name, blocks, heading=page.title)


def _neighbors(visit: Visit, run_id: RunId, idea_id: IdeaId) -> Iterator[pg.Line]:
    yield pg.line(pg.report("All ideas", with_query("/ideas", run=run_id)))
    yield pg.line(pg.report("Run", run_path(run_id)))
    order = visit.lake.ask(_order, run_id)
    if idea_id not in order:
        return
    place = order.index(idea_id)
    for words, other in (("Previous idea", place - 1), ("Next idea", place + 1)):
        if 0 <= other < len(order):
            yield pg.line(pg.report(words, idea_path(run_id, order[other])))
    if len(order) > 1:
        next_best = order[place + 1 if place + 1 < len(order) else place - 1]
        comparison_path = with_query("/why", run=run_id, one=idea_id, other=next_best)
        yield pg.line(pg.report("Compare with the next", comparison_path))


def _order(queries: Queries, run_id: RunId) -> tuple[IdeaId, ...]:
    return tuple(
        idea.idea_id for idea in sorted(queries.ranking(run_id), key=lambda each: each.place)
    )


def _papers_with_passages(review: IdeaReview) -> Iterator[pg.Block]:
    """Yield each cited or compared paper with its passages and links."""
    contribution = review.evaluation.contribution
    compared_ids = {each.paper_id for each in (contribution.comparisons if contribution else ())}
    paper_ids = compared_ids | {paper.paper_id for paper in review.bibliography}
    listed_papers = [paper for paper in review.evaluation.papers if paper.paper_id in paper_ids]
    if not listed_papers:
        return
    yield pg.heading("What was read of the papers")
    items = []
    for paper in papers.sort_for_reading(listed_papers):
        details = pg.report(
            "passages and citing ideas", paper_path(review.run.run_id, paper.paper_id)
        )
        publisher = pg.link("publisher", papers.paper_url(paper) or "")
        head = pg.text(
            pg.strong(paper.title), " · ", details, *((" · ", publisher) if publisher.url else ())
        )
        items.append((head, *_passages(review, paper.paper_id, paper.abstract or "")))
    yield pg.Fold(f"Papers: {len(items)}", (pg.Listing(tuple(items), first=1),), CITED)


def _passages(review: IdeaReview, paper_id: PaperId, abstract: str) -> Iterator[pg.Block]:
    """Yield up to `PASSAGES_SHOWN` passages, else the abstract, else a note."""
    soundness = review.evaluation.soundness
    passages = {
        passage.text: passage.section or passage.kind
        for passage in (soundness.passages if soundness is not None else ())
        if passage.paper_id == paper_id
    }
    if not passages and not abstract:
        yield pg.text("Only its title was known.")
    for text, place in list((passages or ({abstract: "abstract"} if abstract else {})).items())[
        :PASSAGES_SHOWN
    ]:
        yield pg.text(f"{place}:")
        yield pg.note(wording.shorten(text, PASSAGE_CHARACTERS))


PAPERS_LISTED, MOST_PASSAGES = 50, 20


def show_paper(visit: Visit) -> PageContent:
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
        (
            *_paper_head(run_id, row),
            *_passages_of_paper(visit, run_id, row),
            *_citations(visit, run_id, row),
        ),
    )


def _paper_head(run_id: RunId, row: Mapping[str, Any]) -> Iterator[pg.Block]:
    yield pg.facts(
        f"published {row['year']}" if row["year"] else "",
        f"retrieved for {figures.plural(int(row['retrieved_for']), 'idea')}",
        f"cited by {figures.plural(int(row['cited_by']), 'idea')}",
        pg.line("run ", pg.report(run_id, run_path(run_id))),
    )
    address = pg.link("Open the paper", str(row["url"] or ""))
    if address.url:
        yield pg.text(address)


def _passages_of_paper(visit: Visit, run_id: RunId, row: Mapping[str, Any]) -> Iterator[pg.Block]:
    """Yield the retrieved passages of the paper, else its abstract."""
    yield pg.heading("What was read of it")
    passages = visit.lake.frame(
        "passages_of_paper", run_id=run_id, paper_id=row["paper_id"], limit=MOST_PASSAGES
    ).to_dicts()
    for passage in passages:
        place = passage["section"] or passage["kind"]
        yield pg.text(f"{place}, found for {figures.plural(passage['ideas'], 'idea')}:")
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
