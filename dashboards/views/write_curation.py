"""The report on a curated set: each idea with its statements and the sentences they rest on, what
was left out and why.
"""

from pathlib import Path
from typing import Any

from dashboards.render import wording
from dashboards.render.html_page import html_page
from dashboards.render.render import rendered
from dashboards.views.curated_set import CuratedSet, write_curated_set
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.works.curation import Curation
from warehouse.kinds.curations.edits import edited, edits_of
from warehouse.kinds.curations.landing import CURATIONS
from warehouse.units.reading import published_head, published_units
from warehouse.warehouse import Warehouse

IDEAS = "ideas.jsonl"


class CurationPage(CuratedSet, PublishedPage):
    """The report on a curated set."""

    @property
    def units(self) -> tuple[Curation, ...]:
        return self.curations

    def markdown(self) -> str:
        banners = wording.banners(self.head.engine, "")
        return rendered("curation.md.jinja", page=self, banners=banners)

    def html(self) -> str:
        return html_page(self.markdown(), title=f"Curation {self.head.run_id}")

    def beside(self) -> dict[str, Any]:
        return {"agreement": self.agreement}

    def short(self) -> str:
        return rendered("curation_short.md.jinja", page=self)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """As every page, and `ideas.jsonl` with its datasheet."""
        return *super().write(folder), *write_curated_set(folder / IDEAS, self)


def curation_page(warehouse: Warehouse, run_id: RunId) -> CurationPage:
    """All of a published run, as people have edited it.

    Raises UnknownNameError when it is not published.
    """
    with warehouse.reader() as connection:
        edits = edits_of(connection, run_id)
        found = (edited(each, edits) for each in published_units(connection, CURATIONS, run_id))
        head = published_head(connection, CURATIONS, run_id)
        return CurationPage(head, tuple(found), edits)
