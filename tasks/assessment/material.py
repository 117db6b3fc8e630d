"""Evidence for the assessment's prompts, and estimates of its calls."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schemas.identifiers import PaperId
from schemas.judgement.assessment import AssessmentCriterion
from schemas.judgement.contribution import Comparison, Overlap, closest_first
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.novelty import ClaimedContribution, WorkOverlap
from schemas.judgement.soundness import Concern, SoundnessEvaluation
from schemas.literature.paper import Paper
from schemas.profile import AssessmentParameters
from schemas.reasons import Reason
from tasks.assessment.steps import ConcernShown, MethodShown, WorkShown
from tasks.citations.keys import Shown, show
from tasks.citations.references import rekeyed
from tasks.judging.expected import ExpectedCalls
from tasks.text.words import shorten_words

STAGE = "assessment"
# About 4,000 tokens a prompt: instructions 1,300, a plan 700, 20 concerns 800, the rest evidence.
WORKS_SHOWN = 6
METHODS_ASSESSED = 4
METHOD_WORDS = 20
EVIDENCE_WORDS = 35
WORK_WORDS = 40
WHY_WORDS = 25


@dataclass(frozen=True, slots=True)
class Material:
    """Material of an idea for all prompts of the assessment.

    Attributes:
        unknown: why related works are unknown, as (reason, text); None if works were compared.
        is_plan_unreviewed: the plan's review was requested and failed.
    """

    plan: str
    concerns: tuple[Concern, ...]
    methods: tuple[MethodShown, ...]
    unjudged_methods: int
    works: tuple[WorkShown, ...]
    prompt_papers: Shown
    unknown: tuple[Reason, str] | None
    measured: str
    is_plan_unreviewed: bool

    @property
    def unknown_in_words(self) -> str:
        return self.unknown[1] if self.unknown else ""

    @property
    def strengths(self) -> tuple[str, ...]:
        return tuple(
            self._shorten(each.point, WHY_WORDS) for each in self.concerns if each.severity is None
        )

    def concern_shown(self, concern: Concern) -> ConcernShown:
        return ConcernShown(
            key=concern.concern_id.upper(),
            point=self.keyed(concern.point),
            about=concern.quote or f"missing: {concern.omission}",
            why=self._shorten(concern.why, WHY_WORDS),
            weakened=self._shorten(concern.weakened, EVIDENCE_WORDS),
            defense=self.keyed(concern.defense),
        )

    def keyed(self, markdown: str) -> str:
        """Replace references in a settled text by keys of this material."""
        return rekeyed(markdown, self.prompt_papers, self.prompt_papers)

    def _shorten(self, markdown: str, limit: int) -> str:
        return _shorten(self.keyed(markdown), limit)


def material_of(evaluation: IdeaEvaluation) -> Material:
    """Collect the results of an idea's modules, without their scores."""
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    close = [
        (papers[paper_id], overlap, remains)
        for paper_id, overlap, remains in _closest(evaluation)
        if paper_id in papers
    ][:WORKS_SHOWN]
    cited_papers = [
        papers[row.paper_id]
        for row in evaluation.citations
        if row.module == "soundness" and row.paper_id in papers
    ]
    prompt_papers = show([*(paper for paper, _, _ in close), *cited_papers])
    soundness = evaluation.soundness
    return Material(
        plan=evaluation.idea.text,
        concerns=evaluation.concerns,
        methods=tuple(_methods(soundness, prompt_papers)) if soundness else (),
        unjudged_methods=(
            sum(review.score_0_to_10 is None for review in soundness.reviews) if soundness else 0
        ),
        works=tuple(_work(prompt_papers, *each) for each in close),
        prompt_papers=prompt_papers,
        unknown=None if close else _why_unknown(evaluation),
        measured="\n".join(result.in_words for result in evaluation.experimental_results),
        is_plan_unreviewed=(
            soundness is not None
            and soundness.plan_review is not None
            and soundness.plan_review.unscored_reason is not None
        ),
    )


def _shorten(text: str, limit: int) -> str:
    excerpt, omitted_words = shorten_words(" ".join(text.split()), limit)
    return f"{excerpt} …" if omitted_words else excerpt


def _methods(soundness: SoundnessEvaluation, prompt_papers: Shown) -> Iterator[MethodShown]:
    reviews = {review.method_id: review for review in soundness.reviews}
    for method in sorted(soundness.methods, key=lambda each: each.rank):
        review = reviews.get(method.method_id)
        if review is not None and review.score_0_to_10 is not None:
            yield MethodShown(
                method=_shorten(method.text, METHOD_WORDS),
                support=_shorten(
                    rekeyed(review.support, prompt_papers, prompt_papers), EVIDENCE_WORDS
                ),
                against=_shorten(
                    rekeyed(review.contradictions, prompt_papers, prompt_papers), EVIDENCE_WORDS
                ),
            )


def _work(prompt_papers: Shown, paper: Paper, overlap: str, remains: str) -> WorkShown:
    return WorkShown(
        key=prompt_papers.key_of(paper.paper_id),
        title=paper.title,
        year=paper.year,
        overlap=overlap,
        remains=_shorten(remains, WORK_WORDS) or "not said",
    )


def _closest(evaluation: IdeaEvaluation) -> list[tuple[PaperId, str, str]]:
    """Return (work, overlap as text, remaining novelty), closest work first."""
    if evaluation.contribution is not None:
        by_paper = _by_paper(evaluation.contribution.comparisons)
        if by_paper:
            return by_paper
    novelty = evaluation.novelty
    return _of_contributions(novelty.contributions) if novelty is not None else []


def _by_paper(comparisons: Iterable[Comparison]) -> list[tuple[PaperId, str, str]]:
    by_paper: dict[PaperId, list[Comparison]] = {}
    for each in closest_first(comparisons):
        if each.overlap is not Overlap.NOT_ADDRESSED:
            by_paper.setdefault(each.paper_id, []).append(each)
    return [
        (
            paper_id,
            "; ".join(f"{each.overlap} in {each.dimension}" for each in rows[:2]),
            rows[0].remains or rows[0].overall_comparison or rows[0].comparison,
        )
        for paper_id, rows in by_paper.items()
    ]


_DEGREES = (WorkOverlap.FULL, WorkOverlap.PARTIAL, WorkOverlap.NONE)


def _of_contributions(
    contributions: Iterable[ClaimedContribution],
) -> list[tuple[PaperId, str, str]]:
    overlaps = [
        (each.paper_id, each.overlap, each)
        for each in contributions
        if each.paper_id is not None and each.overlap is not None
    ]
    overlaps.sort(key=lambda row: _DEGREES.index(row[1]))
    by_paper = {paper_id: (overlap, each) for paper_id, overlap, each in reversed(overlaps)}
    return [
        (
            paper_id,
            f"{by_paper[paper_id][0]} in {by_paper[paper_id][1].contribution}",
            f"what it adds is {by_paper[paper_id][1].difference or 'not told'}",
        )
        for paper_id in dict.fromkeys(paper_id for paper_id, _, _ in overlaps)
    ]


def _why_unknown(evaluation: IdeaEvaluation) -> tuple[Reason, str]:
    """Return why related works are unknown.

    The field is not covered, the search failed, or nothing was found.
    """
    coverage = evaluation.coverage
    if coverage is not None and not coverage.field_covered:
        return Reason.FIELD_NOT_COVERED, coverage.field_coverage_detail
    rows = (
        *(evaluation.contribution.comparisons if evaluation.contribution else ()),
        *(evaluation.contribution.reviews if evaluation.contribution else ()),
        *((evaluation.novelty.judgement,) if evaluation.novelty else ()),
    )
    if any(row.unscored_reason is Reason.SOURCE_UNAVAILABLE for row in rows):
        return Reason.SOURCE_UNAVAILABLE, "searches for works to compare with were not answered"
    if evaluation.contribution is None and evaluation.novelty is None:
        return Reason.NO_EVIDENCE, "no works were looked for to compare the plan with"
    return Reason.NO_EVIDENCE, "no work was found that could be compared with the plan"


TOKENS_PER_WORD = 1.7
POINT_TOKENS = 75.0
"""A point in a prompt: key, tags, quote, one sentence and reason."""
QUESTION_TOKENS = 45.0
STRENGTHS = 5
BLOCK_TOKENS = 20.0
"""Tags and text around one block."""
TITLE_TOKENS = 45.0
"""Title, year, key and overlap of a work."""
WEIGHED_TOKENS = 150.0
"""One concern in a reply: at most 72 words and a quote, with field names."""
DEFENDED_TOKENS = 65.0
CRITERION_TOKENS = 85.0
VENUE_TOKENS = 40.0


def expected_assessment(
    parameters: AssessmentParameters,
    *,
    concerns: int,
    questions: int,
    methods: int,
    compared: bool,
) -> dict[str, ExpectedCalls]:
    """Return the expected calls for one idea, by step.

    Args:
        concerns: number of points in the plan's review, strengths included.
        methods: number of methods reviewed against the literature.
        compared: whether works are compared with the idea.
    """
    of_method = (METHOD_WORDS + 2 * EVIDENCE_WORDS) * TOKENS_PER_WORD + 3 * BLOCK_TOKENS
    works = WORKS_SHOWN * (TITLE_TOKENS + WORK_WORDS * TOKENS_PER_WORD) if compared else 0.0
    decisive = parameters.maximum_concerns
    repetitions = parameters.repetitions
    strengths = STRENGTHS * WHY_WORDS * TOKENS_PER_WORD if concerns else 0.0
    data_tokens = (
        decisive * (POINT_TOKENS + DEFENDED_TOKENS)
        + strengths
        + min(methods, METHODS_ASSESSED) * of_method
        + works
    )
    return {
        "weigh_concerns": ExpectedCalls(
            1.0,
            concerns * POINT_TOKENS + questions * QUESTION_TOKENS + methods * of_method + works,
            decisive * WEIGHED_TOKENS,
        ),
        "challenge_concerns": ExpectedCalls(
            1.0, decisive * POINT_TOKENS + works, decisive * DEFENDED_TOKENS
        ),
        "assess_plan": ExpectedCalls(
            float(repetitions),
            repetitions * data_tokens,
            repetitions * (len(AssessmentCriterion) * CRITERION_TOKENS + VENUE_TOKENS),
            shared_tokens=data_tokens,
            first_calls=1.0,
        ),
    }
