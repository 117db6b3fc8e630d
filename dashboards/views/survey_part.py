"""What a report says of one question: its papers, passages, drawings, and what could not be had."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboards.render import figures, wording
from dashboards.render.charts.bar_chart import Measured, bar_chart, scale_to
from dashboards.render.charts.citation_map import citation_map
from dashboards.render.page import Figure, Line, Span, line
from dashboards.render.papers import cited
from schemas.literature.paper import Paper
from schemas.literature.survey import Edge, End, Survey, SurveyPaper, SurveyQuote, heaviest
from schemas.literature.survey_review import (
    COMPARED,
    ReviewPart,
    SurveySection,
)

_ENDS = {
    End.DEPTH: "ended at the depth asked for",
    End.PAPERS: "ended when all papers that may be judged were",
    End.SATURATED: "ended when a layer brought next to nothing",
    End.NOTHING_LEFT: "ended when nothing relevant was left to follow",
    End.BUDGET: "ended when its budget was spent",
}

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

    def text(self, paper_id: str) -> Paper:
        return self._texts[paper_id]

    def link(self, paper_id: str) -> Span:
        return cited(self._texts[paper_id])

    def quotes(self, paper_id: str) -> Sequence[SurveyQuote]:
        return [quote for quote in self.survey.quotes if quote.paper_id == paper_id]

    @property
    def review_verdict(self) -> str:
        """What the review rests on and how it was checked, in a sentence."""
        sections = self.survey.sections
        checked = sum(section.checked_sentence_count or 0 for section in sections)
        corrected = sum(section.corrected_sentence_count or 0 for section in sections)
        undecided = sum(section.undecided_sentence_count or 0 for section in sections)
        invented = sum(section.removed_citation_count for section in sections)
        read = figures.counted(self.survey.read_count, "paper")
        below = " (shown below)" if self.survey.removed else ""
        return (
            f"From {read} read, {self.survey.full_text_count:,} of them in more than the abstract."
            f" {figures.counted(checked, 'cited sentence')} held against what was read:"
            f" {corrected:,} corrected, {len(self.survey.removed):,} taken out{below},"
            f" {undecided:,} that it does not decide;"
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

    def why(self, paper: SurveyPaper) -> Line:
        """By which edge it was reached."""
        if paper.edge is Edge.SEARCH:
            return line(f"search: {paper.reached_from}")
        verb = "cited by " if paper.edge is Edge.REFERENCE else "cites "
        other = self._texts.get(paper.reached_from)
        return line(verb, cited(other) if other else "a relevant paper")

    def map(self, number: int) -> Figure | None:
        """Who cites whom over the years, where years are known."""
        survey = self.survey
        texts = [paper.text for paper in survey.papers]
        return citation_map(f"map-{number}", self.kept, texts, survey.clusters, survey.links)

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

    def years(self, number: int) -> Figure | None:
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
        scale = scale_to(float(max(counted.values())), "Papers kept", whole=True)
        return bar_chart(f"years-{number}", "Papers kept by year", "Oldest first.", scale, values)


def _bin(first: int, span: int) -> str:
    return str(first) if span == 1 else f"{first} to {first + span - 1}"
