"""Evaluation of one idea, as it is landed."""

from datetime import datetime

from pydantic import Field

from schemas.base import Noun
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.assessment import AssessmentEvaluation
from schemas.judgement.committee import CommitteeEvaluation
from schemas.judgement.contribution import ContributionEvaluation
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.judgement.soundness import Concern, SoundnessEvaluation
from schemas.judgement.suggestion import Suggestion
from schemas.judging import JudgeVote
from schemas.literature.citation import Citation
from schemas.literature.coverage import FieldCoverage
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.recommendation import Resource
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.standing import IdeaStanding, IdeaState
from schemas.works.experimental_result import ExperimentalResult

ModuleEvaluation = (
    SoundnessEvaluation
    | ContributionEvaluation
    | CommitteeEvaluation
    | NoveltyEvaluation
    | AssessmentEvaluation
)


class IdeaEvaluation(Noun):
    """Evaluation of one idea; modules that were not requested are None."""

    run_id: RunId
    evaluation_key: EvaluationKey = Field(
        description="Hash of everything that could change the result.",
    )
    idea: Idea
    profile: str = Field(description="Profile of the run.")
    engine: str = Field(description="Engine that judged.")
    literature: str = Field(description="Source of papers.")
    soundness: SoundnessEvaluation | None
    contribution: ContributionEvaluation | None
    committee: CommitteeEvaluation | None = None
    novelty: NoveltyEvaluation | None = None
    assessment: AssessmentEvaluation | None = None
    coverage: FieldCoverage | None = Field(
        default=None,
        description="Coverage of the idea's field by the literature; None: not measured.",
    )
    papers: tuple[Paper, ...] = Field(description="All retrieved admissible papers, each once.")
    citations: tuple[Citation, ...]
    llm_calls: tuple[LlmCall, ...]
    api_calls: tuple[ApiCall, ...]
    failures: tuple[Failure, ...]
    judge_votes: tuple[JudgeVote, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    citation_edges: tuple[CitationEdge, ...] = Field(
        default=(), description="Known citations among the papers."
    )
    resources: tuple[Resource, ...] = Field(
        default=(), description="Resources that the papers' available texts name as used."
    )
    experimental_results: tuple[ExperimentalResult, ...] = Field(
        default=(), description="Results of the requested experiments on the idea."
    )
    incomplete_reason: Reason | None = Field(
        default=None,
        description="Why the evaluation ended early; None when it was completed.",
    )
    reused_from_run_id: RunId | None = Field(
        default=None,
        description="The run that paid for the evaluation; None: this one.",
    )
    started_at: datetime = Field(description="Start of the evaluation.")
    finished_at: datetime = Field(description="End of the evaluation.")

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """Return the concerns about the plan, from soundness or else from the assessment."""
        if self.soundness is not None:
            return self.soundness.concerns
        return self.assessment.concerns if self.assessment is not None else ()

    @property
    def modules(self) -> dict[str, ModuleEvaluation]:
        """Return the results of the requested modules by name."""
        evaluations = {
            "soundness": self.soundness,
            "contribution": self.contribution,
            "committee": self.committee,
            "novelty": self.novelty,
            "assessment": self.assessment,
        }
        return {
            name: evaluation for name, evaluation in evaluations.items() if evaluation is not None
        }


class Receipt(UnitReceipt):
    """Receipt of one evaluation."""

    idea_id: str
    cost_usd: float | None = Field(
        default=None, description="None when any paid call has no known price."
    )
    llm_calls: int = Field(default=0, ge=0)
    api_calls: int = Field(default=0, ge=0)
    failures: int = Field(default=0, ge=0)
    unscored: int = Field(default=0, ge=0)
    reused_from_run_id: RunId | None = None
    state: IdeaState = Field(
        default=IdeaState.UNSCORED, description=IdeaStanding.model_fields["state"].description
    )
    state_reason: Reason | None = Field(
        default=None, description=IdeaStanding.model_fields["state_reason"].description
    )
    cause: str = Field(
        default="",
        description="Most frequent error of the failed calls behind missing judgements, or empty.",
    )
    unanswered: dict[str, tuple[Reason, str]] = Field(
        default={},
        description=(
            "Reason and detail by kind of judgement, if more than half of the kind is missing."
        ),
    )

    @property
    def evaluation_key(self) -> EvaluationKey:
        return EvaluationKey(self.unit)
