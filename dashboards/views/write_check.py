"""Report on a check of manuscripts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboards.render import page as pg
from dashboards.views.check_blocks import check_blocks, short_blocks
from dashboards.views.check_findings import CheckFindings
from dashboards.views.idea.preferences import write_preferences
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.works.check_run import CHECKS
from schemas.works.manuscripts import ManuscriptCheck
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class CheckPage(CheckFindings, PublishedPage):
    """The report on a check."""

    @property
    def units(self) -> tuple[ManuscriptCheck, ...]:
        """Every manuscript with all problems, refuted ones included."""
        return self.checks

    def json_fields(self) -> dict[str, Any]:
        return {"scores": self.scores}

    def page(self) -> pg.Page:
        title = f"Check {self.head.run_id}"
        return pg.Page(pg.line(title), tuple(check_blocks(self)), title)

    def short_page(self) -> pg.Page:
        return pg.Page((), tuple(short_blocks(self)))

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the report; for a review also the preferences file."""
        paths = super().write(folder)
        if not self.head.review:
            return paths
        return *paths, write_preferences(folder, self.head, self.checks)


def check_page(warehouse: Warehouse, run_id: RunId) -> CheckPage:
    """Return a published check; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(CHECKS), run_id)
        return CheckPage(head, published_units(connection, kind_of(CHECKS), run_id))
