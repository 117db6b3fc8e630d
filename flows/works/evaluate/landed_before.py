"""Look-up of what earlier runs have done of a request, for plans."""

from flows.works.evaluate.plan import KeyedBatch, key_batch, receipts_of
from schemas.calls import CallStatus
from schemas.choices import LiteratureChoice
from schemas.idea import IdeaBatch
from schemas.judgement.evaluation import Receipt
from schemas.judgement.run_request import RunRequest
from schemas.settings import Settings
from schemas.tables import TABLE
from tasks.evaluation.expected import NOTHING_DONE, DoneBefore
from tasks.literature.gateway.process import literature_identity
from tasks.literature.gateway.upstreams import identity_of
from tasks.literature.snapshot.build import index_of_file
from tasks.literature.snapshot.folder import MANIFEST_NAME
from warehouse.kinds.rankings.queries import whole_ranking
from warehouse.kinds.runs.landing import RUNS
from warehouse.landed import read_rows
from warehouse.progress import read_planned
from warehouse.units.landing import landed_files
from warehouse.warehouse import Warehouse


def landed_before(batch: IdeaBatch, request: RunRequest, settings: Settings) -> DoneBefore:
    """Return what the warehouse holds of a request; no model and no source is asked.

    A warehouse in object storage is asked for units that this machine does not have.

    Raises:
        ConfigurationError: no gateway answers at the URL of the literature.
        SnapshotError: the snapshot is missing, empty or broken.
        UpstreamError: PostgreSQL or object storage cannot be reached.
    """
    warehouse = Warehouse(request.warehouse, settings)
    # The second is there and the first is not when a run was stopped before anything landed.
    folders = (warehouse.receipts, warehouse.state / "runs")
    if warehouse.objects is None and not any(folder.is_dir() for folder in folders):
        return NOTHING_DONE
    literature = _literature(request.literature, settings)
    if literature is None:
        return NOTHING_DONE
    keyed = key_batch(batch, request, settings, literature)
    receipts = receipts_of(keyed, warehouse)
    evaluated = sum(receipt.complete for receipt in receipts.values())
    begun = read_planned(warehouse, keyed.run_id) is not None
    return DoneBefore(
        evaluated=evaluated,
        replies=tuple(_replies(warehouse, each) for each in receipts.values() if not each.complete),
        interrupted=len(keyed.planned) - len(receipts) if begun else 0,
        ranked=evaluated == len(keyed.planned) and _is_ranked(keyed, request, warehouse),
    )


def _literature(literature: LiteratureChoice, settings: Settings) -> str | None:
    """Return the identity of the literature; None: its index is not built."""
    if literature.url is not None:
        return literature_identity(literature.url)
    snapshot = literature.snapshot
    if snapshot is not None and not snapshot.is_dir():
        # Indexing takes minutes, and a file without an index was never evaluated against.
        index = index_of_file(snapshot, settings.home)
        if not (index / MANIFEST_NAME).is_file():
            return None
        literature = literature.at(index)
    return identity_of(literature, settings)


def _replies(warehouse: Warehouse, receipt: Receipt) -> int:
    """Count the replies that an evaluation which ended early has paid for."""
    table = TABLE["llm_calls"]
    files = landed_files(warehouse, RUNS, table, [receipt])
    return sum(row["status"] == CallStatus.OK for path in files for row in read_rows(table, path))


def _is_ranked(keyed: KeyedBatch, request: RunRequest, warehouse: Warehouse) -> bool:
    if not warehouse.may_hold_a_lake():
        return False
    with warehouse.queries() as queries:
        if keyed.run_id not in {run.run_id for run in queries.list_runs()}:
            return False
        engine, profile = request.engine.text, request.profile.name
        return whole_ranking(queries, keyed.run_id, engine, profile) is not None
