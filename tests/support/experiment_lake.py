"""A small experiment, as it is landed."""

from datetime import UTC, datetime

from schemas.identifiers import RunId
from schemas.outcome import Provenance
from schemas.reasons import Reason
from schemas.works.experiment import (
    Direction,
    Execution,
    Experiment,
    Fate,
    Finding,
    Program,
    Role,
    Stage,
)
from schemas.works.experiment_run import EXPERIMENTS, ExperimentHead
from tests.support.lakes import made, publish_units
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

EXPERIMENT = RunId("experiment-a")
SOURCE = "STEP = 1  # tunable: 1..9\n\n\ndef solve(given, seed):\n    return STEP\n"
SEARCHED = Provenance(
    step="search_programs",
    step_version=1,
    prompt_sha256="ab" * 32,
    engine="extractive",
    model_requested="extractive",
    model_answered="extractive",
    seed=0,
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
)
VALUES = {"parent": 0.4, "known": 0.3, "c001": 0.2}


def _executions() -> tuple[Execution, ...]:
    scored = [
        Execution(
            program_id=name,
            stage=Stage.CONFIRMATION,
            replicate=replicate,
            seed=replicate,
            value=value,
            measures={"error_in_10_dimensions": value / 2},
            wall_seconds=0.5,
            memory_bytes=20_000_000,
        )
        for name, value in VALUES.items()
        for replicate in range(5)
    ]
    lost = Execution(
        program_id="c002",
        stage=Stage.SCREENING,
        replicate=0,
        seed=0,
        value=None,
        wall_seconds=1.0,
        memory_bytes=1_000_000,
        unscored_reason=Reason.PROGRAM_FAILED,
        unscored_detail="ZeroDivisionError: division by zero",
    )
    return (*scored, lost)


def make_experiment(task_id: str = "task-0") -> Experiment:
    """The best of two candidates is better than the parent; the other one fails."""
    parent = Program(
        program_id="parent",
        role=Role.PARENT,
        source=SOURCE,
        source_sha256="01" * 32,
        mean=0.4,
        run_count=5,
    )
    known = Program(
        program_id="known",
        role=Role.BASELINE,
        source=SOURCE,
        source_sha256="02" * 32,
        mean=0.3,
        run_count=5,
        gain=0.1,
        gain_low=0.05,
        gain_high=0.15,
    )
    best = Program(
        program_id="c001",
        role=Role.CANDIDATE,
        parent_program_id="parent",
        settings={"STEP": "4"},
        source=SOURCE.replace("STEP = 1", "STEP = 4"),
        source_sha256="03" * 32,
        fate=Fate.CONFIRMED,
        mean=0.2,
        run_count=5,
        gain=0.2,
        gain_low=0.1,
        gain_high=0.3,
    )
    failed = Program(
        program_id="c002",
        role=Role.CANDIDATE,
        parent_program_id="parent",
        settings={"STEP": "9"},
        source=SOURCE.replace("STEP = 1", "STEP = 9"),
        source_sha256="04" * 32,
        fate=Fate.FAILED,
    )
    return Experiment(
        task_id=task_id,
        content_sha256="cd" * 32,
        question="Is four steps better?",
        metric="error",
        direction=Direction.MINIMISE,
        least_difference=0.05,
        environment="Python 3.11.7 on Linux x86_64",
        proposed_count=2,
        tried_count=2,
        failed_count=1,
        best_program_id="c001",
        selected_gain=0.2,
        selected_low=0.05,
        selected_high=0.35,
        baseline_id="known",
        baseline_gain=0.1,
        baseline_low=0.02,
        baseline_high=0.18,
        finding=Finding.SUPPORTED,
        because="chosen and confirmed on different data, both intervals lie above 0",
        programs=(parent, known, best, failed),
        executions=_executions(),
        provenance=SEARCHED,
    )


def make_experiment_head(task_count: int = 2) -> ExperimentHead:
    return made(ExperimentHead, run_id=EXPERIMENT, engine="extractive", task_count=task_count)


def publish_experiment(warehouse: Warehouse, *experiments: Experiment) -> RunId:
    """A published run of these experiments."""
    head = make_experiment_head(len(experiments))
    return publish_units(warehouse, kind_of(EXPERIMENTS), head, *experiments)
