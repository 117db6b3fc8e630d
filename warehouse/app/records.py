"""Records of people and programs, stored in the services' database and copied to the lake.

All tables of `SERVICE_TABLES` are recorded this way. A committed record survives the death of the
process. The publisher copies the records that the lake lacks, by key, so that a kill neither loses
nor duplicates any.
"""

from functools import singledispatch

from schemas.base import Noun
from schemas.columns import Table
from schemas.errors import ConflictError
from schemas.identifiers import content_hash
from schemas.people.decisions import Decision, Request
from schemas.people.ledger import Artefact, CreditRole, LedgerAction, LedgerEntry
from schemas.people.votes import HumanVote
from schemas.tables import SERVICE_TABLES, TABLE
from schemas.works.curation_edit import CurationEdit
from warehouse.app.database import NounT, ServiceDatabase, Statements, Transaction, services_file
from warehouse.catalogue.connection import Connection
from warehouse.catalogue.definitions import apply_definitions
from warehouse.lake import insert, transaction
from warehouse.ledger import append, record_head
from warehouse.parquet import arrow_table
from warehouse.rows import row_of
from warehouse.statements import table_statement
from warehouse.warehouse import Warehouse

_ROWS_AT_ONCE = 10_000


def record(work: Transaction, table: str, noun: Noun) -> None:
    """Add a row to one of `SERVICE_TABLES`; durable once `work` is committed.

    Raises:
        ConflictError: the table has a row with this key.
    """
    key, document = getattr(noun, key_of(TABLE[table])), noun.model_dump_json()
    try:
        work.add("records", table_name=table, record_id=key, record=document)
    except ConflictError as error:
        message = f"{table} has a row of this name already: each is written once"
        raise ConflictError(message) from error


def records_of(source: Statements, table: str, kind: type[NounT]) -> list[NounT]:
    """Return all rows of a table, in order of recording."""
    return source.nouns(kind, "records", "record", order="position", table_name=table)


def record_by_key(source: Statements, table: str, key: str, kind: type[NounT]) -> NounT | None:
    """Return the row of a table with this key; None if there is none."""
    return source.noun(kind, "records", "record", table_name=table, record_id=key)


def recorded_documents(database: ServiceDatabase, table: str) -> list[tuple[str, str]]:
    """Return keys and JSON of a table's rows, in order of recording."""
    rows = database.rows("records", "record_id", "record", order="position", table_name=table)
    return [(key, document) for key, document in rows]


def fold_into_lake(warehouse: Warehouse, *, wait_seconds: float = 60.0) -> dict[str, int]:
    """Copy new records into the lake, which is created if missing; return rows by table.

    Raises:
        TransientError: another publisher holds the lock.
        ConfigurationError: the catalogue or the services' database cannot be read.
    """
    with warehouse.publisher(wait_seconds=wait_seconds) as connection:
        with transaction(connection, "what was recorded"):
            apply_definitions(connection)
        return fold(connection, warehouse)


def fold(connection: Connection, warehouse: Warehouse) -> dict[str, int]:
    """Copy new records as the publisher, whose lake has all tables."""
    if not services_file(warehouse).exists():
        return {}
    new_records: dict[Table, list[str]] = {}
    with ServiceDatabase(warehouse) as database:
        for table in SERVICE_TABLES:
            if rows := recorded_documents(database, table.name):
                parts = {"table": table.name, "columns": f'"{key_of(table)}"', "condition": "true"}
                sql = table_statement("published_names", **parts)
                lake_keys = {key for (key,) in connection.execute(sql).fetchall()}
                new_records[table] = [document for key, document in rows if key not in lake_keys]
    counts = {table.name: len(each) for table, each in new_records.items() if each}
    if counts:
        with transaction(connection, "what was recorded"):
            for table, documents in new_records.items():
                nouns = [read_record(table.name, document) for document in documents]
                for start in range(0, len(nouns), _ROWS_AT_ONCE):
                    part = nouns[start : start + _ROWS_AT_ONCE]
                    rows_of_part = [row_of(table, noun, {}) for noun in part]
                    insert(connection, table, arrow_table(table, rows_of_part))
                if nouns:
                    append(connection, [entry_of(noun) for noun in nouns])
        record_head(connection, warehouse)
    return counts


def read_record(table: str, document: str) -> Noun:
    return TABLE[table].noun.model_validate_json(document)


def key_of(table: Table) -> str:
    """Return the one key column of a table."""
    (name,) = table.key
    return name


@singledispatch
def entry_of(noun: Noun) -> LedgerEntry:
    """Return the ledger entry of a record. Raises TypeError for another noun."""
    raise TypeError(f"the ledger has no entry for {type(noun).__name__}")


@entry_of.register
def _of_request(request: Request) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.DECISION,
        run_id=request.run_id,
        unit_id=request.unit_id,
        part=request.stage or "",
        action=LedgerAction.REQUESTED,
        version_sha256=content_hash(request.model_dump_json()),
        inputs=(f"version:{request.version_sha256}",),
        participant_id=request.asked_by,
        role=None,
        step=None,
        happened_at=request.requested_at,
    )


@entry_of.register
def _of_decision(decision: Decision) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.DECISION,
        run_id=decision.run_id,
        unit_id=decision.unit_id,
        part=decision.stage or "",
        action=LedgerAction(decision.verdict),
        version_sha256=content_hash(decision.model_dump_json()),
        inputs=(f"request:{decision.request_id}", f"version:{decision.version_sha256}"),
        participant_id=decision.participant_id,
        role=decision.role,
        step=None,
        reason_sha256=decision.reason_sha256,
        happened_at=decision.decided_at,
    )


@entry_of.register
def _of_vote(vote: HumanVote) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.RANKING,
        run_id=vote.run_id,
        unit_id=vote.group,
        part=vote.track,
        action=LedgerAction.VOTED,
        version_sha256=content_hash(vote.model_dump_json(exclude={"reason"})),
        inputs=(f"first:{vote.first_id}", f"second:{vote.second_id}"),
        participant_id=vote.voter,
        role=CreditRole.VALIDATION,
        step=None,
        happened_at=vote.voted_at,
    )


@entry_of.register
def _of_edit(edit: CurationEdit) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.DATA_SET,
        run_id=edit.run_id,
        unit_id=edit.paper_id,
        part=edit.field,
        action=LedgerAction.EDITED,
        version_sha256=content_hash(edit.model_dump_json()),
        inputs=(f"statement:{edit.statement_id}",) if edit.statement_id else (),
        participant_id=edit.editor,
        role=CreditRole.DATA_CURATION,
        step=None,
        happened_at=edit.edited_at,
    )
