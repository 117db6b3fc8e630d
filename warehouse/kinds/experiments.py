"""Experiments: their declaration, and how one task is landed.

landing/experiment=<run>/task=<name>/<table>.parquet, receipt.json
landing/experiment=<run>/experiment.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.works.experiment import Experiment
from schemas.works.experiment_run import ExperimentHead
from warehouse.units.kind import Given, Kind
from warehouse.units.record import UnitRecord

EXPERIMENTS = Kind(
    folders={"experiment": "run_id"},
    unit=("task", "task_id"),
    receipt=UnitReceipt,
    head=ExperimentHead,
    head_table="experiment_runs",
    has_head_file=True,
    tables=("experiments", "programs", "executions", "llm_calls", "failures"),
    checks=("experiment_checks", "experiments"),
    artefact=(Artefact.EXPERIMENT, "task_id"),
    given=Given("task", "experiments", ("content_sha256",)),
)


def _reasons(experiment: Experiment) -> Iterator[Reason | None]:
    yield experiment.unscored_reason
    yield from (failure.reason for failure in experiment.failures)


EXPERIMENT_RECORD = UnitRecord(
    kind=EXPERIMENTS,
    noun=Experiment,
    recorded_by="experiments",
    reasons=_reasons,
)
