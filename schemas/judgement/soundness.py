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
        description="The idea's own words; empty when none given occur in the idea.",
    )
    queries: tuple[str, ...] = Field(
        default=(),
        description="Snippet queries for work like it; empty when none could be made.",
    )
    failure_query: str | None = Field(
        default=None,
        description="The query for failures, limits and null results; None: none was asked for.",
    )
    provenance: Provenance


class ElementKind(StrEnum):
    ASSUMPTION = "assumption"
    HYPOTHESIS = "hypothesis"
    EVALUATION_CHOICE = "evaluation_choice"


class ElementStanding(StrEnum):
    """Whether the plan says it, or needs it without saying it."""

    STATED = "stated"
    UNSTATED = "unstated"


class PlanElement(Noun):
    """One assumption, hypothesis or evaluation choice that a plan rests on."""

    element_id: str = Field(description="e1, e2, … unique within the idea.")
    kind: ElementKind = Field(description="What it is.")
    standing: ElementStanding = Field(
        description="stated: the plan says it; unstated: the plan needs it and does not say it."
    )
    text: Prose = Field(min_length=1, description="The element in one sentence.")
    quote: Prose = Field(
        description="The idea's own words; empty when unstated or when none given occur in it.",
    )
    provenance: Provenance


class ConcernKind(StrEnum):
    """What a point of a plan's review is about, in the order a reviewer asks."""

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
    """Fatal: the claim cannot be shown this way.

    Major: a main conclusion is in doubt. Minor: it stands. Question: a doubt about a single thing
    that the plan names, without a judgement of what it would do to the conclusions.
    """

    FATAL = "fatal"
    MAJOR = "major"
    MINOR = "minor"
    QUESTION = "question"


class ConfirmedSeverity(StrEnum):
    """What remains of a concern once the plan was defended against it; refuted: nothing."""

    FATAL = "fatal"
    MAJOR = "major"
    MINOR = "minor"
    REFUTED = "refuted"


class Concern(Noun):
    """One point of the review of a plan: reviewer's reasoning, not a claim about the literature.

    What the literature shown says about it stands apart, in `supported` and `weakened`.
    """

    concern_id: str = Field(description="c1, c2, … unique within the idea.")
    rank: int = Field(ge=1, description="1 would change the verdict most.")
    kind: ConcernKind = Field(description="What the point is about.")
    severity: ConcernSeverity | None = Field(
        description="How much is at stake; None for strengths.",
    )
    point: Prose = Field(min_length=1, description="What is wrong, or strong, in one sentence.")
    quote: Prose = Field(
        default="",
        description="The plan's own words, found in it; empty for an omission.",
    )
    omission: Prose = Field(
        default="",
        description="What was looked for in the plan and not found; empty beside a quote.",
    )
    why: Prose = Field(description="Why it matters for the conclusion; empty for a question.")
    would_change: Prose = Field(
        default="", description="What fact or result would change the verdict on it."
    )
    action: Prose = Field(
        default="",
        description=(
            "What to do about it: Markdown, which may cite works that used what it names."
        ),
    )
    effort: ActionEffort | None = Field(
        default=None,
        description="What the action takes; None when not said.",
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
            "1 would change the decision most, over all that is known of the idea; None: it is"
            " none of those that decide, or they were not weighed."
        ),
    )
    folded_into: str | None = Field(
        default=None,
        description="concern_id of the concern that says this one too; None: none does.",
    )
    confirmed_severity: ConfirmedSeverity | None = Field(
        default=None,
        description=(
            "Severity after a second reading that defends the plan and does not see the first;"
            " None: the concern was not challenged."
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
        """Severity after the second reading, where there was one; None: a strength, or refuted."""
        if self.confirmed_severity is ConfirmedSeverity.REFUTED:
            return None
        return ConcernSeverity(self.confirmed_severity or self.severity) if self.severity else None


def standing(concerns: Sequence[Concern]) -> list[Concern]:
    """Return the concerns that hold against the plan, what would change the decision most first.

    Strengths, refuted concerns and those that another one says are left out. Concerns without a
    place follow those that have one, by the severity that remains and by rank.
    """
    gravity = list(ConcernSeverity)
    held = [
        (concern, gravity.index(severity))
        for concern in concerns
        if (severity := concern.remaining_severity) is not None and concern.folded_into is None
    ]
    unplaced = len(concerns) + 1
    held.sort(key=lambda each: (each[0].decision_place or unplaced, each[1], each[0].rank))
    return [concern for concern, _ in held]


def deciding(concerns: Sequence[Concern], limit: int) -> list[Concern]:
    """Return the standing concerns that decide and the other fatal ones, in the order of `standing`.

    Where none was weighed, each that has a severity may decide: the first `limit` are returned.
    """
    held = standing(concerns)
    if all(concern.decision_place is None for concern in concerns):
        # A question says nothing of what is at stake: it decides only once it was weighed.
        return [each for each in held if each.severity is not ConcernSeverity.QUESTION][:limit]
    return [
        each
        for each in held
        if each.decision_place is not None or each.severity is ConcernSeverity.FATAL
    ]


class PlanReview(Judged):
    """Review of a plan as a whole; its points are the idea's rows of `concerns`."""

    JUDGEMENT = ("concern_count",)

    concern_count: int | None = Field(
        default=None,
        ge=1,
        description="Points kept, strengths and questions among them; None when unscored.",
    )
    dropped_point_count: int = Field(
        default=0,
        ge=0,
        description=(
            "Points left out: their quote does not stand in the plan, or a part is missing."
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
        description="Whether it bears on the method, if only distantly; None when unscored.",
    )
    relevance_0_to_3: int | None = Field(
        default=None,
        ge=0,
        le=3,
        description="0 unrelated, 1 distant, 2 related, 3 close; None when unscored.",
    )
    method: Prose = Field(default="", description="What the paper did.")
    results: Prose = Field(default="", description="What came of it.")
    context: Prose = Field(default="", description="Under which conditions.")
    removed_citation_count: RemovedCitationCount = 0
    unscored_reason: UnscoredReason = None
    provenance: Provenance


class SoundnessReview(Judged):
    """The literature's verdict on one method. Texts are Markdown with rendered citations."""

    JUDGEMENT = ("score_0_to_10",)

    method_id: MethodId
    support: Prose = Field(default="", description="What speaks for it, Markdown with citations.")
    contradictions: Prose = Field(default="", description="What speaks against it.")
    suggestions: Prose = Field(
        default="", description="What to change: its rows of `suggestions` as Markdown."
    )
    open_questions: Prose = Field(
        default="",
        description=(
            "Reviewer's reasoning: what the evidence leaves open. No claim about the literature."
        ),
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
            f"How sure the score is: {CONFIDENCE_MEANING}. Of the relevant papers, with"
            " w = 2 × close (3) + related (2): 0 where w < 2, 1 where w < 4, 3 where w ≥ 6 with"
            " two close papers, else 2; distant papers count nothing. None when unscored."
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
    """A passage that a search for works like one method returned."""

    method_id: MethodId


class SoundnessEvaluation(Noun):
    """All that the soundness module found out about one idea."""

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
