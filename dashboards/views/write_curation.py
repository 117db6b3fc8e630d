"""Report on a curated set: ideas, statements, and what was left out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.prose import prose
from dashboards.views.curated_set import CuratedSet, changes, kinds_table, write_curated_set
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.works.curation import Curation
from schemas.works.curation_run import CURATIONS
from warehouse.kinds.curation_edits import apply_edits, edits_of
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

IDEAS = "ideas.jsonl"
_UNWORDED_NOTE = (
    "Not all of it is worded: ideas and statements that nobody looked at are sentences of papers"
    " and reviews."
)


class CurationPage(CuratedSet, PublishedPage):
    """The report on a curated set."""

    @property
    def units(self) -> tuple[Curation, ...]:
        return self.curations

    def page(self) -> pg.Page:
        title = f"A set of {figures.plural(len(self.included_papers), 'rated idea')}"
        return pg.Page(pg.line(title), tuple(self._blocks()), f"Curation {self.head.run_id}")

    def _blocks(self) -> Iterator[pg.Block]:
        head, spread = self.head, self.head.most_rating_spread
        yield pg.facts(
            pg.code(head.run_id),
            figures.plural(head.paper_count, "paper"),
            figures.plural(self.statement_count, "statement"),
            pg.line("engine ", pg.code(head.engine)),
            f"at least {figures.plural(head.fewest_reviews, 'usable review')} each",
            "" if spread is None else f"ratings at most {figures.mean(spread)} apart",
        )
        end_reason = head.incomplete_reason
        yield from map(pg.note, wording.banners(head.engine, "", incomplete_reason=end_reason))
        if self.needs_wording:
            yield pg.note(_UNWORDED_NOTE)
        yield from kinds_table(self.included_papers)
        for curation in self.included_papers:
            yield from idea_blocks(curation)
        yield from changes(self)
        yield pg.heading("Papers that are no part of the set")
        rows = [
            (
                pg.line(pg.code(each.paper_id), f" {each.title}"),
                wording.reason(each.dropped_reason or ""),
                each.dropped_detail,
            )
            for each in self.excluded_papers
        ]
        yield pg.table(("Paper", "Why", ""), rows) if rows else pg.text("None.")

    def json_fields(self) -> dict[str, Any]:
        return {"agreement": self.agreement}

    def short_page(self) -> pg.Page:
        rows = [
            (
                each.paper_id,
                f"{each.used_review_count:,} of {figures.count(each.review_count)}",
                each.sentence_count,
                each.statement_count,
                each.leak_count,
                len(each.drops),
            )
            for each in self.included_papers
        ]
        columns = ("Paper", "Reviews used:", "Sentences:", "Statements:", "Leaks:", "Left out:")
        summary = (
            f"{figures.plural(len(self.included_papers), 'idea')} with"
            f" {figures.plural(self.statement_count, 'statement')}, of"
            f" {figures.plural(len(self.curations), 'paper')}."
        )
        return pg.Page((), (*([pg.table(columns, rows)] if rows else ()), pg.text(summary)))

    def save_as(self, path: Path) -> tuple[Path, ...] | None:
        """Write the ideas to a `.jsonl` file with their datasheet."""
        return write_curated_set(path, self) if path.suffix == ".jsonl" else None

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the report, and `ideas.jsonl` with its datasheet."""
        return *super().write(folder), *write_curated_set(folder / IDEAS, self)


def idea_blocks(curation: Curation) -> Iterator[pg.Block]:
    """Yield one idea with its statements, their sentences, and what was left out."""
    yield pg.heading(curation.title or curation.paper_id)
    reviews = figures.plural(curation.used_review_count or 0, "review")
    yield pg.facts(
        pg.code(curation.paper_id),
        f"{reviews} used of {figures.count(curation.review_count)}",
        f"{figures.plural(curation.sentence_count, 'sentence')} about the idea",
        curation.cutoff_date or "",
        curation.decision,
        pg.link(curation.url, curation.url) if curation.url else "",
    )
    parts = {"Problem": curation.problem, "Method": curation.method}
    if curation.experiment:
        parts["Experiment design"] = curation.experiment
    for name, words in parts.items():
        yield pg.heading(name, level=3)
        yield from prose(words)
    yield pg.heading("Statements", level=3)
    sentences = {each.sentence_id: each for each in curation.sentences}
    items: list[tuple[pg.Block, ...]] = []
    for each in curation.statements:
        kind = f"{each.severity.value} {each.type.value}, {each.axis.value}:"
        sources = (sentences[name] for name in each.sentence_ids)
        quotes = pg.bullets(f"{one.review_id}: “{one.text}”" for one in sources)
        items.append((pg.text(pg.strong(kind), f" {each.statement}"), *quotes))
    if items:
        yield pg.Listing(tuple(items))
    if curation.drops:
        yield pg.heading("Left out", level=3)
        drops = [
            (f"{one.left_out_of.value} {one.subject}", one.text, one.detail)
            for one in curation.drops
        ]
        yield pg.table(("Of", "What", "Why"), drops)


def curation_page(warehouse: Warehouse, run_id: RunId) -> CurationPage:
    """Return a published set with people's edits; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        edits = edits_of(connection, run_id)
        curations = (
            apply_edits(each, edits)
            for each in published_units(connection, kind_of(CURATIONS), run_id)
        )
        head = published_head(connection, kind_of(CURATIONS), run_id)
        return CurationPage(head, tuple(curations), edits)
