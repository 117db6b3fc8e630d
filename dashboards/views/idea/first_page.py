"""First page of an idea's report: verdict, reasons, concerns, next steps."""

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

from dashboards.render import figures
from dashboards.render.formats.markdown import markdown_line
from dashboards.render.wording import (
    banners,
    baseline_mark,
    field_not_covered,
    reason,
    unscored_because,
    whole_sentences,
)
from dashboards.views.idea.closest_work import ClosestWork, none_closest
from dashboards.views.idea.gaps import Gap, cause_of
from dashboards.views.idea.plan_part import ConcernLine, PlanPart
from dashboards.views.idea.verdict import Verdict, decide, overall_of, percent
from schemas.base import Noun
from schemas.choices import EXTRACTIVE
from schemas.judgement.assessment import WEIGHTED_CRITERIA, Assessment
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import ConcernKind
from schemas.reasons import Reason
from warehouse.row_models import IdeaReview, IdeaScore

MOST_WORDS = 900
REASONS_SHOWN = 3
GAPS_SHOWN = 4
DERIVATIONS_SHOWN = 2
# Upper bounds on the words of headings and labels, which the counted texts do not include.
_LABEL_WORDS, _LABEL_WORDS_OF_A_CONCERN = 80, 17
_TITLE_WORDS, _DEFENSE_WORDS, _GAP_WORDS = 30, 20, 25


class _Room(NamedTuple):
    """Limits of a page: concerns, concerns with a reason, and words per text."""

    concerns: int
    whys: int
    words: int


# Tried in order until a page has at most MOST_WORDS words.
_ROOMS = (
    *(_Room(5, whys, 60) for whys in range(5, -1, -1)),
    *(_Room(3, whys, 60) for whys in range(3, -1, -1)),
    *(_Room(3, 0, words) for words in (45, 35, 30, 25, 20, 12)),
)


class DecidingConcern(Noun):
    """One of the most important concerns; engine texts are Markdown.

    `shortened` lists the fields of `Concern` that only the full report shows in full.
    """

    concern_id: str
    heading: str
    point: str
    why: str
    action: str
    effort: str
    would_settle: str
    lowered_from: str
    defense: str
    shortened: tuple[str, ...]


class PriorWork(Noun):
    """The closest prior work; `paper` is a Markdown link."""

    paper: str
    title: str
    overlaps: str
    remains: str


class FirstPage(Noun):
    """The first page of a review, the same in every format; engine texts are Markdown.

    Attributes:
        counted: scores and counts, where there is no verdict.
        derivations: what is new compared with works that the plan names.
        criteria: the criteria with their probabilities, in one line; empty: not assessed.
        not_judged: what was not looked up or judged, and warnings, a line each.
        full_report: the command that prints the full report.
    """

    title: str
    verdict: Verdict
    probability_0_to_1: float | None
    lowest_0_to_1: float | None
    highest_0_to_1: float | None
    sentences: tuple[str, ...]
    reasons: tuple[str, ...]
    counted: tuple[str, ...]
    closest: PriorWork | None
    none_closest: str
    derivations: tuple[str, ...]
    concerns: tuple[DecidingConcern, ...]
    further_concern_count: int
    no_concerns: str
    criteria: str
    not_judged: tuple[str, ...]
    full_report: str

    @property
    def word_count(self) -> int:
        """Words on the page, labels included."""
        concerns = _LABEL_WORDS_OF_A_CONCERN * len(self.concerns)
        return _LABEL_WORDS + concerns + _words(self.model_dump())


def first_page(
    review: IdeaReview, plan: PlanPart | None, closest: Sequence[ClosestWork], gaps: Sequence[Gap]
) -> FirstPage:
    """Return the fullest page with at most `MOST_WORDS` words."""
    for room in _ROOMS:
        page = _page(review, plan, closest, gaps, room)
        if page.word_count <= MOST_WORDS:
            break
    return page


def _page(
    review: IdeaReview,
    plan: PlanPart | None,
    closest: Sequence[ClosestWork],
    gaps: Sequence[Gap],
    room: _Room,
) -> FirstPage:
    evaluation = review.evaluation
    decision = decide(review)
    is_judged = decision.verdict is not Verdict.NOT_JUDGED
    overall = overall_of(evaluation)
    lines = plan.concerns if plan is not None else ()
    top_concerns = lines[: min(room.concerns, plan.deciding_count)] if plan is not None else ()
    idea = evaluation.idea
    return FirstPage(
        title=whole_sentences(idea.title or idea.idea_id, _TITLE_WORDS),
        verdict=decision.verdict,
        probability_0_to_1=overall.probability_0_to_1 if overall is not None else None,
        lowest_0_to_1=overall.lowest_0_to_1 if overall is not None else None,
        highest_0_to_1=overall.highest_0_to_1 if overall is not None else None,
        sentences=(_answer(decision.verdict, overall), _cut(decision.because, room)),
        reasons=tuple(
            _cut(each, room) for each in (overall.reasons[:REASONS_SHOWN] if overall else ())
        ),
        counted=() if is_judged else tuple(_baseline_figures(review)),
        closest=PriorWork(
            paper=markdown_line(closest[0].paper),
            title=_cut(closest[0].title, room, _TITLE_WORDS),
            overlaps=_cut(closest[0].overlaps, room, _TITLE_WORDS).rstrip("."),
            remains=_cut(closest[0].remains, room),
        )
        if closest
        else None,
        none_closest=_cut(_none_closest(review), room),
        derivations=tuple(_derivations(lines, top_concerns, room)),
        concerns=tuple(
            _concern(line, room, with_why=number < room.whys)
            for number, line in enumerate(top_concerns)
        ),
        further_concern_count=len(lines) - len(top_concerns),
        no_concerns=_no_concerns(plan),
        criteria=_criteria(evaluation),
        not_judged=tuple(_not_judged(review, gaps, room)),
        full_report=(
            f"assay report {quote(review.run.run_id)} --idea {quote(idea.idea_id)} --full"
            f" --warehouse {quote(review.warehouse)}"
        ),
    )


def _cut(text: str, room: _Room, most_words: int = MOST_WORDS) -> str:
    return whole_sentences(text, min(room.words, most_words))


def _words(value: Any) -> int:
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, Mapping):
        return sum(map(_words, value.values()))
    return sum(map(_words, value)) if isinstance(value, list | tuple) else 0


def _answer(verdict: Verdict, overall: Assessment | None) -> str:
    if overall is None or overall.probability_0_to_1 is None:
        return f"{verdict.capitalize()}."
    return (
        f"{verdict.capitalize()}: with a probability of {percent(overall.probability_0_to_1)}"
        f"{_range(overall, with_count=True)} reviewers of the field's usual venue prefer the plan to the"
        " median plan submitted there."
    )


def _range(assessment: Assessment, *, with_count: bool = False) -> str:
    """Return the range in brackets, optionally with the number of repetitions."""
    lowest, highest = assessment.lowest_0_to_1, assessment.highest_0_to_1
    count = assessment.repetition_count
    if lowest is None or highest is None or count < 2:
        return " (asked once: no range)" if with_count and count == 1 else ""
    repetitions = f" over {count} repetitions" if with_count else ""
    if lowest == highest:
        return f" (the same{repetitions})" if with_count else ""
    return f" ({percent(lowest)} to {percent(highest)}{repetitions})"


def _baseline_figures(review: IdeaReview) -> Iterator[str]:
    score, evaluation = review.score, review.evaluation
    mark = baseline_mark(evaluation.engine)
    offline = evaluation.engine == EXTRACTIVE.text
    if score.score is not None:
        note = ", from wording and statistics: no judgement" if offline else ""
        yield f"Score: {figures.mean(score.score)} of 10{mark}{note}"
    yield from _modules(score)
    soundness, contribution = evaluation.soundness, evaluation.contribution
    relevant = {row.paper_id for row in soundness.evidence if row.relevant} if soundness else ()
    compared_ids = {row.paper_id for row in contribution.comparisons} if contribution else ()
    yield (
        f"Papers: {len(evaluation.papers):,} found, {len(relevant):,} relevant to a method,"
        f" {len(compared_ids):,} compared"
    )


def _modules(score: IdeaScore) -> Iterator[str]:
    if score.soundness_requested:
        methods = figures.plural(score.scored_method_count, "scored method")
        yield (
            f"Soundness: {figures.mean(score.soundness_0_to_10)} over {methods},"
            f" {score.unscored_method_count:,} unscored"
        )
    if score.contribution_requested:
        comparisons = figures.plural(score.scored_comparison_count, "scored comparison")
        yield (
            f"Contribution: {figures.mean(score.contribution_0_to_10)} over {comparisons} in"
            f" {figures.plural(score.dimension_count, 'dimension')},"
            f" {score.unscored_comparison_count:,} unscored"
        )
    if score.committee_requested:
        reviews = figures.plural(score.persona_review_count, "review")
        yield (
            f"Committee: {figures.mean(score.committee_0_to_10)} over {reviews},"
            f" {score.unscored_persona_review_count:,} unscored"
        )
    if score.novelty_requested:
        yield f"Novelty: {figures.mean(score.novelty_0_to_10)}"


def _none_closest(review: IdeaReview) -> str:
    evaluation = review.evaluation
    coverage, contribution = evaluation.coverage, evaluation.contribution
    if coverage is not None and not coverage.field_covered:
        return (
            "Nothing was compared: the literature does not cover the field of the idea. That is no"
            " evidence of novelty."
        )
    if not review.score.contribution_requested:
        return "Nothing was compared: contribution was not asked for."
    failures = contribution.failures if contribution is not None else ()
    return none_closest(contribution, cause_of([*failures, *evaluation.failures]))


def _derivations(
    lines: Sequence[ConcernLine], top_concerns: Sequence[ConcernLine], room: _Room
) -> Iterator[str]:
    """Yield concerns about derivation; a concern already shown, by its number."""
    derivations = [line for line in lines if line.concern.kind is ConcernKind.DERIVATION]
    for line in derivations[:DERIVATIONS_SHOWN]:
        if line in top_concerns:
            yield f"see concern {top_concerns.index(line) + 1}."
        else:
            yield _cut(line.concern.point, room)


def _concern(line: ConcernLine, room: _Room, *, with_why: bool) -> DecidingConcern:
    concern = line.concern
    parts = {
        "point": _cut(concern.point, room),
        "why": _cut(concern.why, room) if with_why else "",
        "action": _cut(concern.action, room),
        "would_change": _cut(concern.would_change, room),
    }
    return DecidingConcern(
        concern_id=concern.concern_id,
        heading=line.heading,
        point=parts["point"],
        why=parts["why"],
        action=parts["action"],
        effort=line.effort,
        would_settle=parts["would_change"],
        lowered_from=str(concern.severity) if line.lowered else "",
        defense=_cut(concern.defense, room, _DEFENSE_WORDS) if line.lowered else "",
        shortened=tuple(
            name
            for name, text in parts.items()
            if len(text.split()) < len(getattr(concern, name).split()) or text.endswith("…")
        ),
    )


def _no_concerns(plan: PlanPart | None) -> str:
    if plan is None:
        return "The plan itself was not reviewed."
    return f"The plan itself: {plan.verdict}." if plan.verdict else "None named."


def _criteria(evaluation: IdeaEvaluation) -> str:
    if evaluation.assessment is None:
        return ""
    parts = []
    for criterion in WEIGHTED_CRITERIA:
        assessment = evaluation.assessment.of(criterion)
        name = criterion.replace("_", " ")
        if assessment is None:
            parts.append(f"{name} not assessed")
        elif assessment.probability_0_to_1 is None:
            why = assessment.unscored_reason
            parts.append(f"{name} {unscored_because(why) if why is not None else 'unscored'}")
        else:
            probability = percent(assessment.probability_0_to_1)
            parts.append(f"{name} {probability}{_range(assessment)}")
    return " · ".join(parts)


def _not_judged(review: IdeaReview, gaps: Sequence[Gap], room: _Room) -> Iterator[str]:
    evaluation, incomplete_reason = review.evaluation, review.score.incomplete_reason
    coverage = evaluation.coverage
    is_uncovered = coverage is not None and not coverage.field_covered
    if evaluation.idea.translation is not None:
        yield "The idea's own words: a model's translation was judged (see the full report)."
    if is_uncovered:
        yield _cut(field_not_covered(coverage), room)
    if incomplete_reason is not None:
        yield f"The evaluation ended early: {reason(incomplete_reason)}. What is missing is unscored, not bad."
    # The coverage line and the banner of the offline engine already cover these reasons.
    covered_reasons = [Reason.OFFLINE_ENGINE, *([Reason.FIELD_NOT_COVERED] if is_uncovered else [])]
    remaining = [
        gap for gap in gaps if not any(gap.why.endswith(each.sentence) for each in covered_reasons)
    ]
    for gap in remaining[:GAPS_SHOWN]:
        yield _cut(_gap(gap), room, _GAP_WORDS)
    if len(remaining) > GAPS_SHOWN:
        yield f"{figures.plural(len(remaining) - GAPS_SHOWN, 'more kind')} of gaps"
    run = review.run
    yield from banners(evaluation.engine, evaluation.literature, run.literature_name)


def _gap(gap: Gap) -> str:
    if gap.detail and not gap.failed:
        return gap.detail
    detail = f" ({gap.detail})" if gap.detail else ""
    return f"{gap.what}, {figures.plural(gap.count, 'time')}: {gap.why}{detail}"
