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
from warehouse.units.kind import Kind


def _reasons(experiment: Experiment) -> Iterator[Reason | None]:
    yield experiment.unscored_reason
    yield from (failure.reason for failure in experiment.failures)


EXPERIMENTS = Kind(
    folders={"experiment": "run_id"},
    unit=("task", "task_id"),
    noun=Experiment,
    head=ExperimentHead,
    receipt=UnitReceipt,
    tables=("experiments", "programs", "executions", "llm_calls", "failures"),
    artefact=Artefact.EXPERIMENT,
    given=("content_sha256",),
    reasons=_reasons,
)
