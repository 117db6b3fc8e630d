"""Report on a draft: text, outline and sources, or why it was refused."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pypandoc

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.formats.markdown_blocks import read_blocks
from dashboards.render.formats.report_format import ReportFormat
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.literature.naming import MARKDOWN
from schemas.works.draft import ClaimKind, Draft, DraftClaim
from schemas.works.draft_neighbour import habits_of
from schemas.works.draft_run import DRAFTS, DraftHead, outline_of, outline_text
from schemas.works.draft_venue import Venue
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from dashboards.render.drafts.draft_folder import DraftFiles


@dataclass(frozen=True)
class DraftPage(PublishedPage):
    """The report on published drafts.

    Attributes:
        venue: template of the draft's folder; None: the neutral one.
        folders: the folders written so far.
    """

    head: DraftHead
    drafts: tuple[Draft, ...]
    venue: Venue | None = None
    folders: "list[DraftFiles]" = field(default_factory=list)

    @property
    def units(self) -> tuple[Draft, ...]:
        return self.drafts

    def page(self) -> pg.Page:
        head, title = self.head, figures.plural(len(self.drafts), "draft")
        evaluation = pg.line("evaluated as ", pg.code(head.idea_run_id)) if head.idea_run_id else ""
        second_round: pg.Line = ()
        if head.revises:
            review = pg.code(head.review_run_id or "")
            second_round = pg.line(
                "second round of ", pg.code(head.revises), " after the review ", review
            )
        facts = pg.facts(
            pg.code(head.run_id),
            pg.line("engine ", pg.code(head.engine)),
            evaluation,
            *map(pg.code, head.experiment_run_ids),
            pg.code(head.survey_run_id) if head.survey_run_id else "",
            second_round,
        )
        blocks = (facts, *(block for draft in self.drafts for block in _draft(draft)))
        return pg.Page(pg.line(title), blocks, f"Draft {head.run_id}")

    def short_page(self) -> pg.Page:
        return pg.Page((), tuple(pg.text(_in_short(draft)) for draft in self.drafts))

    def drawings(self) -> dict[str, str]:
        pictures = (each for draft in self.drafts for each in draft.figures if each.svg)
        of_drafts = {f"draft/figures/{each.figure_id}.svg": each.svg for each in pictures}
        return super().drawings() | of_drafts

    @property
    def faults(self) -> Sequence[str]:
        return [line for each in self.folders for line in each.faults]

    @property
    def notes(self) -> Sequence[str]:
        return [line for each in self.folders for line in each.notes]

    def save_as(self, path: Path) -> tuple[Path, ...] | None:
        """Write the draft's folder, unless the extension is that of a report."""
        if path.suffix.removeprefix(".").lower() in list(ReportFormat):
            return None
        return self._write_drafts(path)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the report, and the draft's folder next to it."""
        return *super().write(folder), *self._write_drafts(folder / "draft")

    def _write_drafts(self, folder: Path) -> tuple[Path, ...]:
        """Write the folders of drafts that were not refused."""
        from dashboards.render.drafts.draft_folder import (
            write_folder,
        )  # late: it loads large libraries

        paths: tuple[Path, ...] = ()
        for draft in self.units:
            if draft.word_count is not None:
                outline = outline_text(outline_of(draft))
                files = write_folder(draft, self.head, outline, folder, self.venue)
                self.folders.append(files)
                paths += files.paths
        return paths


def _claims(draft: Draft, kind: ClaimKind) -> list[DraftClaim]:
    return [claim for claim in draft.claims if claim.kind is kind]


def _text(draft: Draft) -> tuple[pg.Block, ...]:
    """Return the draft without its figures and its bibliography."""
    tree = json.loads(pypandoc.convert_text(draft.markdown, "json", format=MARKDOWN))
    tree["blocks"] = [
        block for block in tree["blocks"] if block["t"] not in ("Figure", "Div", "RawBlock")
    ]
    options = ["--shift-heading-level-by=2", "--wrap=none"]
    return read_blocks(
        pypandoc.convert_text(json.dumps(tree), "gfm-raw_html", format="json", extra_args=options)
    )


def _in_short(draft: Draft) -> str:
    count_noun = figures.plural
    if draft.unscored_reason is not None:
        reason, reasons = wording.reason(draft.unscored_reason), len(draft.failures)
        return f"There is no draft: {reason}; {count_noun(reasons, 'reason')}."
    return (
        f"{draft.form.value.capitalize()} of {count_noun(draft.word_count or 0, 'word')}:"
        f" {count_noun(len(_claims(draft, ClaimKind.NUMBER)), 'number')} of the lake, {count_noun(len(draft.works), 'work')},"
        f" {count_noun(len(draft.figures), 'figure')}, {count_noun(len(_claims(draft, ClaimKind.GAP)), 'gap')}."
    )


def _draft(draft: Draft) -> Iterator[pg.Block]:
    number_claims = _claims(draft, ClaimKind.NUMBER)
    yield pg.heading(draft.title)
    yield pg.text(f"{draft.form.value.capitalize()} of the idea ", pg.code(draft.draft_id))
    if draft.unscored_reason is not None:
        reason = wording.reason(draft.unscored_reason)
        yield pg.note(f"There is no draft: {reason}. Nothing was compiled.")
    else:
        yield pg.note(
            f"Every number is one of {figures.plural(len(number_claims), 'figure')} of the lake, and"
            " every work is cited for words of its own. What is said of the idea is the idea's."
        )
    if draft.failures:
        failure_rows = [(failure.subject, failure.detail) for failure in draft.failures]
        yield pg.table(("Under", "What was not carried, or failed"), failure_rows)
    yield from _text(draft)
    yield pg.heading("The outline", level=3)
    section_rows = [
        (one.heading, one.planned_words, one.style, one.planned_from) for one in draft.sections
    ]
    yield pg.table(("Section", "Words planned:", "Style", "Where that is from"), section_rows)
    yield from _nearby(draft)
    yield pg.heading("What it rests on", level=3)
    numbers = [(one.shown, one.means, pg.code(one.query)) for one in number_claims]
    yield pg.table(("Figure:", "What it is", "Where it is from"), numbers)
    if gaps := _claims(draft, ClaimKind.GAP):
        yield pg.table(("To be shown",), [(claim.shown,) for claim in gaps])
    if draft.figures:
        figure_rows = [
            (
                each.figure_id,
                pg.code(each.query) if each.query else each.made or "boxes and arrows",
                "; ".join(each.mended),
                each.seen_by or "no model",
            )
            for each in draft.figures
        ]
        columns = ("Picture", "What it is drawn from", "Mended by rule", "Seen by")
        yield pg.table(columns, figure_rows)
    if draft.works:
        works = [
            (pg.code(each.cite_key), f"{each.title} ({each.year})" if each.year else each.title)
            for each in draft.works
        ]
        yield pg.table(("Cited as", "Work"), works)


def _nearby(draft: Draft) -> Iterator[pg.Block]:
    habits, measure, percent = habits_of(draft.neighbours), figures.measure, figures.percent
    if habits.looked_up:
        unmeasured_reasons = Counter(
            each.unmeasured_reason for each in draft.neighbours if each.unmeasured_reason
        ).most_common()
        whys = [
            f"{count:,} others {wording.reason(reason)}" for reason, count in unmeasured_reasons
        ]
        others_text = f"; of {', of '.join(whys)}" if whys else ""
        papers = figures.plural(habits.looked_up, "paper")
        yield pg.text(f"{habits.measured:,} of {papers} nearby could be measured{others_text}.")
    rows = [
        (
            *(each.part.value.replace("_", " "), each.papers, measure(each.words)),
            *(percent(each.share), percent(each.place_0_to_1), measure(each.citations)),
            f"{measure(each.figures)}, {measure(each.diagrams)}",
            *(measure(each.tables), percent(each.past_share), percent(each.first_person_share)),
        )
        for each in habits.by_part.values()
    ]
    if rows:
        columns = ("Section of papers nearby", "Papers:", "Words, median:", "Share of a paper:")
        more = ("Middle of it stands at:", "Works cited:", "Figures, of them drawings:", "Tables:")
        yield pg.table((*columns, *more, "Past tense:", "First person:"), rows)


def draft_page(warehouse: Warehouse, run_id: RunId) -> DraftPage:
    """Return a published draft; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(DRAFTS), run_id)
        drafts = published_units(connection, kind_of(DRAFTS), run_id)
        return DraftPage(head, drafts)
