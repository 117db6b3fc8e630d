"""Nouns of an experiment: a task, the programs tried on it, their executions,
and what they show.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
from schemas.calls import LlmCall
from schemas.failure import Failure
from schemas.outcome import Judged, Provenance, UnitUnscoredReason, UnscoredDetail, UnscoredReason


class Limits(Noun):
    """Bounds of one execution; whatever is exceeded ends it."""

    seconds: float = Field(default=60.0, gt=0, le=3_600, description="By the clock.")
    memory_bytes: int = Field(default=1 << 30, ge=64 << 20, le=64 << 30)
    scratch_bytes: int = Field(default=64 << 20, ge=1 << 20, le=8 << 30)
    answer_bytes: int = Field(default=16 << 20, ge=1_000, le=256 << 20)
    processes: int = Field(default=16, ge=4, le=256, description="Threads count as well.")

    @property
    def files(self) -> int:
        """Files that the scratch folder may hold: empty ones take memory of the kernel too."""
        return self.scratch_bytes // 4096


class Container(Noun):
    """The sandbox where it is a container and not bubblewrap."""

    runtime: str = Field(pattern="^(podman|docker)$")
    image: str = Field(pattern=r"^[A-Za-z0-9]\S*$", description="Holds python3, and not Assay.")


class Direction(StrEnum):
    """Direction in which a metric is better."""

    MINIMISE = "minimise"
    MAXIMISE = "maximise"

    @property
    def better(self) -> str:
        """In words."""
        return "less is better" if self is Direction.MINIMISE else "more is better"


class Trials(Noun):
    """Numbers of programs that are tried, and of runs of each."""

    candidates: int = Field(default=30, ge=1, le=2_000, description="Proposals, repeated ones too.")
    screening: int = Field(default=3, ge=1, le=50, description="Small runs of every candidate.")
    selection: int = Field(default=6, ge=5, le=100, description="Full runs of those that pass.")
    confirmation: int = Field(default=10, ge=5, le=200, description="Full runs on fresh data.")


class Task(Noun):
    """Task as `task.toml` describes it."""

    question: str = Field(min_length=1, max_length=4_000)
    metric: str = Field(min_length=1, max_length=100, description="Name of what `score` returns.")
    direction: Direction
    explanation: str = Field(
        default="",
        max_length=2_000,
        description=(
            "What the metric is relative to and what programs are given, as models are told."
        ),
    )
    least_difference: float = Field(
        gt=0, description="Smallest difference of the metric that would be worth having."
    )
    chance: float | None = Field(
        default=None,
        description="What a program reaches that knows nothing; None: labels are not permuted.",
    )
    trials: Trials = Trials()
    limits: Limits = Limits()


class KnownWork(Noun):
    """A work beside the idea of a task, under the key by which proposals name it."""

    key: str = Field(min_length=1, max_length=80)
    title: str = Field(min_length=1, max_length=500)
    said: str = Field(
        default="", max_length=2_000, description="What is taken from it: a sentence or two."
    )


class KnownIdea(Noun):
    """Idea of a task as its `idea.json` describes it."""

    idea_id: str = Field(min_length=1, max_length=200)
    run_id: str = Field(default="", description="The run that evaluated it; empty: none did.")
    text: str = Field(min_length=1, max_length=20_000)
    concerns: tuple[Annotated[str, Field(min_length=1, max_length=2_000)], ...] = Field(
        default=(), max_length=20, description="What was objected to it."
    )
    works: tuple[KnownWork, ...] = Field(default=(), max_length=20, description="Nearest first.")


class Role(StrEnum):
    """Role of a program in an experiment."""

    PARENT = "parent"
    BASELINE = "baseline"
    CANDIDATE = "candidate"


class Aim(StrEnum):
    """Aim of a proposal."""

    REFINE = "refine"
    OTHER_WAY = "other_way"
    KNOWN_METHOD = "known_method"
    COMBINE = "combine"


class Fate(StrEnum):
    """Fate of a candidate. A refused proposal could not be applied, and is no program."""

    REFUSED = "refused"
    REPEATED = "repeated"
    FAILED = "failed"
    SCREENED_OUT = "screened_out"
    COMPARED = "compared"
    CONFIRMED = "confirmed"


class Stage(StrEnum):
    """Stage of an execution. Each stage has seeds and data of its own."""

    SCREENING = "screening"
    SELECTION = "selection"
    CONFIRMATION = "confirmation"
    PERMUTED = "permuted"


class Finding(StrEnum):
    """Finding that the figures allow within the task."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    UNDECIDED = "undecided"


class Execution(Judged):
    """One run of one program on one set of data."""

    JUDGEMENT = ("value",)

    program_id: str = Field(description="The program; a row of `programs`.")
    stage: Stage = Field(description="What the run is for.")
    replicate: int = Field(
        ge=0, description="Which data of the stage: equal numbers, equal data and equal seed."
    )
    seed: int = Field(ge=0, description="Seed that the program was given.")
    value: float | None = Field(
        description="The metric, as computed outside the program's sandbox."
    )
    measures: Annotated[dict[str, float], Stored()] = Field(
        default={}, description="Whatever else was scored, by name, as a JSON object."
    )
    wall_seconds: float = Field(ge=0, description="Time the program took by the clock.")
    memory_bytes: Annotated[int, Stored(unit="bytes")] | None = Field(
        ge=0, description="Most memory seen in use; None: none was seen."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""


class Program(Noun):
    """One program of an experiment."""

    program_id: str = Field(
        min_length=1, description="parent, the name of a baseline, or c001, c002, … as proposed."
    )
    role: Role = Field(description="What it is in the experiment.")
    parent_program_id: str | None = Field(
        default=None, description="The program it was made from; None: it was given."
    )
    proposed_by: str | None = Field(
        default=None, description="Engine that proposed it; None: it was given."
    )
    aim: Aim | None = Field(
        default=None, description="What a model was asked for; None: no model was asked."
    )
    rationale: Prose = Field(
        default="", description="What the model says that it changed, and why that should help."
    )
    borrowed_from: str | None = Field(
        default=None,
        description="Key of the work that the model says it borrows from; None: of none shown.",
    )
    settings: dict[str, str] = Field(
        default={},
        description="Value of each tunable name: of the parent, and where values alone were chosen.",
    )
    source: Prose = Field(description="The program; empty: the proposal was refused.")
    patch: Prose = Field(
        default="",
        description="From the program it was made from, as a unified diff; empty: it was given or"
        " refused.",
    )
    source_sha256: Annotated[str, Stored(may_be_empty=True)] = Field(
        description="Hash over its syntax tree; empty: the proposal was refused."
    )
    refusal: str = Field(
        default="", description="Why the proposal could not be applied, in a line; empty: it could."
    )
    lesson: Prose = Field(
        default="",
        description="What those that come after it are told to do or to avoid; empty: nothing.",
    )
    fate: Fate | None = Field(default=None, description="How far it came; None: it was given.")
    mean: float | None = Field(
        default=None,
        description=(
            "Mean of the metric over the runs of the last stage it came to; None: it has none."
        ),
    )
    run_count: int = Field(default=0, ge=0, description="Runs that the mean is over.")
    gain: float | None = Field(
        default=None,
        description="Mean by which it is better than the parent on the same data; None: not known.",
    )
    gain_low: float | None = Field(default=None, description="Lower end of the gain's interval.")
    gain_high: float | None = Field(default=None, description="Upper end of the gain's interval.")
    compared_with: int = Field(
        default=1,
        ge=1,
        description="Comparisons that the interval is corrected for, by Bonferroni; 1: it is not.",
    )


class Experiment(Judged):
    """Experiment on one task, with all that came of it."""

    JUDGEMENT = ("finding",)

    task_id: str = Field(min_length=1, description="Name of the task's folder.")
    content_sha256: str = Field(description="Hash over the task's files.")
    question: Prose = Field(description="What is asked.")
    metric: str = Field(description="What is measured.")
    direction: Direction = Field(description="Which way the metric is better.")
    explanation: Prose = Field(
        default="", description="What the metric is relative to; empty: the task does not say."
    )
    least_difference: float = Field(gt=0, description="Smallest difference worth having.")
    environment: str = Field(description="Interpreter and libraries of the executions.")
    idea_id: str | None = Field(
        default=None, description="The idea that is tried; None: the task names none."
    )
    idea_text: Prose = Field(default="", description="Its text; empty: the task names none.")
    idea_concerns: tuple[str, ...] = Field(
        default=(), description="What was objected to it before it was tried."
    )
    proposed_count: int = Field(ge=0, description="Candidates proposed.")
    tried_count: int = Field(ge=0, description="Of those, candidates that were run.")
    failed_count: int = Field(ge=0, description="Of those, candidates that gave no score.")
    best_program_id: str | None = Field(
        default=None, description="The candidate that was confirmed; None: there was none."
    )
    selected_gain: float | None = Field(
        default=None, description="Its mean gain on the data it was chosen by; None: there is none."
    )
    selected_low: float | None = Field(
        default=None, description="Lower end of that gain's interval, corrected for all tried."
    )
    selected_high: float | None = Field(
        default=None, description="Upper end of that gain's interval, corrected for all tried."
    )
    baseline_id: str | None = Field(
        default=None,
        description="The baseline with the best mean on fresh data; None: there is none.",
    )
    baseline_gain: float | None = Field(
        default=None, description="Mean by which the best candidate is better than that baseline."
    )
    baseline_low: float | None = Field(
        default=None, description="Lower end of that gain's interval at 95 %."
    )
    baseline_high: float | None = Field(
        default=None, description="Upper end of that gain's interval at 95 %."
    )
    permuted_mean: float | None = Field(
        default=None, description="Its mean with permuted labels; None: labels were not permuted."
    )
    finding: Finding | None = Field(
        description="What the figures allow to be said; None: no figures."
    )
    because: Prose = Field(default="", description="Why this and no other, in a sentence.")
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    programs: tuple[Program, ...] = ()
    executions: tuple[Execution, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    provenance: Provenance | None = Field(
        default=None, description="What proposed programs; None where nothing was tried."
    )
