"""What a user asks to be evaluated, resolved: a file of ideas, and how."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.identifiers import RunId
from schemas.run import BatchFailures, Module
from schemas.settings import RunSettings
from schemas.work import Request


class GivenIdeas(Noun):
    """A file of ideas, or a folder of texts."""

    path: Path
    fields: tuple[str, ...] = Field(
        default=(), description="Columns of the idea file by part, such as `method=Our Method`."
    )


class EvaluationParameters(Noun):
    """Parameters of an evaluation."""

    modules: tuple[Module, ...] = (Module.SOUNDNESS, Module.CONTRIBUTION)
    survey: bool = Field(
        default=False,
        description="Whether each idea is surveyed, and its modules draw on what that finds.",
    )
    experiment_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Experiments whose findings count for the ideas that they tried."
    )
    label: str = Field(
        default="", description="Part of the evaluation key: a new label evaluates anew."
    )
    again: RunId | None = Field(
        default=None,
        description=(
            "The run whose ideas are evaluated again, and whose judgements of papers stand."
        ),
    )
    rank: bool = Field(default=False, description="Whether the run is then ranked by matches.")
    ideas_in_flight: int = Field(
        default=8, ge=1, description="Ideas evaluated at once inside one worker."
    )
    idea_timeout_seconds: float = Field(default=RunSettings().idea_timeout_seconds, gt=0)
    allowed_unscored_share: float = Field(default=RunSettings().allowed_unscored_share, ge=0, le=1)
    batch: bool = Field(
        default=False, description="Whether questions travel in the providers' batches."
    )
    batch_failures: BatchFailures = BatchFailures.CALL


class RunRequest(Request[GivenIdeas, EvaluationParameters]):
    """A run of ideas. `cutoff_date` is for ideas that bring none."""

    parameters: EvaluationParameters = EvaluationParameters()
    literature: LiteratureChoice
    full_text: bool = Field(
        description="Whether to download and parse the papers that passages name."
    )

    @property
    def ideas(self) -> GivenIdeas:
        """The file that the ideas stand in."""
        (given,) = self.units
        return given
