"""What a reader sees first of a review: verdict, score, closest prior work, concerns, actions,
gaps.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from dashboards.reports import figures
from dashboards.reports.closest_work import ClosestWork, none_closest
from dashboards.reports.gaps import Gap, cause_of
from dashboards.reports.plan_part import PlanPart
from dashboards.reports.wording import baseline_mark
from schemas.base import Noun
from schemas.choices import EXTRACTIVE
from schemas.contribution import Overlap
from schemas.evaluation import IdeaEvaluation, ModuleEvaluation
from schemas.reasons import Reason
from schemas.soundness import Concern, ConcernSeverity
from schemas.suggestion import ActionEffort
from warehouse.answers import IdeaReview

FUND_FROM = 6.5
DROP_BELOW = 3.5
DROP_WITH_FATAL_BELOW = 5.0
MAJOR_CONCERNS_FUNDED = 2
ACTIONS_SHOWN = 5
GAPS_SHOWN = 4


class Verdict(StrEnum):
    """What to do with an idea; the rule is in `docs/reviews.md`."""

    FUND = "fund"
    REVISE = "revise"
    DROP = "drop"
    NOT_JUDGED = "not judged"


class GraveConcern(Noun):
    """A fatal or major concern."""

    severity: ConcernSeverity
    point: str


class Action(Noun):
    """One thing to do; `answers` names the severity of the concern it answers."""

    change: str
    how: str = ""
    effort: ActionEffort | None = None
    answers: ConcernSeverity | None = None

    @property
    def cost(self) -> str:
        """In round brackets; empty where nothing is known."""
        told = [
            *([f"takes {self.effort}"] if self.effort is not None else []),
            *([f"answers a {self.answers} concern"] if self.answers is not None else []),
        ]
        return f"({', '.join(told)})" if told else ""


class PriorWork(Noun):
    """The closest prior work; `paper` is a Markdown link."""

    paper: str
    title: str
    overlaps: str
    quote: str
    remains: str


class FirstPage(Noun):
    """The first page of a review, the same in every format. Texts of engines are Markdown."""

    verdict: Verdict
    sentences: tuple[str, ...]
    score: str
    closest: PriorWork | None
    none_closest: str
    concerns: tuple[GraveConcern, ...]
    actions: tuple[Action, ...]
    no_actions: str
    plan_judged: bool
    gaps: tuple[str, ...]


def first_page(
    review: IdeaReview, plan: PlanPart | None, closest: Sequence[ClosestWork], gaps: Sequence[Gap]
) -> FirstPage:
    """The verdict follows the rule in `docs/reviews.md`; the offline engine gives none."""
    concerns = [line.concern for line in plan.concerns] if plan is not None else []
    verdict, reasons = _verdict(review, concerns)
    return FirstPage(
        verdict=verdict,
        sentences=(*_told(verdict, reasons, review), _missing(gaps)),
        score=_score(review),
        closest=_prior_work(closest[0]) if closest else None,
        none_closest=_none_closest(review),
        concerns=tuple(
            GraveConcern(severity=concern.severity, point=concern.point)
            for concern in concerns
            if concern.severity in (ConcernSeverity.FATAL, ConcernSeverity.MAJOR)
        ),
        plan_judged=plan is not None and not plan.verdict,
        actions=_actions(review.evaluation),
        no_actions=_no_actions(review),
        gaps=tuple(_gaps(gaps)),
    )


def _verdict(review: IdeaReview, concerns: Sequence[Concern]) -> tuple[Verdict, list[str]]:
    """The verdict and what decides it."""
    score = review.score.score
    if review.evaluation.engine == EXTRACTIVE.text:
        return Verdict.NOT_JUDGED, ["offline baseline"]
    if score is None:
        return Verdict.NOT_JUDGED, ["nothing was scored"]
    fatal, major = (
        sum(concern.severity is severity for concern in concerns)
        for severity in (ConcernSeverity.FATAL, ConcernSeverity.MAJOR)
    )
    overlaps = _overlaps(review.evaluation)
    known = review.score.confidence_0_to_3 != 0
    against = [
        *([figures.counted(fatal, "fatal concern")] if fatal else []),
        *(["a paper that has the same already"] if Overlap.SAME in overlaps else []),
        *([f"a score under {DROP_BELOW:g}"] if known and score < DROP_BELOW else []),
    ]
    below = DROP_WITH_FATAL_BELOW if fatal else DROP_BELOW
    if Overlap.SAME in overlaps or (known and score < below):
        return Verdict.DROP, against
    if DROP_BELOW <= score < FUND_FROM:
        against.append(f"a score under {FUND_FROM:g}")
    if major > MAJOR_CONCERNS_FUNDED:
        against.append(figures.counted(major, "major concern"))
    if Overlap.SUBSTANTIAL in overlaps:
        against.append("a paper that has a substantial part already")
    against += _unknowns(review)
    return (Verdict.REVISE, against) if against else (Verdict.FUND, [])


def _overlaps(evaluation: IdeaEvaluation) -> set[Overlap]:
    compared = evaluation.contribution.comparisons if evaluation.contribution is not None else ()
    return {each.overlap for each in compared if each.overlap is not None}


def _unknowns(review: IdeaReview) -> Iterator[str]:
    """What has to be known before an idea is funded."""
    soundness = review.evaluation.soundness
    plan = soundness.plan_review if soundness is not None else None
    if plan is None or plan.unscored_reason is not None:
        yield "a plan that was not judged"
    if review.score.confidence_0_to_3 == 0:
        yield "a score with too little evidence"
    if review.score.incomplete_reason is not None:
        yield "an evaluation that ended early"


def _told(verdict: Verdict, reasons: list[str], review: IdeaReview) -> tuple[str, ...]:
    if verdict is Verdict.NOT_JUDGED:
        told = f"Not judged: {reasons[0]}."
        if review.score.score is not None:
            return told, (
                f"The score, {_score(review)}, comes from wording and statistics and"
                " is no judgement."
            )
        found = _has_evidence(review.evaluation)
        return (told, "The evidence found stands below.") if found else (told,)
    if verdict is Verdict.FUND:
        return (
            f"Fund: the score is {_score(review)}.",
            "No concern is fatal, at most two are major, and no paper compared has a substantial"
            " part of it already.",
        )
    return (
        f"{verdict.capitalize()}: the score is {_score(review)}.",
        f"Against funding it: {', '.join(reasons)}.",
    )


def _has_evidence(evaluation: IdeaEvaluation) -> bool:
    soundness, contribution = evaluation.soundness, evaluation.contribution
    committee = evaluation.committee
    return bool(
        (soundness is not None and any(each.relevant for each in soundness.evidence))
        or (contribution is not None and any(each.comparison for each in contribution.comparisons))
        or (committee is not None and committee.evidence)
    )


def _score(review: IdeaReview) -> str:
    score = review.score
    if score.score is None:
        return "unscored"
    told = f"{figures.mean(score.score)} of 10"
    if score.confidence_0_to_3 is not None:
        told += f", confidence {score.confidence_0_to_3} of 3"
    return f"{told}{baseline_mark(review.evaluation.engine)}"


def _missing(gaps: Sequence[Gap]) -> str:
    total = sum(gap.count for gap in gaps if gap.failed)
    if not gaps:
        return "Every look-up was answered and every judgement made."
    left_out = "".join(f" {gap.detail}." for gap in gaps if not gap.failed and gap.detail)
    if not total:
        return f"Every look-up was answered.{left_out}"
    failed = figures.counted(total, "look-up or judgement", "look-ups or judgements")
    return f"{failed} failed.{left_out}"


def _cause(evaluation: IdeaEvaluation, *modules: ModuleEvaluation | None) -> str:
    failures = [failure for each in modules if each is not None for failure in each.failures]
    return cause_of([*failures, *evaluation.failures])


def _none_closest(review: IdeaReview) -> str:
    if not review.score.contribution_requested:
        return "Nothing was compared: contribution was not asked for."
    contribution, coverage = review.evaluation.contribution, review.evaluation.coverage
    if coverage is not None and not coverage.covered:
        return none_closest(contribution, Reason.FIELD_NOT_COVERED.sentence)
    return none_closest(contribution, _cause(review.evaluation, contribution))


def _no_actions(review: IdeaReview) -> str:
    cause = _cause(review.evaluation, *review.evaluation.modules.values())
    judged = review.score.score is not None or not cause
    return "None named." if judged else f"Nothing was judged: {cause}."


def _prior_work(work: ClosestWork) -> PriorWork:
    return PriorWork(
        paper=work.paper,
        title=work.title,
        overlaps=work.overlaps,
        quote=work.quote,
        remains=work.remains,
    )


def _actions(evaluation: IdeaEvaluation) -> tuple[Action, ...]:
    """Those that answer fatal concerns, then major ones, then by effort."""
    concerns = evaluation.soundness.concerns if evaluation.soundness is not None else ()
    severities = {concern.concern_id: concern.severity for concern in concerns}
    found = [
        Action(
            change=suggestion.change,
            how=suggestion.how,
            effort=suggestion.effort,
            answers=severities.get(suggestion.concern_id or ""),
        )
        for suggestion in evaluation.suggestions
    ]
    return tuple(sorted(found, key=_worth)[:ACTIONS_SHOWN])


def _worth(action: Action) -> tuple[int, int]:
    efforts, severities = tuple(ActionEffort), (ConcernSeverity.FATAL, ConcernSeverity.MAJOR)
    return (
        severities.index(action.answers) if action.answers in severities else len(severities),
        efforts.index(action.effort) if action.effort is not None else len(efforts),
    )


def _gaps(gaps: Sequence[Gap]) -> Iterator[str]:
    for gap in gaps[:GAPS_SHOWN]:
        if gap.detail and not gap.failed:
            yield gap.detail
            continue
        told = f" ({gap.detail})" if gap.detail else ""
        yield f"{gap.what}, {figures.counted(gap.count, 'time')}: {gap.why}{told}"
    if len(gaps) > GAPS_SHOWN:
        yield f"{figures.counted(len(gaps) - GAPS_SHOWN, 'more kind')}, listed below"
