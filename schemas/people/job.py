"""Jobs for the job runner, and their status."""

from base64 import b64decode, b64encode
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, TypeAdapter
from pydantic_core import from_json

from schemas.base import Noun
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.benchmark import SuiteName
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import (
    VOTES_IN_LAKE,
    EvaluateOptions,
    PlanOptions,
    RankOptions,
    RunOptions,
)
from schemas.options.values import flag_of
from schemas.people.uploads import ending_of, text_of
from schemas.people.work_job import OF_THE_MACHINE, CommandLine, WebForm, WorkJob
from schemas.settings import DashboardSettings
from schemas.text.words import MINIMUM_WORDS, has_words
from schemas.works.registry import work_jobs

OFFERED_PROFILES = ("economy", "faithful")
"""Profiles that ship with Assay; readers may not choose files."""

IdeasFormat = Literal[
    "jsonl",
    "json",
    "csv",
    "tsv",
    "yaml",
    "txt",
    "md",
    "html",
    "tex",
    "parquet",
    "xlsx",
    "pdf",
    "zip",
]
IDEAS_FORMATS: tuple[IdeasFormat, ...] = get_args(IdeasFormat)
_ALSO_CALLED = {"ndjson": "jsonl", "yml": "yaml", "markdown": "md", "htm": "html"}
NOT_TEXT: dict[IdeasFormat, bytes] = {
    "parquet": b"PAR1",
    "xlsx": b"PK\x03\x04",
    "pdf": b"%PDF",
    "zip": b"PK\x03\x04",
}
"""Formats that are sent in Base64, with the first bytes of their files."""


NOT_OF_A_RANKING = OF_THE_MACHINE | {
    *("literature", "full_text", "modules", "survey", "cutoff", "label", "max_requests"),
    *("scores", "shrink", "field"),
}
"""Also options for evaluating ideas first, and for ranking by scores, which needs no job."""

NOT_OF_A_BENCHMARK = OF_THE_MACHINE | {"data", "calibrate", "compare"}
"""Also options that read and write local files."""

_BUDGET_REACHED = 3
"""Exit code of a command."""


class OfIdeas(Noun):
    """Base of jobs with a file of ideas."""

    ideas: str = Field(
        min_length=1, description="Content of the idea file; Base64 unless it is a text."
    )
    ideas_format: IdeasFormat = Field(default="jsonl", description="Ending of the idea file.")

    @classmethod
    def of_file(cls, name: str, content: bytes) -> dict[str, Any]:
        if not name:
            text = text_of(content)
            if not has_words(text, MINIMUM_WORDS):
                raise ConfigurationError(
                    f"an idea has at least {MINIMUM_WORDS} words: say what is to be done and how"
                )
            return {"ideas": text, "ideas_format": "md"}
        suffix = ending_of(name)
        suffix = _ALSO_CALLED.get(suffix, suffix)
        ending = next((each for each in IDEAS_FORMATS if each == suffix), None)
        if ending is None:
            raise ConfigurationError(
                f"filename {name[-80:]!r} ends in none of {', '.join(IDEAS_FORMATS)}"
            )
        if ending not in NOT_TEXT:
            return {"ideas": text_of(content), "ideas_format": ending}
        if not content.startswith(NOT_TEXT[ending]):
            raise ConfigurationError(f"the file is no {ending} file")
        return {"ideas": b64encode(content).decode(), "ideas_format": ending}

    @property
    def as_file(self) -> tuple[str, bytes]:
        return f"ideas.{self.ideas_format}", self.idea_file

    @property
    def idea_file(self) -> bytes:
        """Content of the idea file.

        Raises:
            ConfigurationError: invalid Base64.
        """
        if self.ideas_format not in NOT_TEXT:
            return self.ideas.encode()
        try:
            return b64decode(self.ideas, validate=True)
        except ValueError as error:
            raise ConfigurationError(f"the {self.ideas_format} file is not whole") from error

    @property
    def title(self) -> str:
        """Return the name for lists: the first title or the first words."""
        first = self.ideas.partition("\n")[0] if self.ideas_format == "jsonl" else "{}"
        entry = from_json(first)
        text = entry.get("title") or entry.get("text") if isinstance(entry, dict) else ""
        return str(text or "ideas")


class EvaluateJob(OfIdeas, WorkJob):
    """Have ideas evaluated against the literature: with `rank` among the options, the ideas of each
    group then meet in pairs. The same idempotency_key names the same job again.
    """

    tool = "evaluate_ideas"
    web_form = WebForm(
        "Ideas to evaluate",
        "Evaluate",
        "CSV, TSV, JSON, JSONL, YAML, Excel, Parquet, HTML, Markdown, text, or a manuscript"
        " (PDF, TeX)",
        ("modules", "cutoff"),
    )
    command: Literal["evaluate"] = "evaluate"
    options: EvaluateOptions

    def to_estimate(self) -> WorkJob:
        return PlanJob.model_validate(_of_run(self, PlanOptions))


class PlanJob(OfIdeas, WorkJob):
    """Estimate the calls and the cost of an evaluation, as `assay plan` does."""

    of: ClassVar[str] = "evaluate"
    """Command of the estimated work."""
    command: Literal["plan"] = "plan"
    options: PlanOptions  # type: ignore[assignment]

    @property
    def asks_nothing(self) -> bool:
        return True

    def to_do(self) -> WorkJob:
        return EvaluateJob.model_validate(_of_run(self, EvaluateOptions))


def _of_run(job: WorkJob, options: type[RunOptions]) -> dict[str, Any]:
    """Return the fields of another job on the same ideas, with the common options."""
    shared_options = {name: getattr(job.options, name) for name in RunOptions.model_fields}
    fields = {name: getattr(job, name) for name in type(job).model_fields if name != "command"}
    return fields | {"options": options(**shared_options)}


class RankJob(WorkJob):
    """Let the ideas of a published run meet in pairs, group by group, and rank them. Profile and
    engine are those of the run unless others are said.
    """

    tool = "rank_run"
    not_offered = NOT_OF_A_RANKING
    command: Literal["rank"] = "rank"
    run_id: RunId = Field(
        min_length=1, max_length=200, description="The run_id that a finished job names."
    )
    options: RankOptions

    @property
    def title(self) -> str:
        return f"ranking of {self.run_id}"


class BenchmarkJob(WorkJob):
    """Measure how well a model with a profile judges ideas, by a suite of the literature: scores
    with intervals, next to what papers have published.
    """

    tool = "run_benchmark"
    not_offered = NOT_OF_A_BENCHMARK
    command_line = CommandLine(section="quality")
    command: Literal["benchmark"] = "benchmark"
    suite: SuiteName = Field(description="Name of the suite.")
    options: BenchmarkOptions


JobRequest = WorkJob
"""`options.warehouse` is ignored: a job runs in the warehouse that stores it."""

_OF_ANY_KIND: Any = reduce(
    or_, work_jobs().values(), EvaluateJob | PlanJob | RankJob | BenchmarkJob
)
JOB_REQUEST: TypeAdapter[JobRequest] = TypeAdapter(
    Annotated[_OF_ANY_KIND, Field(discriminator="command")]
)


_JOBS: tuple[type[WorkJob], ...] = (EvaluateJob, *work_jobs().values())
SUBMITTED = {job.name_of_command(): job for job in _JOBS if job.web_form is not None}
"""Jobs with a web form by command; the first is the default."""


class JobState(StrEnum):
    """State of a job; a `waiting` one resumes when people have decided."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def ended(self) -> bool:
        """Return whether the state is final."""
        return self in (JobState.DONE, JobState.FAILED, JobState.STOPPED)


class JobStatus(Noun):
    """Progress of a job."""

    state: JobState = JobState.QUEUED
    attempt_count: int = Field(default=0, ge=0, description="Number of starts.")
    started_at: datetime | None = Field(default=None, description="When it was first started.")
    finished_at: datetime | None = None
    exit_code: int | None = Field(
        default=None,
        description="Exit code of the command: 0 done, 1 failures, 2 wrong usage, 3 budget reached,"
        " 4 waits for people.",
    )
    last_word: str = Field(default="", description="Final message, in one line.")
    run_id: RunId | None = Field(default=None, description="The run it published.")
    other_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Other runs of the job, such as evaluations and reviews."
    )

    @property
    def budget_reached(self) -> bool:
        """Return whether it ended early because the budget was reached."""
        return self.exit_code == _BUDGET_REACHED


def check_offered(request: JobRequest, settings: DashboardSettings) -> None:
    """Check that a request uses only what the dashboard offers.

    A browser can send any request, and another server or file would receive the API keys.

    Raises:
        ConfigurationError: an option is not offered.
    """
    options = request.options
    engines = {
        (EXTRACTIVE, None),
        *((EngineChoice(each.model), each.api_base) for each in settings.models.values()),
    }
    if (options.engine, options.api_base) not in engines:
        raise ConfigurationError(
            "this model or its server is not offered here: add it to ASSAY_DASHBOARD__MODELS"
        )
    for name in type(options).model_fields:  # such as the judge of a benchmark
        value = getattr(options, name)
        if isinstance(value, EngineChoice) and (value, options.api_base) not in engines:
            raise ConfigurationError(
                f"{flag_of(name)} is not offered here for {value} at the engine's server: add it to"
                " ASSAY_DASHBOARD__MODELS"
            )
    literature = getattr(options, "literature", None)
    if literature is not None and literature not in settings.literatures.values():
        raise ConfigurationError(
            "this literature is not offered here: add it to ASSAY_DASHBOARD__LITERATURES"
        )
    if options.profile not in OFFERED_PROFILES:
        raise ConfigurationError(
            f"this profile is not offered here: choose from {', '.join(OFFERED_PROFILES)}"
        )
    if isinstance(options, RankOptions):
        if options.votes not in (None, VOTES_IN_LAKE):
            raise ConfigurationError("a file of votes is not offered here: say `lake`")
        if options.project is not None and options.project not in settings.projects.values():
            raise ConfigurationError(
                "this project file is not offered here: add it to ASSAY_DASHBOARD__PROJECTS"
            )
    # `warehouse` is ignored: a job runs in the warehouse that stores it.
    for name in sorted(request.not_offered & type(options).model_fields.keys() - {"warehouse"}):
        if getattr(options, name) != type(options).model_fields[name].default:
            raise ConfigurationError(f"{flag_of(name)} is not offered here: leave it out")
