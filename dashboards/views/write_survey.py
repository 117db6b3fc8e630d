"""Report on surveys: clusters, key papers, map, and `papers.bib`."""

from dataclasses import dataclass
from functools import cached_property

from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.formats.bib_file import bib_file
from dashboards.views.published_page import PublishedPage
from dashboards.views.survey_blocks import answer_blocks, short_blocks, survey_blocks
from dashboards.views.survey_part import SurveyPart
from schemas.identifiers import RunId
from schemas.literature.naming import bib_keys
from schemas.literature.paper import Paper
from schemas.literature.survey import Survey
from schemas.literature.survey_review import Written
from schemas.works.survey_run import SURVEYS, SurveyHead
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class SurveyPage(PublishedPage):
    """The report on surveys."""

    head: SurveyHead
    parts: tuple[SurveyPart, ...]

    @property
    def units(self) -> tuple[Survey, ...]:
        return tuple(part.survey for part in self.parts)

    @property
    def _is_answer(self) -> bool:
        return self.head.written is Written.ANSWER

    def page(self) -> pg.Page:
        head, parts = self.head, self.parts
        if not self._is_answer:
            title = f"Survey of {figures.plural(head.question_count, 'question')}"
            if len(parts) == 1:
                title = f"Survey: {parts[0].survey.question}"
            content = tuple(survey_blocks(head, parts, self.keys))
            return pg.Page(pg.line(title), content, f"Survey {head.run_id}")
        blocks: list[pg.Block] = []
        for part in parts:
            question = pg.heading(part.survey.question, level=1)
            blocks += [question, *answer_blocks(head, part, self.keys)]
        first = parts[0].survey.question
        return pg.Page(pg.line(first), tuple(blocks[1:]), f"Answer {head.run_id}")

    def short_page(self) -> pg.Page:
        """Return a whole answer; of a survey, clusters with key papers."""
        return self.page() if self._is_answer else pg.Page((), tuple(short_blocks(self.parts)))

    def bib(self) -> str:
        """Return the kept papers."""
        return bib_file(self.papers)

    def files(self, page: pg.Page) -> dict[str, str]:
        return super().files(page) | {"papers.bib": self.bib()}

    @cached_property
    def papers(self) -> tuple[Paper, ...]:
        """The kept papers, each once."""
        papers_by_id = {
            paper.paper_id: part.text(paper.paper_id)
            for part in self.parts
            for paper in part.kept_papers
        }
        return tuple(papers_by_id.values())

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each paper in the `.bib` file."""
        return {
            paper.paper_id: key
            for paper, key in zip(self.papers, bib_keys(self.papers), strict=True)
        }


def survey_page(warehouse: Warehouse, run_id: RunId) -> SurveyPage:
    """Return a published survey; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(SURVEYS), run_id)
        surveys = published_units(connection, kind_of(SURVEYS), run_id)
        return SurveyPage(head, tuple(map(SurveyPart, surveys)))
