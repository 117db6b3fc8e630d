"""Experiments: their declaration, and how one task is landed.

landing/experiment=<run>/task=<name>/<table>.parquet, receipt.json
landing/experiment=<run>/experiment.json
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from schemas.base import Noun
from schemas.experiment import Experiment
from schemas.experiment_run import ExperimentHead, ExperimentReceipt
from schemas.identifiers import RunId
from schemas.ledger import Artefact
from schemas.reasons import Reason, first_that_may_pass
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import landing
from warehouse.units.kind import Given, Kind

EXPERIMENTS = Kind(
    folders={"experiment": "run_id"},
    unit=("task", "task_id"),
    receipt=ExperimentReceipt,
    head=ExperimentHead,
    head_table="experiment_runs",
    has_head_file=True,
    tables=("experiments", "programs", "executions", "llm_calls", "failures"),
    checks=("experiment_checks", "experiments"),
    artefact=(Artefact.EXPERIMENT, "task_id"),
    given=Given("task", "experiments", ("content_sha256",)),
    remedy="remove its folder to experiment anew",
    publish_again="run the experiment again",
)


def land_experiment(
    layout: Layout,
    run_id: RunId,
    experiment: Experiment,
    started_at: datetime,
    finished_at: datetime,
) -> ExperimentReceipt:
    """Write all that one task gave. Afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    receipt = ExperimentReceipt(
        run_id=run_id,
        task_id=experiment.task_id,
        incomplete_reason=first_that_may_pass(_reasons(experiment)),
        started_at=started_at,
        finished_at=finished_at,
    )
    return landing.land(layout, EXPERIMENTS, rows_of_experiment(run_id, experiment), receipt)


def _reasons(experiment: Experiment) -> Iterator[Reason | None]:
    yield experiment.unscored_reason
    yield from (failure.reason for failure in experiment.failures)


def rows_of_experiment(run_id: RunId, experiment: Experiment) -> Rows:
    """Every row of an experiment by table name; tables without rows are left out."""
    known: Row = {
        "run_id": run_id,
        "task_id": experiment.task_id,
        "idea_id": experiment.task_id,
        "recorded_by": "experiments",
    }
    return {
        name: [
            row_of(TABLE[name], noun, known | {"position": position})
            for position, noun in enumerate(nouns)
        ]
        for name, nouns in _nouns(experiment).items()
        if nouns
    }


def _nouns(experiment: Experiment) -> dict[str, Sequence[Noun]]:
    return {
        "experiments": (experiment,),
        "programs": experiment.programs,
        "executions": experiment.executions,
        "llm_calls": experiment.llm_calls,
        "failures": experiment.failures,
    }
