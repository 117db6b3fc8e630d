"""Files of a curated set: `ideas.jsonl` and its datasheet.

`assay benchmark coverage` reads `ideas.jsonl` like ScholarIdeas.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.formats.markdown import markdown_page
from schemas.choices import EXTRACTIVE
from schemas.works.curation import CuratedStatement, Curation
from schemas.works.curation_edit import CurationEdit, EditAgreement, EditShare
from schemas.works.curation_run import CurationHead
from warehouse.kinds.curation_edits import edit_shares
from warehouse.parquet import replace_bytes

# Placeholder for an unknown field, licence or date.
UNSTATED = "unstated"


def ideas_file(curations: Sequence[Curation]) -> bytes:
    """Return one JSON object a line for each paper in the set."""
    lines = (orjson.dumps(_line(each)) for each in curations if each.dropped_reason is None)
    return b"".join(line + b"\n" for line in lines)


def _line(curation: Curation) -> dict[str, object]:
    day = curation.cutoff_date
    return {
        "idea_id": curation.paper_id,
        "discipline": curation.discipline or UNSTATED,
        "text": curation.text,
        "cutoff_date": day.isoformat() if day is not None else None,
        "rubrics": [_rubric(each, curation) for each in curation.statements],
        "title": curation.title,
        "url": curation.url,
        "licence": curation.licence or UNSTATED,
    }


def _rubric(statement: CuratedStatement, curation: Curation) -> dict[str, object]:
    sentences = {each.sentence_id: each for each in curation.sentences}
    return {
        "statement": statement.statement,
        "type": statement.type.value,
        "axis": statement.axis.value,
        "severity": statement.severity.value,
        "sentences": [
            {"review": sentences[name].review_id, "text": sentences[name].text}
            for name in statement.sentence_ids
        ],
    }


@dataclass(frozen=True)
class CuratedSet:
    """Content of the report and the datasheet.

    Attributes:
        curations: with people's edits applied.
        agreement: of people who edited the same; empty if unknown.
    """

    head: CurationHead
    curations: tuple[Curation, ...]
    edits: tuple[CurationEdit, ...] = ()
    agreement: tuple[EditAgreement, ...] = ()

    @cached_property
    def included_papers(self) -> tuple[Curation, ...]:
        """The papers in the set."""
        return tuple(each for each in self.curations if each.dropped_reason is None)

    @cached_property
    def excluded_papers(self) -> tuple[Curation, ...]:
        """The papers that were left out."""
        return tuple(each for each in self.curations if each.dropped_reason is not None)

    @property
    def needs_wording(self) -> bool:
        """True if some ideas were worded neither by a model nor by a person."""
        edited_ids = {each.paper_id for each in self.edits}
        return self.head.engine == EXTRACTIVE.text and any(
            each.paper_id not in edited_ids for each in self.included_papers
        )

    @property
    def shares(self) -> tuple[EditShare, ...]:
        """Shares of values that people changed; empty without edits."""
        return edit_shares(self.edits) if self.edits else ()

    @property
    def editors(self) -> int:
        """The number of editors."""
        return len({each.editor for each in self.edits})

    @property
    def statement_count(self) -> int:
        """The number of statements in the set."""
        return sum(each.statement_count for each in self.included_papers)

    @property
    def gaps(self) -> list[str]:
        """Limits of the set, one sentence each."""
        lines = []
        if self.needs_wording:
            lines.append(
                "Not all of it is worded: ideas and statements that nobody looked at are sentences"
                " of papers and reviews"
            )
        papers_by_gap = {
            "without a field": [each for each in self.included_papers if not each.discipline],
            "without a day after which literature may not be cited": [
                each for each in self.included_papers if each.cutoff_date is None
            ],
            "without a licence of its texts": [
                each for each in self.included_papers if not each.licence
            ],
            "perhaps made of a later version than its reviewers had first": [
                each for each in self.included_papers if each.is_first_version is None
            ],
            "from which sentences that reveal results were removed": [
                each for each in self.included_papers if each.leak_count
            ],
        }
        lines += [
            f"{figures.plural(len(ideas), 'idea')} {what}"
            for what, ideas in papers_by_gap.items()
            if ideas
        ]
        lines.append(
            "Reviews are in their current version: a reviewer may have changed one after the"
            " authors' answer"
        )
        return lines


def datasheet(curated_set: CuratedSet) -> pg.Page:
    """Return a page on content, licences and limits of the set."""
    return pg.Page(
        pg.line("Datasheet of the set ", pg.code(curated_set.head.run_id)),
        tuple(_datasheet(curated_set)),
    )


def _datasheet(curated_set: CuratedSet) -> Iterator[pg.Block]:
    head, included_papers = curated_set.head, curated_set.included_papers
    days = sorted(each.cutoff_date for each in included_papers if each.cutoff_date is not None)
    yield pg.text(
        f"{figures.plural(len(included_papers), 'idea')} with"
        f" {figures.plural(curated_set.statement_count, 'statement')} of experts, out of"
        f" {figures.plural(head.paper_count, 'paper')} with their reviews; engine ",
        pg.code(head.engine),
        ". Each statement cites sentences that are word for word in a review.",
        f" Submitted {days[0].isoformat()} to {days[-1].isoformat()}." if days else "",
    )
    yield pg.heading("By field")
    fields = sorted({each.discipline or UNSTATED for each in included_papers})
    by_field = {
        name: [each for each in included_papers if (each.discipline or UNSTATED) == name]
        for name in fields
    }
    counts = [
        (name, len(of), sum(each.statement_count for each in of)) for name, of in by_field.items()
    ]
    yield pg.table(("Field", "Ideas:", "Statements:"), counts)
    yield from kinds_table(included_papers)
    yield pg.heading("Whose texts")
    yield pg.text(
        "Every text keeps the licence it came under; the set adds none, and nothing of it is"
        " published by making it."
    )
    sources = [
        (
            pg.code(each.paper_id),
            each.licence or UNSTATED,
            each.cutoff_date or UNSTATED,
            pg.link(each.url, each.url) if each.url else each.reviewed_at.value,
        )
        for each in included_papers
    ]
    yield pg.table(("Idea", "Licence", "Nothing later may be cited", "From"), sources)
    yield pg.heading("Left out")
    drops = Counter(
        (each.left_out_of.value, wording.reason(each.reason))
        for curation in curated_set.curations
        for each in curation.drops
    )
    papers = [
        (pg.line("the set: ", pg.code(each.paper_id)), each.dropped_detail, 1)
        for each in curated_set.excluded_papers
    ]
    parts = [(what, why, count) for (what, why), count in drops.most_common()]
    yield pg.table(("Of", "Why", "Times:"), [*papers, *parts])
    yield from changes(curated_set)
    if curated_set.shares and curated_set.agreement:
        yield from _agreement(curated_set.agreement)
    yield pg.heading("Known gaps")
    yield from pg.bullets(f"{gap}." for gap in curated_set.gaps)


def kinds_table(curations: Sequence[Curation]) -> Iterator[pg.Block]:
    """Yield a table of statements by type, axis and severity, most frequent first."""
    counts = Counter(
        f"{each.severity.value} {each.type.value} of {each.axis.value}"
        for curation in curations
        for each in curation.statements
    )
    if counts:
        yield pg.table(("Statements", ":"), counts.most_common())


def changes(curated_set: CuratedSet) -> Iterator[pg.Block]:
    """Yield the shares of values that people changed."""
    if not curated_set.shares:
        return
    yield pg.heading("What people changed")
    yield pg.text(
        f"{figures.plural(curated_set.editors, 'person', 'people')} looked at it. ScholarEval's"
        " experts edited 13.4 % of ideas and 79.1 % of lists of statements."
    )
    rows = [
        (
            each.name,
            each.looked_at_count,
            each.changed_count,
            figures.percent(each.share_0_to_1),
            None if each.published_0_to_1 is None else figures.percent(each.published_0_to_1),
        )
        for each in curated_set.shares
    ]
    yield pg.table(("Of", "Looked at:", "Changed:", "Share:", "Published:"), rows)


def _agreement(agreement: Sequence[EditAgreement]) -> Iterator[pg.Block]:
    yield pg.text(
        "Where two people looked at the same, one of them at least blind to what others made of it:"
    )
    rows = []
    for each in agreement:
        kappa = each.undefined_reason or "–" if each.kappa is None else figures.mean(each.kappa)
        interval = f"{figures.mean(each.lower)} to {figures.mean(each.upper)}"
        counts = (each.pair_count, each.equal_count)
        rows.append((each.field.value, *counts, kappa, "–" if each.lower is None else interval))
    columns = ("Field", "Looked at by two:", "Made the same of it:", "Cohen's kappa:")
    yield pg.table((*columns, "95 % interval"), rows)


def write_curated_set(path: Path, curated_set: CuratedSet) -> tuple[Path, ...]:
    """Write the ideas to `path` and `<name>.datasheet.md` next to it.

    Returns:
        Both paths.

    Raises:
        OSError: they cannot be written.
    """
    datasheet_path = path.with_name(f"{path.stem}.datasheet.md")
    replace_bytes(path, ideas_file(curated_set.curations))
    replace_bytes(datasheet_path, markdown_page(datasheet(curated_set)).encode("utf-8", "replace"))
    return path, datasheet_path
