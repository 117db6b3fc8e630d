"""Nouns of an experiment: task, programs, executions and findings."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.calls import LlmCall
from schemas.failure import Failure
from schemas.outcome import Judged, Provenance, UnitUnscoredReason, UnscoredDetail, UnscoredReason


class Limits(Noun):
    """Limits of one execution; exceeding one ends it."""

    seconds: float = Field(default=60.0, gt=0, le=3_600, description="Wall-clock time.")
    memory_bytes: int = Field(default=1 << 30, ge=64 << 20, le=64 << 30)
    scratch_bytes: int = Field(default=64 << 20, ge=1 << 20, le=8 << 30)
    answer_bytes: int = Field(default=16 << 20, ge=1_000, le=256 << 20)
    processes: int = Field(default=16, ge=4, le=256, description="Including threads.")

    @property
    def files(self) -> int:
        """Maximum files of the scratch folder: empty ones take kernel memory too."""
        return self.scratch_bytes // 4096


class Container(Noun):
    """Container used as the sandbox instead of bubblewrap."""

    runtime: str = Field(pattern="^(podman|docker)$")
    image: str = Field(pattern=r"^[A-Za-z0-9]\S*$", description="With python3, without Assay.")


class Direction(StrEnum):
    """Direction of improvement of a metric."""

    MINIMISE = "minimise"
    MAXIMISE = "maximise"

    @property
    def better(self) -> str:
        """The direction in words."""
        return "less is better" if self is Direction.MINIMISE else "more is better"


class Trials(Noun):
    """Numbers of candidate programs, and of runs of each."""

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
        description=("Reference of the metric and inputs of programs, for the prompts of models."),
    )
    least_difference: float = Field(gt=0, description="Smallest relevant difference of the metric.")
    chance: float | None = Field(
        default=None,
        description="Chance level of the metric; None: labels are not permuted.",
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
    """Idea of a task, from its `idea.json`."""

    idea_id: str = Field(min_length=1, max_length=200)
    run_id: str = Field(default="", description="The run that evaluated it; empty: none.")
    text: str = Field(min_length=1, max_length=20_000)
    concerns: tuple[Annotated[str, Field(min_length=1, max_length=2_000)], ...] = Field(
        default=(), max_length=20, description="Concerns about it."
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
    """Result of a candidate; a refused proposal could not be applied."""

    REFUSED = "refused"
    REPEATED = "repeated"
    FAILED = "failed"
    SCREENED_OUT = "screened_out"
    COMPARED = "compared"
    CONFIRMED = "confirmed"


class Stage(StrEnum):
    """Stage of an execution, with separate seeds and data."""

    SCREENING = "screening"
    SELECTION = "selection"
    CONFIRMATION = "confirmation"
    PERMUTED = "permuted"


class Finding(StrEnum):
    """Conclusion of an experiment, valid within its task."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    UNDECIDED = "undecided"


class Execution(Judged):
    """One run of one program on one set of data."""

    JUDGEMENT = ("value",)

    program_id: str = Field(description="The program; a row of `programs`.")
    stage: Stage = Field(description="Stage of the run.")
    replicate: int = Field(
        ge=0, description="Number of the data of the stage: equal numbers, equal data and seed."
    )
    seed: int = Field(ge=0, description="Seed of the program.")
    value: float | None = Field(
        description="The metric, computed outside the sandbox; None when unscored."
    )
    measures: Annotated[dict[str, float], ColumnInfo()] = Field(
        default={}, description="Other measures by name, as a JSON object."
    )
    wall_seconds: float = Field(ge=0, description="Wall-clock time of the program.")
    memory_bytes: Annotated[int, ColumnInfo(unit="bytes")] | None = Field(
        ge=0, description="Peak memory; None: not measured."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""


class Program(Noun):
    """One program of an experiment."""

    program_id: str = Field(
        min_length=1, description="parent, the name of a baseline, or c001, c002, … as proposed."
    )
    role: Role = Field(description="Role in the experiment.")
    parent_program_id: str | None = Field(
        default=None, description="The program it was derived from; None: part of the task."
    )
    proposed_by: str | None = Field(
        default=None, description="Engine that proposed it; None: part of the task."
    )
    aim: Aim | None = Field(
        default=None, description="Aim requested from the model; None: no model."
    )
    rationale: Prose = Field(
        default="", description="The model's explanation of the change and its expected effect."
    )
    borrowed_from: str | None = Field(
        default=None,
        description="Key of the work that the model borrows from; None: none of those shown.",
    )
    settings: dict[str, str] = Field(
        default={},
        description="Values of tunable names: of the parent, and if only values were changed.",
    )
    source: Prose = Field(description="The program; empty: the proposal was refused.")
    patch: Prose = Field(
        default="",
        description="Unified diff to its parent; empty: part of the task, or refused.",
    )
    source_sha256: Annotated[str, ColumnInfo(may_be_empty=True)] = Field(
        description="Hash over its syntax tree; empty: the proposal was refused."
    )
    refusal: str = Field(
        default="", description="Why the proposal could not be applied, in a line; empty: applied."
    )
    lesson: Prose = Field(
        default="",
        description="Lesson for later proposals; empty: none.",
    )
    fate: Fate | None = Field(default=None, description="Result; None: part of the task.")
    mean: float | None = Field(
        default=None,
        description="Mean of the metric over the runs of its last stage; None: no runs.",
    )
    run_count: int = Field(default=0, ge=0, description="Number of runs of the mean.")
    gain: float | None = Field(
        default=None,
        description="Mean improvement over the parent on the same data; None: unknown.",
    )
    gain_low: float | None = Field(default=None, description="Lower end of the gain's interval.")
    gain_high: float | None = Field(default=None, description="Upper end of the gain's interval.")
    compared_with: int = Field(
        default=1,
        ge=1,
        description="Number of comparisons in the Bonferroni correction of the interval; 1: none.",
    )


class Experiment(Judged):
    """Experiment on one task, with its results."""

    JUDGEMENT = ("finding",)

    task_id: str = Field(min_length=1, description="Name of the task's folder.")
    content_sha256: str = Field(description="Hash over the task's files.")
    question: Prose = Field(description="Question of the task.")
    metric: str = Field(description="Name of the metric.")
    direction: Direction = Field(description="Direction of improvement of the metric.")
    explanation: Prose = Field(
        default="", description="Reference of the metric; empty: not stated."
    )
    least_difference: float = Field(gt=0, description="Smallest relevant difference.")
    environment: str = Field(description="Interpreter and libraries of the executions.")
    idea_id: str | None = Field(
        default=None, description="The idea that is tried; None: the task names none."
    )
    idea_text: Prose = Field(default="", description="Its text; empty: the task names none.")
    idea_concerns: tuple[str, ...] = Field(
        default=(), description="Concerns about the idea before the experiment."
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
        default=None, description="Mean improvement of the best candidate over that baseline."
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
    finding: Finding | None = Field(description="Conclusion; None: no results.")
    because: Prose = Field(default="", description="Reason of the conclusion, in a sentence.")
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    programs: tuple[Program, ...] = ()
    executions: tuple[Execution, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    provenance: Provenance | None = Field(
        default=None, description="Of the proposals; None if nothing was tried."
    )

    @property
    def side_by_side(self) -> tuple[Program, ...]:
        """Parent, baselines and the best candidate, if they ran on fresh data."""
        return tuple(
            each
            for each in self.programs
            if (each.role is not Role.CANDIDATE or each.fate is Fate.CONFIRMED) and each.run_count
        )
