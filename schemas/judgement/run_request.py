"""Requests to evaluate the ideas of a file."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.identifiers import RunId
from schemas.run import BatchFailures, Module
from schemas.settings import RunSettings
from schemas.work import Request


class GivenIdeas(Noun):
    """File of ideas, or folder of texts."""

    path: Path
    fields: tuple[str, ...] = Field(
        default=(), description="Columns of the idea file by part, such as `method=Our Method`."
    )


class EvaluationParameters(Noun):
    """Parameters of an evaluation."""

    modules: tuple[Module, ...] = (Module.SOUNDNESS, Module.CONTRIBUTION)
    survey: bool = Field(
        default=False,
        description="Whether each idea is surveyed first, with the papers used by its modules.",
    )
    experiment_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Experiments whose results are evidence for the ideas they tried."
    )
    label: str = Field(
        default="", description="Part of the evaluation key: a new label re-evaluates."
    )
    again: RunId | None = Field(
        default=None,
        description="The run whose ideas are re-evaluated, with its judgements of papers reused.",
    )
    rank: bool = Field(default=False, description="Whether the run is ranked by matches after.")
    ideas_in_flight: int = Field(
        default=8, ge=1, description="Ideas evaluated at once inside one worker."
    )
    idea_timeout_seconds: float = Field(default=RunSettings().idea_timeout_seconds, gt=0)
    allowed_unscored_share: float = Field(default=RunSettings().allowed_unscored_share, ge=0, le=1)
    batch: bool = Field(default=False, description="Whether calls use the providers' batches.")
    batch_failures: BatchFailures = BatchFailures.CALL


class RunRequest(Request[GivenIdeas, EvaluationParameters]):
    """Request to evaluate ideas; `cutoff_date` is for ideas without one."""

    parameters: EvaluationParameters = EvaluationParameters()
    literature: LiteratureChoice
    full_text: bool = Field(
        description="Whether to download and parse the papers that passages cite."
    )

    @property
    def ideas(self) -> GivenIdeas:
        """The file of the ideas."""
        (given_ideas,) = self.units
        return given_ideas
