"""The report on a draft: what it says beside what carries it, or why it was refused."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pypandoc

from dashboards.render.formats.report_format import ReportFormat
from dashboards.render.page import Page
from dashboards.render.render import rendered_page
from dashboards.render.safe_text import Markdown
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.literature.naming import MARKDOWN
from schemas.works.draft import ClaimKind, Draft, DraftClaim
from schemas.works.draft_habits import Habits, habits_of
from schemas.works.draft_run import DraftHead, outline_of, outline_text
from schemas.works.draft_venue import Venue
from warehouse.kinds.drafts import DRAFTS
from warehouse.units.reading import published_head, published_units
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from dashboards.render.drafts.draft_folder import Written


@dataclass(frozen=True)
class DraftPart:
    """One draft on the page."""

    draft: Draft

    @cached_property
    def text(self) -> Markdown:
        """The draft as plain Markdown, without its figures and its list of works."""
        tree = json.loads(pypandoc.convert_text(self.draft.markdown, "json", format=MARKDOWN))
        tree["blocks"] = [
            block for block in tree["blocks"] if block["t"] not in ("Figure", "Div", "RawBlock")
        ]
        options = ["--shift-heading-level-by=2", "--wrap=none"]
        return Markdown(
            pypandoc.convert_text(
                json.dumps(tree), "gfm-raw_html", format="json", extra_args=options
            )
        )

    def claims_of(self, *kinds: str) -> list[DraftClaim]:
        """Claims of these kinds, in the order in which they were collected."""
        return [claim for claim in self.draft.claims if claim.kind.value in kinds]

    @cached_property
    def habits(self) -> Habits:
        """What the papers nearby have in common."""
        return habits_of(self.draft.neighbours)

    @property
    def unmeasured(self) -> dict[str, int]:
        """How many papers could not be measured, by reason."""
        reasons = [row.unmeasured_reason for row in self.draft.neighbours if row.unmeasured_reason]
        return dict(Counter(reasons).most_common())

    @property
    def number_count(self) -> int:
        return len(self.claims_of(ClaimKind.NUMBER))


@dataclass(frozen=True)
class DraftPage(PublishedPage):
    """All of a published run.

    Attributes:
        venue: sets the folder of the draft; None: the neutral template.
        written: the folders written so far.
    """

    head: DraftHead
    parts: tuple[DraftPart, ...]
    venue: Venue | None = None
    written: "list[Written]" = field(default_factory=list)

    @property
    def units(self) -> tuple[Draft, ...]:
        return tuple(part.draft for part in self.parts)

    def page(self) -> Page:
        return rendered_page("draft.md.jinja", f"Draft {self.head.run_id}", page=self)

    def short_page(self) -> Page:
        return rendered_page("draft_short.md.jinja", "", page=self)

    @property
    def faults(self) -> Sequence[str]:
        return [line for each in self.written for line in each.faults]

    @property
    def notes(self) -> Sequence[str]:
        return [line for each in self.written for line in each.notes]

    def save_as(self, path: Path) -> tuple[Path, ...] | None:
        """Write the draft's folder, unless the ending is that of a report."""
        if path.suffix.removeprefix(".").lower() in list(ReportFormat):
            return None
        return self._write_drafts(path)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """As every page, and the draft's folder beside it."""
        return *super().write(folder), *self._write_drafts(folder / "draft")

    def _write_drafts(self, folder: Path) -> tuple[Path, ...]:
        """A draft that was refused has none."""
        from dashboards.render.drafts.draft_folder import write_folder  # loads much

        paths: tuple[Path, ...] = ()
        for draft in self.units:
            if draft.word_count is not None:
                outline = outline_text(outline_of(draft))
                written = write_folder(draft, self.head, outline, folder, self.venue)
                self.written.append(written)
                paths += written.paths
        return paths


def draft_page(warehouse: Warehouse, run_id: RunId) -> DraftPage:
    """A published draft. Raises UnknownNameError when it is not published."""
    with warehouse.reader() as connection:
        head = published_head(connection, DRAFTS, run_id)
        drafts = published_units(connection, DRAFTS, run_id)
        return DraftPage(head, tuple(map(DraftPart, drafts)))
