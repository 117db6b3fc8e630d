"""The report on surveys: clusters, key papers with quotes, a map, every paper with why it is there,
what could not be had; and the papers as a `.bib` file.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from dashboards.render import figures, wording
from dashboards.render.charts.bar_chart import BarChart, Measured, bar_chart, scale_to
from dashboards.render.charts.citation_map import CitationMap, citation_map
from dashboards.render.formats.bib_file import bib_file
from dashboards.render.html_page import html_page, picture
from dashboards.render.papers import paper_link
from dashboards.render.render import rendered
from dashboards.render.safe_text import Markdown, plain
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.literature.naming import bib_keys
from schemas.literature.paper import Paper, SectionKind
from schemas.literature.survey import Edge, End, Survey, SurveyPaper, SurveyQuote, heaviest
from schemas.literature.survey_review import (
    COMPARED,
    RemovedSentence,
    ReviewPart,
    SurveySection,
    WhyRemoved,
    Written,
)
from schemas.literature.survey_run import SurveyHead
from warehouse.kinds.surveys import SURVEYS
from warehouse.units.reading import published_head, published_units
from warehouse.warehouse import Warehouse

_ENDS = {
    End.DEPTH: "ended at its depth",
    End.PAPERS: "ended when all papers that may be judged were",
    End.SATURATED: "ended when a layer brought next to nothing",
    End.NOTHING_LEFT: "ended when nothing relevant was left to follow",
    End.BUDGET: "ended when its budget was spent",
}

_REMOVED = {
    WhyRemoved.UNCITED: "cites nothing",
    WhyRemoved.UNSUPPORTED: "not carried by what was read of the works it cites",
    WhyRemoved.ONE_SIDED: "a contradiction that cites fewer than two works",
}


class Pictures(StrEnum):
    """How a page shows its drawings."""

    DRAWN = "drawn"
    FILES = "files"


MOST_COMPARED = 12
FEWEST_COMPARED = 3
"""Of five aspects, so that a work has a line in the comparison."""


@dataclass(frozen=True)
class SurveyPart:
    """One question on the page."""

    survey: Survey

    @cached_property
    def _texts(self) -> dict[str, Paper]:
        return {paper.paper_id: paper.text for paper in self.survey.papers}

    @cached_property
    def kept(self) -> tuple[SurveyPaper, ...]:
        """Its papers, heaviest first."""
        return heaviest(self.survey.papers)

    @property
    def verdict(self) -> str:
        """How much there is, in a sentence."""
        survey = self.survey
        judged = figures.counted(survey.judged_count, "paper")
        kept = figures.counted(survey.kept_count or 0, "paper")
        clusters = figures.counted(len(survey.clusters), "cluster")
        end = _ENDS[survey.end] if survey.end is not None else "not begun"
        return f"{kept} kept of {judged} judged, in {clusters}; {end}."

    @property
    def answer(self) -> SurveySection | None:
        """The answer to the question; None: none was written."""
        return self._part(ReviewPart.ANSWER)

    @property
    def not_found(self) -> SurveySection | None:
        """Parts of the question that nothing answers."""
        return self._part(ReviewPart.NOT_FOUND)

    @property
    def summary(self) -> SurveySection | None:
        """The review in short; None: none was written."""
        return self._part(ReviewPart.SUMMARY)

    def _part(self, wanted: ReviewPart) -> SurveySection | None:
        return next((each for each in self.survey.sections if each.part is wanted), None)

    @property
    def nothing_kept(self) -> str:
        """What a survey without a paper says: nothing is there, or nobody can know."""
        lost = self.survey.not_looked_count
        if not lost:
            return (
                "Nothing relevant was found: the searches were answered, and no paper they gave is"
                " relevant."
            )
        look_ups = figures.counted(lost, "search or paper", "searches or papers")
        return f"Nothing can be said: {look_ups} could not be looked at."

    @property
    def read(self) -> list[str]:
        """The papers of which passages were read, in the order in which they were."""
        said = (quote.paper_id for quote in self.survey.quotes if quote.aspect is not None)
        return list(dict.fromkeys(map(str, said)))

    def text(self, paper_id: str) -> Paper:
        return self._texts[paper_id]

    def link(self, paper_id: str) -> Markdown:
        return paper_link(self._texts[paper_id])

    def quotes(self, paper_id: str) -> Sequence[SurveyQuote]:
        return [quote for quote in self.survey.quotes if quote.paper_id == paper_id]

    def more_quotes(self, paper_id: str) -> Sequence[SurveyQuote]:
        """Those that do not stand in the comparison."""
        compared = dict(self.compared).get(paper_id, ())
        return [quote for quote in self.quotes(paper_id) if quote.quote not in compared]

    def stands_in(self, quote: SurveyQuote) -> str:
        """Where in its own paper a passage stands, and what it says of the work."""
        where = quote.section or SectionKind.ABSTRACT
        aspect = f", {quote.aspect}" if quote.aspect is not None else ""
        return f"its {str(where).replace('_', ' ')}{aspect}"

    @property
    def review_verdict(self) -> str:
        """What the review rests on and how it was checked, in a sentence."""
        sections = self.survey.sections
        checked = sum(section.checked_sentence_count or 0 for section in sections)
        corrected = sum(section.corrected_sentence_count or 0 for section in sections)
        invented = sum(section.removed_citation_count for section in sections)
        read = figures.counted(self.survey.read_count, "paper")
        below = " (shown below)" if self.survey.removed else ""
        return (
            f"From {read} read, {self.survey.full_text_count:,} of them in more than the abstract."
            f" {figures.counted(checked, 'cited sentence')} held against what was read:"
            f" {corrected:,} corrected, {len(self.survey.removed):,} taken out{below};"
            f" {figures.counted(invented, 'citation')} that named nothing shown removed."
        )

    @cached_property
    def compared(self) -> list[tuple[str, list[str]]]:
        """The heaviest works whose texts speak of enough to compare, with a passage for each
        aspect.
        """
        found = []
        for paper in self.kept:
            said = {quote.aspect: quote.quote for quote in self.quotes(paper.paper_id)}
            cells = [said.get(aspect, "") for aspect in COMPARED]
            if sum(map(bool, cells)) >= FEWEST_COMPARED:
                found.append((str(paper.paper_id), cells))
        return found[:MOST_COMPARED]

    def heading(self, section_id: str) -> str:
        """Of a section."""
        return next(
            section.heading for section in self.survey.sections if section.section_id == section_id
        )

    def why_removed(self, sentence: RemovedSentence) -> str:
        """Why it was taken out, in words."""
        return _REMOVED[sentence.why]

    def why(self, paper: SurveyPaper) -> Markdown:
        """By which edge it was reached."""
        if paper.edge is Edge.SEARCH:
            return plain(f"search: {paper.reached_from}")
        verb = "cited by" if paper.edge is Edge.REFERENCE else "cites"
        other = self._texts.get(paper.reached_from)
        return Markdown(f"{verb} {paper_link(other) if other else 'a relevant paper'}")

    @property
    def failures(self) -> list[tuple[str, int]]:
        """What failed, each once with how often."""
        told = Counter(
            f"{wording.reason(failure.reason)}: {failure.detail}"
            for failure in self.survey.failures
            if not failure.is_left_out
        )
        return list(told.items())

    @property
    def left_out(self) -> list[str]:
        """Papers that were found and counted for nothing."""
        return [failure.detail for failure in self.survey.failures if failure.is_left_out]

    def years(self, number: int) -> BarChart | None:
        """Kept papers by year, or by as many years as fit."""
        years = [year for paper in self.kept if (year := self.text(paper.paper_id).year)]
        if not years:
            return None
        span = max(1, -(-(max(years) - min(years) + 1) // 20))
        start = min(years)
        counted = Counter((year - start) // span for year in years)
        bins = range((max(years) - start) // span + 1)
        values = [
            Measured(_bin(start + span * each, span), float(counted[each]), str(counted[each]))
            for each in bins
        ]
        scale = scale_to(float(max(counted.values())), "Papers kept")
        return bar_chart(number, "Papers kept by year", "Oldest first.", scale, values)


def _bin(first: int, span: int) -> str:
    return str(first) if span == 1 else f"{first} to {first + span - 1}"


@dataclass(frozen=True)
class SurveyPage(PublishedPage):
    """What the report shows."""

    head: SurveyHead
    parts: tuple[SurveyPart, ...]

    @property
    def units(self) -> tuple[Survey, ...]:
        return tuple(part.survey for part in self.parts)

    @property
    def _is_answer(self) -> bool:
        return self.head.written is Written.ANSWER

    def markdown(self) -> str:
        return self._rendered(None)

    def short(self) -> str:
        """An answer whole; of a survey the clusters with their key papers."""
        if self._is_answer:
            return self.markdown()
        return rendered("survey_short.md.jinja", page=self)

    def _rendered(self, pictures: Pictures | None) -> str:
        banners = wording.banners(self.head.engine, self.head.literature)
        template = "answer.md.jinja" if self._is_answer else "survey.md.jinja"
        return rendered(template, page=self, banners=banners, pictures=pictures)

    def html(self) -> str:
        return html_page(
            self._rendered(Pictures.DRAWN),
            title=f"{'Answer' if self._is_answer else 'Survey'} {self.head.run_id}",
            maps=self.maps,
            bars=self.years,
        )

    def bib(self) -> str:
        """The papers kept."""
        return bib_file(self.papers)

    def files(self) -> dict[str, str]:
        shown = self._rendered(Pictures.FILES)
        return {"index.html": self.html(), "index.md": shown, "papers.bib": self.bib()}

    def pictures(self) -> dict[str, str]:
        maps = {f"map-{number}.svg": picture("map", drawn) for number, drawn in self.maps.items()}
        years = {
            f"years-{number}.svg": picture("bars", drawn) for number, drawn in self.years.items()
        }
        return maps | years

    @cached_property
    def papers(self) -> tuple[Paper, ...]:
        """All that are kept, each once."""
        kept = {
            paper.paper_id: part.text(paper.paper_id) for part in self.parts for paper in part.kept
        }
        return tuple(kept.values())

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each paper's entry in the `.bib` file."""
        return {
            paper.paper_id: key
            for paper, key in zip(self.papers, bib_keys(self.papers), strict=True)
        }

    @cached_property
    def maps(self) -> dict[int, CitationMap]:
        """Of the parts, counted from 1, that can be drawn."""
        drawn = {
            number: citation_map(
                number,
                part.kept,
                [paper.text for paper in part.survey.papers],
                part.survey.clusters,
                part.survey.links,
            )
            for number, part in enumerate(self.parts, start=1)
        }
        return {number: each for number, each in drawn.items() if each is not None}

    @cached_property
    def years(self) -> dict[int, BarChart]:
        """Of the parts, counted from 1, of which years are known."""
        drawn = {number: part.years(number) for number, part in enumerate(self.parts, start=1)}
        return {number: each for number, each in drawn.items() if each is not None}


def survey_page(warehouse: Warehouse, run_id: RunId) -> SurveyPage:
    """All of a published survey. Raises UnknownNameError when it is not published."""
    with warehouse.reader() as connection:
        head = published_head(connection, SURVEYS, run_id)
        found = published_units(connection, SURVEYS, run_id)
        return SurveyPage(head, tuple(map(SurveyPart, found)))
