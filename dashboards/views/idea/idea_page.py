"""What the report on one idea shows, put together from the warehouse's answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.page import Line, line
from dashboards.render.papers import cited, in_reading_order, reference
from dashboards.render.wording import baseline_mark, score_in_words, unscored
from dashboards.views.idea.closest_work import ClosestWork, closest_works, own_works
from dashboards.views.idea.committee_part import CommitteePart, committee_part, other_sources
from dashboards.views.idea.first_page import FirstPage, first_page
from dashboards.views.idea.gaps import Gap, Shortening, gaps_of, provenances, shortenings_of
from dashboards.views.idea.judges_part import JudgedStep, judged_steps, score_of_judges
from dashboards.views.idea.plan_part import PlanPart, plan_part
from dashboards.views.idea.tried_part import TriedPart
from schemas.identifiers import PaperId
from schemas.judgement.contribution import Comparison, ContributionReview, Dimension
from schemas.judgement.soundness import Method, MethodEvidence, SoundnessReview
from schemas.judging import JudgeVote
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from warehouse.answers import IdeaReview

MARKS = {1: "+", 0: "0", -1: figures.MINUS, None: "?"}
"""How a comparison score is shown in the heat table."""
CLOSENESS = {1: "distant", 2: "related", 3: "close", None: ""}


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One relevant paper."""

    paper: Line
    closeness: str
    evidence: MethodEvidence


@dataclass(frozen=True, slots=True)
class MethodPart:
    """One method with its verdict and the evidence read for it; `evidence` holds the relevant
    papers only.

    `judges` says what each of several judges gave; empty: one model judged.
    """

    method: Method
    review: SoundnessReview | None
    verdict: str
    judges: str
    evidence: tuple[EvidenceLine, ...]
    irrelevant_count: int
    unjudged_count: int


@dataclass(frozen=True, slots=True)
class DimensionPart:
    """One dimension with its review; `mean` holds its novelty and the mean comparison score with
    its counts.
    """

    dimension: Dimension
    review: ContributionReview | None
    verdict: str
    mean: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One paper compared: a mark for every dimension, in the order of the dimensions."""

    paper: Line
    title: str
    marks: tuple[str, ...]
    overall: str


@dataclass(frozen=True, slots=True)
class IdeaPage:
    """All that the report shows."""

    review: IdeaReview
    first: FirstPage
    plan: PlanPart | None
    tried: tuple[TriedPart, ...]
    methods: tuple[MethodPart, ...]
    dimensions: tuple[DimensionPart, ...]
    closest: tuple[ClosestWork, ...]
    own_works: tuple[Line, ...]
    heat: tuple[HeatRow, ...]
    funnel: str
    gaps: tuple[Gap, ...]
    shortenings: tuple[Shortening, ...]
    models: str
    judged_steps: tuple[JudgedStep, ...]
    comparison_judges: str
    novelty_judges: str
    thinking: str
    bibliography: tuple[Line, ...]
    committee: CommitteePart | None
    other_sources: tuple[Line, ...]
    weights: str


def idea_page(review: IdeaReview) -> IdeaPage:
    evaluation = review.evaluation
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    steps = judged_steps(evaluation.judge_votes)
    plan = plan_part(evaluation)
    closest = closest_works(evaluation.contribution, papers)
    gaps = gaps_of(evaluation)
    return IdeaPage(
        review=review,
        first=first_page(review, plan, closest, gaps),
        plan=plan,
        tried=tuple(
            TriedPart(result, review.warehouse) for result in evaluation.experimental_results
        ),
        methods=_methods(review, papers),
        dimensions=_dimensions(review),
        closest=closest,
        own_works=own_works(
            (failure for module in evaluation.modules.values() for failure in module.failures),
            papers,
        ),
        heat=_heat(review, papers),
        funnel=_funnel(review),
        gaps=gaps,
        shortenings=shortenings_of(evaluation),
        models=_models(review),
        judged_steps=steps,
        comparison_judges=_comparison_judges(review, steps),
        novelty_judges=_novelty_judges(review),
        thinking=_thinking(review),
        bibliography=tuple(reference(paper) for paper in in_reading_order(review.bibliography)),
        committee=committee_part(evaluation.committee, evaluation.judge_votes),
        other_sources=other_sources(
            evaluation.committee,
            [
                row.knowledge_id
                for row in evaluation.citations
                if row.paper_id is None and row.knowledge_id is not None
            ],
        ),
        weights=score_in_words(review.run, review.score),
    )


def _methods(review: IdeaReview, papers: dict[PaperId, Paper]) -> tuple[MethodPart, ...]:
    soundness = review.evaluation.soundness
    if soundness is None:
        return ()
    reviews = {entry.method_id: entry for entry in soundness.reviews}
    evidence: dict[str, list[MethodEvidence]] = defaultdict(list)
    for entry in soundness.evidence:
        evidence[entry.method_id].append(entry)
    ordered = sorted(soundness.methods, key=lambda method: method.rank)
    votes = review.evaluation.judge_votes
    return tuple(
        _method(method, reviews.get(method.method_id), evidence[method.method_id], papers, votes)
        for method in ordered
    )


def _method(
    method: Method,
    review: SoundnessReview | None,
    evidence: list[MethodEvidence],
    papers: dict[PaperId, Paper],
    votes: Sequence[JudgeVote],
) -> MethodPart:
    if review is None:
        verdict = "unscored: no review was made"
    elif review.score_0_to_10 is None:
        verdict = _unscored(review.unscored_reason)
    else:
        mark = baseline_mark(review.provenance.engine)
        verdict = f"{figures.score(review.score_0_to_10)} of 10{mark}"
    return MethodPart(
        method=method,
        review=review,
        verdict=verdict,
        judges=score_of_judges(votes, review.provenance) if review is not None else "",
        evidence=tuple(
            EvidenceLine(
                _named(papers, entry.paper_id), CLOSENESS.get(entry.relevance_0_to_3, ""), entry
            )
            for entry in evidence
            if entry.relevant
        ),
        irrelevant_count=sum(entry.relevant is False for entry in evidence),
        unjudged_count=sum(entry.relevant is None for entry in evidence),
    )


def _dimensions(review: IdeaReview) -> tuple[DimensionPart, ...]:
    contribution = review.evaluation.contribution
    if contribution is None:
        return ()
    reviews = {entry.dimension_id: entry for entry in contribution.reviews}
    return tuple(
        _dimension(dimension, reviews.get(dimension.dimension_id))
        for dimension in contribution.dimensions
    )


def _dimension(dimension: Dimension, review: ContributionReview | None) -> DimensionPart:
    if review is None:
        return DimensionPart(dimension, None, "unscored: no review was made", "unscored")
    verdict = _unscored(review.unscored_reason) if review.unscored_reason is not None else ""
    scored, unscored = review.scored_comparison_count, review.unscored_comparison_count
    mean = (
        f"{figures.signed(review.mean_comparison_score)} over"
        f" {figures.counted(scored, 'scored comparison')}, {unscored:,} unscored"
    )
    if review.novelty_0_to_10 is not None:
        score = f"{figures.score(review.novelty_0_to_10)} of 10"
        mark = baseline_mark(review.provenance.engine)
        lower, upper = review.novelty_lower_0_to_10, review.novelty_upper_0_to_10
        ends = (
            f" ({figures.score(lower)} to {figures.score(upper)})"
            if lower is not None and upper is not None
            else ""
        )
        mean = f"novelty {score}{mark}{ends}; {mean}"
    else:
        mean = f"novelty unscored: too few works tell their overlap; {mean}"
    return DimensionPart(dimension, review, verdict, mean)


def _heat(review: IdeaReview, papers: dict[PaperId, Paper]) -> tuple[HeatRow, ...]:
    """Papers in the order they were compared; a pair without a comparison counts as unscored."""
    contribution = review.evaluation.contribution
    if contribution is None:
        return ()
    by_paper: dict[PaperId, dict[str, Comparison]] = defaultdict(dict)
    for comparison in contribution.comparisons:
        by_paper[comparison.paper_id][comparison.dimension_id] = comparison
    dimension_ids = [dimension.dimension_id for dimension in contribution.dimensions]
    return tuple(
        HeatRow(
            paper=_named(papers, paper_id),
            title=papers[paper_id].title if paper_id in papers else "",
            marks=tuple(
                MARKS[found[wanted].score if wanted in found else None] for wanted in dimension_ids
            ),
            overall=next(
                (entry.overall_comparison for entry in found.values() if entry.overall_comparison),
                "",
            ),
        )
        for paper_id, found in by_paper.items()
    )


def _funnel(review: IdeaReview) -> str:
    contribution = review.evaluation.contribution
    if contribution is None or not contribution.candidates:
        return ""
    candidates = contribution.candidates
    judged = sum(candidate.relevance_0_to_5 is not None for candidate in candidates)
    unscored = sum(candidate.unscored_reason is not None for candidate in candidates)
    compared = sum(candidate.compared for candidate in candidates)
    considered = figures.counted(len(candidates), "paper")
    return (
        f"{considered} considered, {judged:,} judged for relevance ({unscored:,} unscored),"
        f" {compared:,} compared."
    )


def _models(review: IdeaReview) -> str:
    """Models as the provider names them, where they answered."""
    found = {call.model_answered for call in review.evaluation.llm_calls if call.model_answered}
    found |= {
        provenance.model_answered
        for provenance in provenances(review.evaluation)
        if provenance.model_answered
    }
    return ", ".join(sorted(found))


def _comparison_judges(review: IdeaReview, steps: Sequence[JudgedStep]) -> str:
    """Over all comparisons: one by one they would fill pages. Empty where one model compared."""
    contribution = review.evaluation.contribution
    compared = (
        {comparison.provenance.step for comparison in contribution.comparisons}
        if contribution is not None
        else set()
    )
    judged = next((step for step in steps if step.step in compared), None)
    return (
        f"median of {figures.counted(len(judged.judges), 'judge')}: {judged.agreement}"
        if judged is not None
        else ""
    )


def _novelty_judges(review: IdeaReview) -> str:
    novelty = review.evaluation.novelty
    return (
        score_of_judges(review.evaluation.judge_votes, novelty.judgement.provenance)
        if novelty is not None
        else ""
    )


def _thinking(review: IdeaReview) -> str:
    calls = review.evaluation.llm_calls
    told = [call.thinking_tokens for call in calls if call.thinking_tokens is not None]
    unknown = sum(call.thinking_tokens is None and call.completion_tokens > 0 for call in calls)
    return figures.thinking(sum(told) if told else None, unknown)


def _named(papers: dict[PaperId, Paper], paper_id: PaperId) -> Line:
    return line(cited(papers[paper_id]) if paper_id in papers else "unknown paper")


def _unscored(why: Reason | None) -> str:
    return unscored(why) if why is not None else "unscored"
