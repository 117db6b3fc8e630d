"""Kind of work `experiment`: jobs, options, requests and heads of experiments."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from schemas.base import Noun
from schemas.formats import SentName, check_different
from schemas.options.commands import DeclaredOptions
from schemas.options.values import option
from schemas.people.ledger import Artefact
from schemas.people.work_job import WorkJob
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.work_schema import WorkSchema, tables_of_unit
from schemas.works.experiment import Container, Execution, Experiment, Program

MOST_TASKS = 20
_MOST_SENT_FILES = 50


class SentTask(BaseModel):
    """Submitted task, as the files of its folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: SentName = Field(description="Name of the folder.")
    task: str = Field(min_length=1, description="`task.toml`: question, metric, trials, limits.")
    program: str = Field(min_length=1, description="`program.py`: the program to improve.")
    evaluate: str = Field(min_length=1, description="`evaluate.py`: makes data, scores answers.")
    baselines: dict[SentName, str] = Field(
        default_factory=dict, max_length=_MOST_SENT_FILES, description="Programs by name."
    )
    data: dict[SentName, str] = Field(
        default_factory=dict,
        max_length=_MOST_SENT_FILES,
        description="Texts by name, for `evaluate.py` alone.",
    )

    @property
    def name(self) -> str:
        """Return the name for lists."""
        return self.task_id


def check_tasks(tasks: tuple[SentTask, ...]) -> tuple[SentTask, ...]:
    """Raise ConfigurationError if names of tasks collide as folder names."""
    check_different("tasks", [each.task_id for each in tasks])
    return tasks


class TaskSource(Noun):
    """Task of an experiment, with its folder."""

    task_id: str = Field(min_length=1)
    folder: Path
    content_sha256: str = Field(description="Hash over its files.")


class ExperimentParameters(Noun):
    """Parameters of an experiment."""

    method_version: int = Field(description="Version of the search.")
    container: Container | None = Field(
        default=None, description="Sandbox of programs; None: bubblewrap."
    )


ExperimentRequest = Request[TaskSource, ExperimentParameters]


class ExperimentHead(WorkHead):
    """One run of experiments by one engine."""

    seed: int = Field(ge=0, description="Seed of the search, and of the data of every execution.")
    task_count: int = Field(ge=0, description="Tasks.")
    incomplete_reason: EndedEarly = None


class ExperimentOptions(DeclaredOptions):
    """Options of `assay experiment run`."""

    seed: int = option(
        0, "N", "Seed; another one repeats the search on other data.", ge=0, le=2_147_483_647
    )
    max_cost_usd_per_task: float | None = option(
        None, "X", "Stop the search of a task at this cost.", ge=0
    )


class ExperimentJob(WorkJob):
    """Look for a better program for each task, in a sandbox without network: candidates are
    screened, the best is confirmed on fresh data, and no better one is a result too.
    """

    tool = "try_programs"
    command: Literal["experiment"] = "experiment"
    tasks: tuple[SentTask, ...] = Field(min_length=1, max_length=MOST_TASKS)
    options: ExperimentOptions

    _of_different_names = field_validator("tasks")(check_tasks)


_of_task = tables_of_unit(Experiment, "task_id")
EXPERIMENTS = WorkSchema(
    noun=Experiment,
    head=ExperimentHead,
    tables=(
        _of_task("experiments", Experiment),
        _of_task("programs", Program, "program_id"),
        _of_task("executions", Execution, "program_id", "stage", "replicate"),
    ),
    artefact=Artefact.EXPERIMENT,
)
