"""Nouns of the soundness module (ScholarEval §2.1, B.1)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Noun, Prose
from schemas.failure import Failure
from schemas.identifiers import MethodId, RetrievedPaperId
from schemas.judgement.suggestion import ActionEffort
from schemas.literature.citation import (
    CheckedSentenceCount,
    CorrectedSentenceCount,
    DroppedSentenceCount,
    RemovedCitationCount,
    UncitedSentenceCount,
    UndecidedSentenceCount,
)
from schemas.literature.paper import PaperSection, Passage
from schemas.outcome import (
    CONFIDENCE_MEANING,
    Confidence,
    Judged,
    Provenance,
    UnscoredDetail,
    UnscoredReason,
)


class Method(Noun):
    """One thing an idea proposes to do, understandable on its own (ScholarEval §2.1)."""

    method_id: str = Field(description="m1, m2, … in order of importance, unique within the idea.")
    rank: int = Field(ge=1, description="1 is the most important to the idea.")
    text: Prose = Field(
        min_length=1,
        description="The method with the context needed to read it alone.",
    )
    quote: Prose = Field(
        description="Verbatim quote of the idea; empty without a valid one.",
    )
    queries: tuple[str, ...] = Field(
        default=(),
        description="Snippet queries for similar work; empty when there are none.",
    )
    failure_query: str | None = Field(
        default=None,
        description="The query for failures, limits and null results; None: not requested.",
    )
    provenance: Provenance


class ElementKind(StrEnum):
    ASSUMPTION = "assumption"
    HYPOTHESIS = "hypothesis"
    EVALUATION_CHOICE = "evaluation_choice"


class ElementStanding(StrEnum):
    """How a plan gives an element: stated or only implied."""

    STATED = "stated"
    UNSTATED = "unstated"


class PlanElement(Noun):
    """One assumption, hypothesis or evaluation choice of a plan."""

    element_id: str = Field(description="e1, e2, … unique within the idea.")
    kind: ElementKind = Field(description="Kind of the element.")
    standing: ElementStanding = Field(
        description="stated: in the plan; unstated: required by the plan but not stated."
    )
    text: Prose = Field(min_length=1, description="The element in one sentence.")
    quote: Prose = Field(
        description="Verbatim quote of the idea; empty when unstated or without a valid one.",
    )
    provenance: Provenance


class ConcernKind(StrEnum):
    """Subject of a point of a plan's review, in a reviewer's usual order."""

    CLAIM_NOT_TESTED = "claim_not_tested"
    HIDDEN_ASSUMPTION = "hidden_assumption"
    UNJUSTIFIED_CHOICE = "unjustified_choice"
    MISSING_BASELINE = "missing_baseline"
    MISSING_CONTROL = "missing_control"
    CONFOUND = "confound"
    METRIC = "metric"
    STATISTICS = "statistics"
    LEAKAGE = "leakage"
    GENERALITY = "generality"
    FEASIBILITY = "feasibility"
    ETHICS = "ethics"
    FALSIFICATION = "falsification"
    WORTH = "worth"
    NOVELTY = "novelty"
    DERIVATION = "derivation"
    STRENGTH = "strength"


class ConcernSeverity(StrEnum):
    """Severity of a concern.

    Fatal: the plan cannot show the claim. Major: a main conclusion is in doubt. Minor: conclusions
    hold. Question: a doubt about one detail of the plan, without a judgement of its consequences.
    """

    FATAL = "fatal"
    MAJOR = "major"
    MINOR = "minor"
    QUESTION = "question"


class ConfirmedSeverity(StrEnum):
    """Severity of a concern after a defense of the plan."""

    FATAL = "fatal"
    MAJOR = "major"
    MINOR = "minor"
    REFUTED = "refuted"


class Concern(Noun):
    """One point of the review of a plan: reviewer's reasoning, not a claim about the literature.

    Evidence of the literature is separate, in `supported` and `weakened`.
    """

    concern_id: str = Field(description="c1, c2, … unique within the idea.")
    rank: int = Field(ge=1, description="1 would change the verdict most.")
    kind: ConcernKind = Field(description="Subject of the point.")
    severity: ConcernSeverity | None = Field(
        description="Severity; None for strengths.",
    )
    found_by: tuple[str, ...] = Field(
        default=(),
        description=(
            "Models that raised it, of several judges; empty: one model was asked. Its words and its"
            " provenance are those of the first."
        ),
    )
    point: Prose = Field(min_length=1, description="The weakness or strength, in one sentence.")
    quote: Prose = Field(
        default="",
        description="Verbatim quote of the plan; empty for an omission.",
    )
    omission: Prose = Field(
        default="",
        description="Content missing from the plan; empty if there is a quote.",
    )
    why: Prose = Field(description="Consequence for the conclusion; empty for a question.")
    would_change: Prose = Field(
        default="", description="Fact or result that would change the verdict on it."
    )
    action: Prose = Field(
        default="",
        description="Recommended action: Markdown, which may cite works that used its resources.",
    )
    effort: ActionEffort | None = Field(
        default=None,
        description="Effort of the action; None when not stated.",
    )
    supported: Prose = Field(
        default="",
        description="Evidence for the point, by method, Markdown with citations.",
    )
    weakened: Prose = Field(
        default="",
        description="Evidence against the point, by method, Markdown with citations.",
    )
    decision_place: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Rank by influence on the decision, from 1, given all evidence; None: not among the"
            " deciding concerns, or not weighed."
        ),
    )
    folded_into: str | None = Field(
        default=None,
        description="concern_id of another concern that includes this one; None: none.",
    )
    confirmed_severity: ConfirmedSeverity | None = Field(
        default=None,
        description=(
            "Severity after an independent second reading that defends the plan; None: the concern"
            " was not challenged."
        ),
    )
    defense: Prose = Field(
        default="",
        description="Strongest defense of the plan against the concern; empty: not challenged.",
    )
    removed_citation_count: RemovedCitationCount = 0
    provenance: Provenance

    @model_validator(mode="after")
    def _severe_unless_strong_and_quoted_or_missing(self) -> Self:
        if (self.severity is None) is not (self.kind is ConcernKind.STRENGTH):
            raise ValueError("a severity goes with every kind but strength")
        if bool(self.quote) is bool(self.omission):
            raise ValueError("quote or omission: one of both")
        return self

    @property
    def remaining_severity(self) -> ConcernSeverity | None:
        """Severity after a second reading, if any; None for strengths and refuted concerns."""
        if self.confirmed_severity is ConfirmedSeverity.REFUTED:
            return None
        return ConcernSeverity(self.confirmed_severity or self.severity) if self.severity else None


def standing(concerns: Sequence[Concern]) -> list[Concern]:
    """Return the concerns that hold, in order of their influence on the decision.

    Without strengths, refuted concerns and those folded into another. Concerns without a
    `decision_place` come last, by remaining severity and rank.
    """
    gravity = list(ConcernSeverity)
    graded_concerns = [
        (concern, gravity.index(severity))
        for concern in concerns
        if (severity := concern.remaining_severity) is not None and concern.folded_into is None
    ]
    last_place = len(concerns) + 1
    graded_concerns.sort(
        key=lambda each: (each[0].decision_place or last_place, each[1], each[0].rank)
    )
    return [concern for concern, _ in graded_concerns]


def deciding(concerns: Sequence[Concern], limit: int) -> list[Concern]:
    """Return the deciding and the other fatal concerns, in the order of `standing`.

    If none was weighed, return the first `limit` concerns except questions.
    """
    standing_concerns = standing(concerns)
    if all(concern.decision_place is None for concern in concerns):
        # The importance of a question is unknown until it is weighed.
        return [
            each for each in standing_concerns if each.severity is not ConcernSeverity.QUESTION
        ][:limit]
    return [
        each
        for each in standing_concerns
        if each.decision_place is not None or each.severity is ConcernSeverity.FATAL
    ]


class PlanReview(Judged):
    """Review of a plan; its points are the idea's rows of `concerns`."""

    JUDGEMENT = ("concern_count",)

    concern_count: int | None = Field(
        default=None,
        ge=1,
        description="Points kept, including strengths and questions; None when unscored.",
    )
    dropped_point_count: int = Field(
        default=0,
        ge=0,
        description=(
            "Points dropped because their quote is not in the plan, or a part is missing."
        ),
    )
    removed_citation_count: RemovedCitationCount = 0
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance


class MethodEvidence(Judged):
    """Evidence of one paper on one method."""

    JUDGEMENT = ("relevant",)

    method_id: MethodId
    paper_id: RetrievedPaperId
    relevant: bool | None = Field(
        description="Whether it is relevant to the method, even distantly; None when unscored.",
    )
    relevance_0_to_3: int | None = Field(
        default=None,
        ge=0,
        le=3,
        description="0 unrelated, 1 distant, 2 related, 3 close; None when unscored.",
    )
    method: Prose = Field(default="", description="The paper's method.")
    results: Prose = Field(default="", description="The paper's results.")
    context: Prose = Field(default="", description="Conditions of the results.")
    removed_citation_count: RemovedCitationCount = 0
    unscored_reason: UnscoredReason = None
    provenance: Provenance


class SoundnessReview(Judged):
    """Review of one method by the literature; Markdown with rendered citations."""

    JUDGEMENT = ("score_0_to_10",)

    method_id: MethodId
    support: Prose = Field(default="", description="Supporting evidence.")
    contradictions: Prose = Field(default="", description="Contradicting evidence.")
    suggestions: Prose = Field(default="", description="Its rows of `suggestions` as Markdown.")
    open_questions: Prose = Field(
        default="",
        description="Reviewer's reasoning on open questions; no claim about the literature.",
    )
    score_0_to_10: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description="Soundness; None exactly when unscored.",
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            f"Confidence of the score: {CONFIDENCE_MEANING}. Of the relevant papers, with"
            " w = 2 × close (3) + related (2): 0 if w < 2, 1 if w < 4, 3 if w ≥ 6 with two close"
            " papers, else 2; distant papers do not count. None when unscored."
        ),
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    evidence_count: int = Field(ge=0, description="Relevant papers shown to the engine.")
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    checked_sentence_count: CheckedSentenceCount = None
    corrected_sentence_count: CorrectedSentenceCount = None
    dropped_sentence_count: DroppedSentenceCount = None
    undecided_sentence_count: UndecidedSentenceCount = None
    provenance: Provenance


class SoundnessSummary(Judged):
    """Up to three strengths, weaknesses and suggestions over all methods of one idea."""

    JUDGEMENT = ("strengths", "weaknesses", "suggestions")
    MAY_BE_NEITHER = True  # the engine may find nothing to say

    strengths: tuple[str, ...] = Field(
        default=(),
        description="At most three, most important first.",
    )
    weaknesses: tuple[str, ...] = Field(
        default=(),
        description="At most three, most important first.",
    )
    suggestions: tuple[str, ...] = Field(
        default=(),
        description="At most three, most important first.",
    )
    unscored_reason: UnscoredReason = None
    provenance: Provenance


class MethodPassage(Passage):
    """Passage found by a search for works similar to one method."""

    method_id: MethodId


class SoundnessEvaluation(Noun):
    """Result of the soundness module for one idea."""

    methods: tuple[Method, ...]
    passages: tuple[MethodPassage, ...]
    sections: tuple[PaperSection, ...]
    evidence: tuple[MethodEvidence, ...]
    reviews: tuple[SoundnessReview, ...]
    elements: tuple[PlanElement, ...] = ()
    concerns: tuple[Concern, ...] = ()
    plan_review: PlanReview | None = None
    summary: SoundnessSummary | None
    failures: tuple[Failure, ...]
