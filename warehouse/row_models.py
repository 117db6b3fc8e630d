"""Result types of the read API."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Severity
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.assessment import WEIGHTED_CRITERIA
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.literature.paper import Paper
from schemas.profile import ScoreWeights
from schemas.run import Run, ValidationRow
from schemas.standing import IdeaState


class ValidationReport(Noun):
    """Results of all expectations for one run. Passed: no critical one is broken."""

    run_id: RunId
    rows: tuple[ValidationRow, ...]

    @property
    def passed(self) -> bool:
        return not any(row.severity is Severity.CRITICAL for row in self.broken)

    @property
    def broken(self) -> tuple[ValidationRow, ...]:
        return tuple(row for row in self.rows if not row.success)


class Publication(Noun):
    """Result of publishing a run, a ranking, a check or a benchmark."""

    run_id: RunId
    published: bool = Field(description="Whether the lake now holds it as landed.")
    unchanged: bool = Field(
        description="The lake held exactly this already; nothing was validated or written."
    )
    rows: dict[str, int] = Field(
        description="Rows by table; empty when not published, or unchanged and no run."
    )
    validation: ValidationReport | None = Field(description="None when unchanged.")

    @property
    def failed_expectations(self) -> tuple[str, ...]:
        """Critical expectations that are broken, and where."""
        broken_rows = self.validation.broken if self.validation is not None else ()
        critical = (row for row in broken_rows if row.severity is Severity.CRITICAL)
        return tuple(row.in_words for row in critical)


CRITERION_PARTS = tuple(criterion.value for criterion in WEIGHTED_CRITERIA)
MODULE_PARTS = tuple(name for name in ScoreWeights.model_fields if name not in CRITERION_PARTS)
"""Parts of a score that weights act on, by its basis."""


class ScoreBasis(StrEnum):
    ASSESSMENT = "assessment"
    MODULES = "modules"


class RankedIdea(Noun):
    """One row of `group_rankings`."""

    run_id: RunId
    group: str | None
    rank: int | None = Field(
        description=(
            "1 is best, among the ideas with a score; ideas of one score share a rank; None without"
            " a score."
        )
    )
    idea_id: IdeaId
    title: str
    score: float | None
    score_lower: float | None = None
    score_upper: float | None = None
    score_basis: ScoreBasis = ScoreBasis.MODULES
    missing: str | None = Field(
        default=None,
        description="What counts and is unscored, so that there is no score; None: nothing.",
    )
    coverage_0_to_1: float | None = None
    state: IdeaState | None = None
    soundness_0_to_10: float | None
    contribution_0_to_10: float | None
    unscored_count: int
    failure_count: int
    basis: str = Field(
        default="scores",
        description="`matches` where these tell ideas of the group apart, else `scores`.",
    )
    ranking_id: str | None = None
    ranking_engine: str | None = None
    best_rank: int | None = Field(
        default=None,
        description=(
            "Best rank that the intervals of the strengths allow, or the bounds of the score where"
            " there is none."
        ),
    )
    worst_rank: int | None = None
    strength: float | None = None
    strength_lower: float | None = Field(
        default=None, description="Lower end of the 95 % interval."
    )
    strength_upper: float | None = None
    wins: float | None = None
    losses: float | None = None
    ties: int | None = None
    unscored_match_count: int | None = None
    unranked_reason: str | None = None
    rank_across_groups: int | None = Field(
        default=None, description="Over all groups; None where no matches join the groups."
    )
    strength_across_groups: float | None = Field(
        default=None, description="On one scale with those of all groups, mean 0 over them."
    )
    strength_across_groups_lower: float | None = None
    strength_across_groups_upper: float | None = None

    @property
    def place(self) -> tuple[bool, int, float, IdeaId]:
        """Sort key within a run: by rank, then score; ideas without a rank last."""
        return self.rank is None, self.rank or 0, -(self.score or 0.0), self.idea_id

    @property
    def by_matches(self) -> bool:
        """Return whether the rank rests on pairwise matches."""
        return self.basis == "matches"

    @property
    def undecided(self) -> bool:
        """Return whether the matches of its group separate no ideas, so that scores rank them."""
        return self.strength is not None and not self.by_matches


class IdeaScore(Noun):
    """One row of `idea_scores`."""

    run_id: RunId
    idea_id: IdeaId
    group: str | None
    title: str
    score: float | None = Field(
        description="None where anything that counts is unscored: nothing stands for it."
    )
    soundness_0_to_10: float | None
    contribution_0_to_10: float | None
    mean_comparison_score: float | None
    method_count: int
    scored_method_count: int
    unscored_method_count: int
    dimension_count: int
    unscored_dimension_count: int
    scored_comparison_count: int
    unscored_comparison_count: int
    failure_count: int
    soundness_requested: bool
    contribution_requested: bool
    committee_requested: bool
    novelty_requested: bool
    assessment_requested: bool
    committee_0_to_10: float | None = None
    novelty_0_to_10: float | None = None
    novelty_1_to_5: float | None = None
    confidence_0_to_3: int | None = Field(
        default=None,
        description=(
            "How sure the score is: that of `overall`, or of its least sure module; None: not known."
        ),
    )
    soundness_confidence_0_to_3: int | None = None
    contribution_confidence_0_to_3: int | None = None
    committee_confidence_0_to_3: int | None = None
    novelty_confidence_0_to_3: int | None = None
    persona_review_count: int = 0
    unscored_persona_review_count: int = 0
    soundness_unscored_share: float | None = Field(
        default=None, description="Of what the module had to judge; None: nothing."
    )
    contribution_unscored_share: float | None = None
    committee_unscored_share: float | None = None
    novelty_unscored_share: float | None = None
    score_lower: float | None = Field(
        default=None, description="The score if what is missing had scored 0."
    )
    score_upper: float | None = Field(
        default=None, description="The score if what is missing had scored 10."
    )
    score_basis: ScoreBasis = Field(
        default=ScoreBasis.MODULES, description="What the score is made of."
    )
    missing: str | None = Field(
        default=None,
        description="Names of the modules or criteria that count and are unscored; None: none.",
    )
    best_rank: int | None = Field(
        default=None,
        description="Best place in its group that the bounds allow; None with a score.",
    )
    worst_rank: int | None = None
    overall_0_to_1: float | None = Field(
        default=None, description="Of the assessment, the median over its repetitions."
    )
    overall_lowest_0_to_1: float | None = None
    overall_highest_0_to_1: float | None = None
    worth_asking_0_to_1: float | None = None
    new_0_to_1: float | None = None
    decisive_test_0_to_1: float | None = None
    feasible_0_to_1: float | None = None
    coverage_0_to_1: float | None = Field(
        default=None, description="Share of the weight asked for that scored the idea."
    )
    shrunk_score: float | None = Field(
        default=None,
        description="The score drawn toward its group's mean, the more the thinner its evidence.",
    )
    evidence_weight: float | None = Field(
        default=None, description="Judgements the score rests on, each by how sure it is."
    )
    state: IdeaState
    state_reason: str | None = None
    incomplete_reason: str | None
    duplicate_of: IdeaId | None

    @property
    def parts(self) -> dict[str, float | None]:
        """Return the weighted parts, 0 to 10, by module or criterion; None if unscored."""
        if self.score_basis is ScoreBasis.MODULES:
            return {name: getattr(self, f"{name}_0_to_10") for name in MODULE_PARTS}
        chances = {name: getattr(self, f"{name}_0_to_1") for name in CRITERION_PARTS}
        return {name: None if each is None else 10 * each for name, each in chances.items()}


class CallCosts(Noun):
    llm_calls: int
    llm_cache_hits: int
    prompt_tokens: int
    completion_tokens: int
    thinking_tokens: int | None = Field(
        default=None, description="Of the completion; None if no call reported it."
    )
    unknown_thinking_calls: int = Field(
        default=0, description="Calls that did not report their thinking tokens."
    )
    cost_usd: float | None = Field(
        description="Of the calls with a known price; None when no call has one."
    )
    unknown_price_calls: int


class RunCost(CallCosts):
    """One row of `run_costs`."""

    run_id: RunId
    known_price_calls: int
    cached_tokens: int
    api_calls: int
    api_cache_hits: int
    failed_api_calls: int
    upstream_requests: int
    duration_seconds: float
    ideas: int
    reused_ideas: int
    cost_usd_per_idea: float | None


class JudgeAgreement(Noun):
    """One row of `judge_agreement`: how far the judges of one step agree in one run."""

    step: str
    questions: int
    items: int = Field(description="What scores are about: one or more to a question.")
    judges: int
    votes: int
    scored_votes: int
    unscored_votes: int
    compared_items: int = Field(description="Those that two judges or more have scored.")
    same_score_share: float | None = Field(
        description="Of the compared items; None where there is none."
    )
    mean_absolute_difference: float | None = Field(
        description="Between two judges of one item, on the step's own scale."
    )
    krippendorff_alpha: float | None = Field(
        description="None with one compared item or one score throughout."
    )


class AnsweringModel(Noun):
    """One model and how often it answered one step of a run."""

    step: str
    model_requested: str
    models_answered: tuple[str, ...] = Field(
        description="As the provider names it, every name once."
    )
    answered_calls: int


class DroppedParameter(Noun):
    """A parameter that was asked for and that a model does not take."""

    model_requested: str
    parameter: str
    dropped_calls: int
    calls: int = Field(description="All calls to the model, replies from Assay's cache apart.")


class FailureRow(Noun):
    """One row of `failures`."""

    run_id: RunId
    idea_id: IdeaId | None
    recorded_by: str
    stage: str
    subject: str
    reason: str
    detail: str
    retryable: bool


class FailureGroup(Noun):
    """Failures of one stage for one reason, over the accepted ideas of one run."""

    stage: str
    reason: str
    failure_count: int
    idea_count: int = Field(description="Ideas it happened to.")
    retryable_count: int
    example: str = Field(description="The detail of one of them.")


class LeftOutGroup(Noun):
    """Papers that counted for nothing for one reason, over the ideas of one run."""

    reason: str
    idea_count: int = Field(description="Ideas whose papers they were.")
    example: str = Field(description="The detail of one of them.")


class StepCost(CallCosts):
    """Costs of one step with one model in one run."""

    step: str
    model_requested: str


class ModuleCost(CallCosts):
    """Costs of one module in one run: total, and per idea of the run."""

    module: str
    ideas: int
    llm_calls_per_idea: float
    prompt_tokens_per_idea: float
    completion_tokens_per_idea: float
    thinking_tokens_per_idea: float | None = Field(
        default=None, description="None if no call reported it."
    )
    cost_usd_per_idea: float | None


class IdeaReview(Noun):
    """Everything a full report on one idea shows."""

    warehouse: str = Field(description="Where the run is, as `--warehouse` takes it.")
    run: Run
    evaluation: IdeaEvaluation
    score: IdeaScore
    rank: int | None
    group_size: int = Field(ge=1)
    bibliography: tuple[Paper, ...] = Field(
        description="The papers cited, each once, in order of first citation."
    )
    cost_usd: float | None = Field(
        description="Of the calls with a known price; None when no call has one; 0 without calls."
    )
    unknown_price_calls: int
