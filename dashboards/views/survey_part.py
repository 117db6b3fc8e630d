"""Values of a survey's report on one question."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboards.render import figures, wording
from dashboards.render.charts.citation_map import citation_map
from dashboards.render.charts.row_charts import Bar, bar_chart, scale_to
from dashboards.render.page import Figure, Line, Span, line
from dashboards.render.papers import citation
from schemas.literature.paper import Paper
from schemas.literature.survey import Edge, End, Survey, SurveyPaper, SurveyQuote, heaviest
from schemas.literature.survey_review import COMPARED, ReviewPart, SurveySection

_ENDS = {
    End.DEPTH: "ended at the depth asked for",
    End.PAPERS: "ended when all papers that may be judged were",
    End.SATURATED: "ended when a layer brought next to nothing",
    End.NOTHING_LEFT: "ended when nothing relevant was left to follow",
    End.BUDGET: "ended when its budget was spent",
}

MOST_COMPARED = 12
# Of five aspects, so that a work is worth a line in the comparison.
FEWEST_COMPARED = 3


@dataclass(frozen=True)
class SurveyPart:
    """One question of a survey."""

    survey: Survey

    @cached_property
    def _texts(self) -> dict[str, Paper]:
        return {paper.paper_id: paper.text for paper in self.survey.papers}

    @cached_property
    def kept_papers(self) -> tuple[SurveyPaper, ...]:
        """The papers, heaviest first."""
        return heaviest(self.survey.papers)

    @property
    def verdict(self) -> str:
        """Counts of papers and clusters, and why the search ended."""
        survey = self.survey
        judged_papers = figures.plural(survey.judged_count, "paper")
        papers = figures.plural(survey.kept_count or 0, "paper")
        clusters = figures.plural(len(survey.clusters), "cluster")
        end = _ENDS[survey.end] if survey.end is not None else "not begun"
        return f"{papers} kept of {judged_papers} judged, in {clusters}; {end}."

    @property
    def answer(self) -> SurveySection | None:
        """The answer to the question; None: none was written."""
        return self._part(ReviewPart.ANSWER)

    @property
    def not_found(self) -> SurveySection | None:
        """Parts of the question that no paper answers."""
        return self._part(ReviewPart.NOT_FOUND)

    @property
    def summary(self) -> SurveySection | None:
        """The review's summary; None: none was written."""
        return self._part(ReviewPart.SUMMARY)

    def _part(self, part: ReviewPart) -> SurveySection | None:
        return next((each for each in self.survey.sections if each.part is part), None)

    def text(self, paper_id: str) -> Paper:
        return self._texts[paper_id]

    def link(self, paper_id: str) -> Span:
        return citation(self._texts[paper_id])

    def quotes(self, paper_id: str) -> Sequence[SurveyQuote]:
        return [quote for quote in self.survey.quotes if quote.paper_id == paper_id]

    @property
    def review_verdict(self) -> str:
        """Sentence on the papers behind the review, and on its check."""
        sections = self.survey.sections
        checked_count = sum(section.checked_sentence_count or 0 for section in sections)
        corrected_count = sum(section.corrected_sentence_count or 0 for section in sections)
        undecided_count = sum(section.undecided_sentence_count or 0 for section in sections)
        invented_count = sum(section.removed_citation_count for section in sections)
        papers_read = figures.plural(self.survey.read_count, "paper")
        below_note = " (shown below)" if self.survey.removed else ""
        return (
            f"From {papers_read} read, {self.survey.full_text_count:,} of them in more than the abstract."
            f" {figures.plural(checked_count, 'cited sentence')} held against what was read:"
            f" {corrected_count:,} corrected, {len(self.survey.removed):,} taken out{below_note},"
            f" {undecided_count:,} that it does not decide;"
            f" {figures.plural(invented_count, 'citation')} that named nothing shown removed."
        )

    @cached_property
    def comparison(self) -> list[tuple[str, list[str]]]:
        """The heaviest works with quotes for enough aspects, with those quotes."""
        rows = []
        for paper in self.kept_papers:
            quote_of = {quote.aspect: quote.quote for quote in self.quotes(paper.paper_id)}
            cells = [quote_of.get(aspect, "") for aspect in COMPARED]
            if sum(map(bool, cells)) >= FEWEST_COMPARED:
                rows.append((str(paper.paper_id), cells))
        return rows[:MOST_COMPARED]

    def why(self, paper: SurveyPaper) -> Line:
        """Return the edge by which a paper was reached."""
        if paper.edge is Edge.SEARCH:
            return line(f"search: {paper.reached_from}")
        verb = "cited by " if paper.edge is Edge.REFERENCE else "cites "
        other = self._texts.get(paper.reached_from)
        return line(verb, citation(other) if other else "a relevant paper")

    def map(self, number: int) -> Figure | None:
        """Return the citation map, if years are known."""
        survey = self.survey
        texts = [paper.text for paper in survey.papers]
        return citation_map(f"map-{number}", self.kept_papers, texts, survey.clusters, survey.links)

    @property
    def failures(self) -> list[tuple[str, int]]:
        """Failures, each once with its count."""
        counts = Counter(
            f"{wording.reason(failure.reason)}: {failure.detail}"
            for failure in self.survey.failures
            if not failure.is_left_out
        )
        return list(counts.items())

    @property
    def left_out(self) -> list[str]:
        """Papers that were found but not used."""
        return [failure.detail for failure in self.survey.failures if failure.is_left_out]

    def years(self, number: int) -> Figure | None:
        """Chart the papers by year, in bins of years if there are many."""
        years = [year for paper in self.kept_papers if (year := self.text(paper.paper_id).year)]
        if not years:
            return None
        span = max(1, -(-(max(years) - min(years) + 1) // 20))
        start = min(years)
        paper_counts = Counter((year - start) // span for year in years)
        bins = range((max(years) - start) // span + 1)
        values = [
            Bar(_bin(start + span * each, span), float(paper_counts[each]), str(paper_counts[each]))
            for each in bins
        ]
        scale = scale_to(float(max(paper_counts.values())), "Papers kept", whole=True)
        return bar_chart(f"years-{number}", "Papers kept by year", "Oldest first.", scale, values)


def _bin(first: int, span: int) -> str:
    return str(first) if span == 1 else f"{first} to {first + span - 1}"
