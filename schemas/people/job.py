"""Jobs: what a page or a program asks the job runner to do, and what became of it."""

from base64 import b64decode
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, TypeAdapter, field_validator
from pydantic.fields import FieldInfo

from schemas.base import Noun
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.idea import SentIdea
from schemas.identifiers import RunId
from schemas.judgement.benchmark import SuiteName
from schemas.literature.survey_run import LONGEST_QUESTION, as_question
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import (
    VOTES_IN_LAKE,
    AskOptions,
    CheckOptions,
    CurateOptions,
    DeclaredOptions,
    EvaluateOptions,
    ExperimentOptions,
    IdeateOptions,
    PlanOptions,
    RankOptions,
    SurveyOptions,
    WriteOptions,
)
from schemas.options.values import flag_of
from schemas.settings import DashboardSettings
from schemas.works.check_run import MOST_MANUSCRIPTS, SentManuscript, check_manuscripts
from schemas.works.curation_run import MOST_PAPERS, SentPaper, check_papers
from schemas.works.experiment_run import MOST_TASKS, SentTask, check_tasks

MOST_SEEDS = 1_000
OFFERED_PROFILES = ("economy", "faithful")
"""The profiles that ship: a path would be a file of the reader's choice."""

IdeasFormat = Literal["jsonl", "json", "csv", "tsv", "yaml", "txt", "md", "parquet", "xlsx"]
IDEAS_FORMATS: tuple[IdeasFormat, ...] = get_args(IdeasFormat)
NOT_TEXT: dict[IdeasFormat, bytes] = {"parquet": b"PAR1", "xlsx": b"PK\x03\x04"}
"""Formats that travel in Base64, with what their files begin with."""


OF_THE_MACHINE = frozenset({"warehouse", "workers", "scheduler", "again"})
"""Options that say where work is done, which is for whoever runs the service to say."""

NOT_OF_SENT_PAPERS = OF_THE_MACHINE | {"dry_run", "max_requests"}
"""Beside those, what only the command does, and what is about forums."""

NOT_OF_A_DRAFT = OF_THE_MACHINE | {
    *("bib", "outline", "outline_only", "venue", "field"),
    "image_model",
}
"""Beside those, files of the caller's choice, and a model that readers are not offered."""

NOT_OF_A_RANKING = OF_THE_MACHINE | {
    *("literature", "full_text", "modules", "survey", "cutoff", "label", "max_requests"),
    *("scores", "shrink", "field"),
}
"""Beside those, options for ideas that are evaluated first, and for the order by scores, which is
read without a job.
"""

NOT_OF_SENT_MANUSCRIPTS = OF_THE_MACHINE | {"revise", "reasons", "judge", "repetitions"}
"""Beside those, what names files of the machine and servers."""

NOT_OF_A_BENCHMARK = OF_THE_MACHINE | {"data", "calibrate", "compare"}
"""With those, what reads and writes files of the machine: data sets are those of ASSAY_DATA."""

_BUDGET_REACHED = 3
"""Exit code of a command."""


class _Request(Noun):
    """What all jobs say."""

    name: str = Field(min_length=1, description="What lists of jobs call it.")
    asked_by: str = Field(min_length=1, description="Where it was asked, such as `dashboard`.")
    created_at: datetime
    idempotency_key: str = Field(
        min_length=1, description="A request with a key that is known is the same job."
    )

    not_offered: ClassVar[frozenset[str]] = OF_THE_MACHINE
    """Options that are not for a request to say."""

    @property
    def asks_nothing(self) -> bool:
        """Whether it only says what something would ask and cost."""
        return False

    @property
    def work(self) -> str:
        """What is to be done, as JSON: the same for all who ask the same,
        whatever they may spend.
        """
        bounds = {"max_cost_usd", "max_tokens", "max_requests"}
        who = {"name", "asked_by", "created_at", "idempotency_key"}
        return self.model_dump_json(exclude={**dict.fromkeys(who, True), "options": bounds})


class _OfIdeas(_Request):
    """With a file of ideas."""

    ideas: str = Field(
        min_length=1, description="The idea file: its text, or Base64 where it is none."
    )
    ideas_format: IdeasFormat = Field(default="jsonl", description="Ending of the idea file.")

    @property
    def idea_file(self) -> bytes:
        """The idea file as it was sent.

        Raises:
            ConfigurationError: what stands for it is no Base64.
        """
        if self.ideas_format not in NOT_TEXT:
            return self.ideas.encode()
        try:
            return b64decode(self.ideas, validate=True)
        except ValueError as error:
            raise ConfigurationError(f"the {self.ideas_format} file is not whole") from error


class EvaluateJob(_OfIdeas):
    """What `assay evaluate` does."""

    command: Literal["evaluate"] = "evaluate"
    options: EvaluateOptions


class PlanJob(_OfIdeas):
    """What `assay plan` does."""

    command: Literal["plan"] = "plan"
    options: PlanOptions

    @property
    def asks_nothing(self) -> bool:
        return True


class WorkJob(_Request):
    """What the command of a declared kind of work does with what a program sends."""

    command: str
    options: DeclaredOptions

    tool: ClassVar[str]
    """What agents call it."""
    wait_seconds: ClassVar[float] = 0.0
    """How long an agent waits for it unless it says so."""

    @property
    def asks_nothing(self) -> bool:
        return self.options.dry_run

    @classmethod
    def sent_fields(cls) -> dict[str, FieldInfo]:
        """What is worked on: the fields beside those that all jobs have."""
        common = WorkJob.model_fields
        return {name: field for name, field in cls.model_fields.items() if name not in common}

    @property
    def title(self) -> str:
        """What lists call it where it is sent without a name."""
        raise NotImplementedError


class _OfAQuestion(WorkJob):
    """With one question."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)

    _on_one_line = field_validator("question")(as_question)

    @property
    def title(self) -> str:
        return self.question


class AskJob(_OfAQuestion):
    """Answer a question from the literature in a few paragraphs: every sentence cites a paper and
    was checked against it, and what no paper answers is said to be not in what was found.
    """

    tool = "ask_literature"
    wait_seconds = 120.0
    command: Literal["ask"] = "ask"
    options: AskOptions


class SurveyJob(_OfAQuestion):
    """Survey the literature on a question, along references and citations: clusters, key papers
    with passages, and a review whose every statement is cited and checked.
    """

    tool = "survey_literature"
    command: Literal["survey"] = "survey"
    options: SurveyOptions


class CurateJob(WorkJob):
    """Make papers with their reviews into rated ideas: an idea without results, and reviewers'
    points as statements that lead back to their sentences.
    """

    tool = "curate_papers"
    not_offered = NOT_OF_SENT_PAPERS
    command: Literal["curate"] = "curate"
    papers: tuple[SentPaper, ...] = Field(min_length=1, max_length=MOST_PAPERS)
    options: CurateOptions

    _of_different_names = field_validator("papers")(check_papers)

    @property
    def title(self) -> str:
        return self.papers[0].paper_id


class CheckJob(WorkJob):
    """Look for critical problems in manuscripts: each with its place, the sentence that shows it
    and why it is a problem; with `review` every problem is looked at a second time.
    """

    tool = "check_manuscripts"
    not_offered = NOT_OF_SENT_MANUSCRIPTS
    command: Literal["check"] = "check"
    manuscripts: tuple[SentManuscript, ...] = Field(min_length=1, max_length=MOST_MANUSCRIPTS)
    options: CheckOptions

    _of_different_names = field_validator("manuscripts")(check_manuscripts)

    @property
    def title(self) -> str:
        return self.manuscripts[0].manuscript_id


class ExperimentJob(WorkJob):
    """Look for a better program for each task, in a sandbox without network: candidates are
    screened, the best is confirmed on fresh data, and no better one is a result too.
    """

    tool = "try_programs"
    command: Literal["experiment"] = "experiment"
    tasks: tuple[SentTask, ...] = Field(min_length=1, max_length=MOST_TASKS)
    options: ExperimentOptions

    _of_different_names = field_validator("tasks")(check_tasks)

    @property
    def title(self) -> str:
        return self.tasks[0].task_id


class WriteJob(WorkJob):
    """Put together a draft of an idea in which every number and citation has a source: a proposal,
    or a paper where experiments are named. It is refused where it says what nothing carries.
    """

    tool = "write_draft"
    not_offered = NOT_OF_A_DRAFT
    command: Literal["write"] = "write"
    idea: Annotated[str, Field(min_length=1, max_length=200)] | SentIdea = Field(
        description="The identifier of an idea of the lake, or an idea itself."
    )
    options: WriteOptions

    @property
    def title(self) -> str:
        return self.idea if isinstance(self.idea, str) else self.idea.name


class IdeateJob(WorkJob):
    """Make ideas of seeds, evaluate them, and revise them by what was found wanting, in rounds."""

    tool = "make_ideas"
    not_offered = OF_THE_MACHINE | {"field", "plans"}
    command: Literal["ideate"] = "ideate"
    seeds: tuple[str | SentIdea, ...] = Field(
        min_length=1,
        max_length=MOST_SEEDS,
        description="Topics, questions or ideas to improve: texts, or objects with the fields of an"
        " idea file.",
    )
    options: IdeateOptions

    @property
    def title(self) -> str:
        first = self.seeds[0]
        return first if isinstance(first, str) else first.name


class BenchmarkJob(WorkJob):
    """Measure how well a model with a profile judges ideas, by a suite of the literature: scores
    with intervals, next to what papers have published.
    """

    tool = "run_benchmark"
    not_offered = NOT_OF_A_BENCHMARK
    command: Literal["benchmark"] = "benchmark"
    suite: SuiteName = Field(description="Name of the suite.")
    options: BenchmarkOptions

    @property
    def title(self) -> str:
        return self.suite


class RankJob(_Request):
    """What `assay rank RUN` does for a published run."""

    not_offered = NOT_OF_A_RANKING
    command: Literal["rank"] = "rank"
    run_id: RunId
    options: RankOptions


JobRequest = EvaluateJob | PlanJob | RankJob | WorkJob
"""`options.warehouse` does not count: a job is done in the warehouse that holds its request."""

JOB_REQUEST: TypeAdapter[JobRequest] = TypeAdapter(
    Annotated[
        EvaluateJob
        | PlanJob
        | RankJob
        | AskJob
        | SurveyJob
        | CurateJob
        | CheckJob
        | ExperimentJob
        | WriteJob
        | IdeateJob
        | BenchmarkJob,
        Field(discriminator="command"),
    ]
)


class JobState(StrEnum):
    """How a job stands; one that is `waiting` goes on once people have decided."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self in (JobState.DONE, JobState.FAILED, JobState.STOPPED)


class JobStatus(Noun):
    """How far a job is."""

    state: JobState = JobState.QUEUED
    attempt_count: int = Field(default=0, ge=0, description="How often it was taken up.")
    started_at: datetime | None = Field(default=None, description="When it was first taken up.")
    finished_at: datetime | None = None
    exit_code: int | None = Field(
        default=None,
        description="As of the command: 0 done, 1 failures, 2 wrong usage, 3 budget reached, 4"
        " waits for people.",
    )
    last_word: str = Field(default="", description="Why it ended so, in one line.")
    run_id: RunId | None = Field(default=None, description="The run it published.")
    other_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Runs that it made on the way, such as evaluations and reviews."
    )

    @property
    def budget_reached(self) -> bool:
        """Whether it ended early because it may spend no more."""
        return self.exit_code == _BUDGET_REACHED


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
    literature = getattr(options, "literature", None)
    if literature is not None and literature not in offered.literatures.values():
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
        if options.project is not None and options.project not in offered.projects.values():
            raise ConfigurationError(
                "this project file is not offered here: add it to ASSAY_DASHBOARD__PROJECTS"
            )
    # `warehouse` does not count: a job is done in the warehouse that holds it.
    for name in sorted(request.not_offered & type(options).model_fields.keys() - {"warehouse"}):
        if getattr(options, name) != type(options).model_fields[name].default:
            raise ConfigurationError(f"{flag_of(name)} is not offered here: leave it out")
