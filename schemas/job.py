"""Jobs: what a page or a program asks the job runner to do, and what became of it."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, get_args

from pydantic import Field, TypeAdapter

from schemas.base import Noun
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.options import AskOptions, EvaluateOptions, PlanOptions
from schemas.settings import DashboardSettings

OFFERED_PROFILES = ("economy", "faithful")
"""The profiles that ship: a path would be a file of the reader's choice."""

IdeasFormat = Literal["jsonl", "json", "csv", "tsv", "yaml", "txt", "md"]
"""Formats that are text; an idea file of another one is not sent."""

IDEAS_FORMATS: tuple[IdeasFormat, ...] = get_args(IdeasFormat)


class _Request(Noun):
    """What all jobs say."""

    name: str = Field(min_length=1, description="What lists of jobs call it.")
    asked_by: str = Field(min_length=1, description="Where it was asked, such as `dashboard`.")
    created_at: datetime
    idempotency_key: str = Field(
        min_length=1, description="A request with a key that is known is the same job."
    )


class _OfIdeas(_Request):
    ideas: str = Field(min_length=1, description="The idea file, as text.")
    ideas_format: IdeasFormat = Field(default="jsonl", description="Ending of the idea file.")


class EvaluateJob(_OfIdeas):
    """What `assay evaluate` does."""

    command: Literal["evaluate"] = "evaluate"
    options: EvaluateOptions


class PlanJob(_OfIdeas):
    """What `assay plan` does."""

    command: Literal["plan"] = "plan"
    options: PlanOptions


class AskJob(_Request):
    """What `assay ask` does."""

    command: Literal["ask"] = "ask"
    question: str = Field(min_length=1)
    options: AskOptions


JobRequest = EvaluateJob | PlanJob | AskJob
"""`options.warehouse` does not count: a job is done in the warehouse that holds its request."""

JOB_REQUEST: TypeAdapter[JobRequest] = TypeAdapter(
    Annotated[JobRequest, Field(discriminator="command")]
)


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


class JobStatus(Noun):
    """How far a job is."""

    state: JobState = JobState.QUEUED
    attempt_count: int = Field(default=0, ge=0, description="How often it was taken up.")
    started_at: datetime | None = Field(default=None, description="When it was first taken up.")
    finished_at: datetime | None = None
    exit_code: int | None = Field(
        default=None,
        description="As of the command: 0 done, 1 failures, 2 wrong usage, 3 budget reached.",
    )
    last_word: str = Field(default="", description="Why it ended so, in one line.")
    run_id: RunId | None = Field(default=None, description="The run it published.")


def check_offered(request: JobRequest, offered: DashboardSettings) -> None:
    """Raises ConfigurationError when `request` asks for more than readers are offered.

    A browser can send anything, and a server or file of its own would get the keys of whoever
    runs the job.
    """
    options = request.options
    engines = {
        (EXTRACTIVE, None),
        *((EngineChoice(each.model), each.api_base) for each in offered.models.values()),
    }
    if (options.engine, options.api_base) not in engines:
        raise ConfigurationError(
            "this model or its server is not offered here: add it to ASSAY_DASHBOARD__MODELS"
        )
    if options.literature is not None and options.literature not in offered.literatures.values():
        raise ConfigurationError(
            "this literature is not offered here: add it to ASSAY_DASHBOARD__LITERATURES"
        )
    if options.profile not in OFFERED_PROFILES:
        raise ConfigurationError(
            f"this profile is not offered here: choose from {', '.join(OFFERED_PROFILES)}"
        )
    if options.scheduler is not None:
        raise ConfigurationError("a scheduler of the reader's choice is not offered here")
