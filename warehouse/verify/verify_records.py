"""Verification of records: lake, services' database and ledger are compared."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import ValidationError

from schemas.base import Noun
from schemas.columns import Table
from schemas.people.decisions import Decision
from schemas.people.ledger import LedgerAction, LedgerEntry, LedgerHead
from schemas.tables import SERVICE_TABLES
from schemas.text.plain_files import PlainFileError
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.people import participants, reason_hashes
from warehouse.app.records import entry_of, key_of, read_record, recorded_documents
from warehouse.catalogue.connection import Connection, read_every_row
from warehouse.lake import one_snapshot, rows_in
from warehouse.ledger import head_file, head_of, lacks, recorded_head
from warehouse.rows import Row, noun_of
from warehouse.statements import statement, table_statement
from warehouse.warehouse import Warehouse

MOST_LINES = 50
"""Bound on lines: a lost file yields one line per row."""
_TABLE_OF = {
    LedgerAction.REQUESTED: "requests",
    LedgerAction.VOTED: "human_votes",
    LedgerAction.EDITED: "curation_edits",
}
_DECISIONS = "decisions"
"""Table of all other actions that `of_records.sql` selects."""


@dataclass(slots=True)
class RecordFindings:
    """Problems, and notices that are no problems, one line each."""

    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """Rows of one table in the lake or in the services' database, by key."""

    table: str
    title: str
    rows: dict[str, Noun] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, read: Callable[[], Noun]) -> None:
        if key in self.rows:
            self.tell(key, f"{key} is in {self.title} twice")
            return
        try:
            self.rows[key] = read()
        except ValueError:
            self.tell(key, f"{key} in {self.title} cannot be read")

    def tell(self, key: str, problem: str) -> None:
        self.problems.setdefault(key, f"{self.table}: {problem}")


def recorded_problems(
    connection: Connection, warehouse: Warehouse, readable: Collection[str]
) -> RecordFindings:
    """Compare the rows of lake and services' database with the ledger and each other.

    Args:
        readable: tables of the lake that can be read.

    Raises:
        ConfigurationError: the services' database cannot be read.
    """
    findings = RecordFindings()
    tables = [table for table in SERVICE_TABLES if table.name in readable]
    ledger_head = _recorded_head(warehouse, findings)
    forgotten_people: set[str] = set()
    with one_snapshot(connection), read_every_row(connection):
        lakes = {table.name: _in_lake(connection, table) for table in tables}
        entries = None
        if "ledger" in readable:
            loss = _ledger_loss(connection, warehouse, ledger_head, lakes)
            findings.problems += [loss] if loss else []
            # For an empty ledger one line replaces one per record.
            if head_of(connection).sequence or not loss:
                entries = rows_in(connection, statement("ledger", "of_records"))
            rows = connection.execute(statement("ledger", "forgotten")).fetchall()
            forgotten_people.update(person for (person,) in rows)
    # After the lake, so that rows copied meanwhile are in the database.
    databases = _in_database(warehouse, tables, forgotten_people, findings)
    for name, lake in lakes.items():
        database = databases.get(name)
        uncopied_keys = (
            frozenset(database.rows if database else ()) - lake.rows.keys() - lake.problems.keys()
        )
        if uncopied_keys:
            findings.notices.append(
                f"{len(uncopied_keys)} rows of {name} wait for the next publication, which takes them up"
            )
        if entries is not None:
            about = [each for each in entries if _TABLE_OF.get(each["action"], _DECISIONS) == name]
            _compare_with_ledger(lake, about)
            if database is not None:
                _compare_with_ledger(database, about, uncopied_keys)
        if database is not None:
            _compare_places(lake, database)
        elif lake.rows and warehouse.objects is None:
            findings.problems.append(
                f"{name}: {len(lake.rows)} rows of the lake, and {services_file(warehouse)} is missing;"
                " bring that file back from a copy"
            )
        for place, source in ((lake, warehouse.lake), (database, services_file(warehouse))):
            lines = place.problems.values() if place is not None else ()
            findings.problems += [f"{line}; bring {source} back from a copy" for line in lines]
    surplus = len(findings.problems) - MOST_LINES
    if surplus > 0:
        findings.problems[MOST_LINES:] = [f"and {surplus:,} more rows like these"]
    return findings


def _recorded_head(warehouse: Warehouse, findings: RecordFindings) -> LedgerHead | None:
    """Return the recorded head of the ledger.

    Read it before the lake: the chain then has the row of any recorded head.
    """
    try:
        return recorded_head(warehouse)
    except (OSError, PlainFileError, ValidationError):
        findings.problems.append(
            f"ledger: the head noted in {head_file(warehouse)} cannot be read; bring that file back"
            " from a copy"
        )
    return None


def _ledger_loss(
    connection: Connection,
    warehouse: Warehouse,
    recorded_head: LedgerHead | None,
    lakes: Mapping[str, _Place],
) -> str | None:
    """Return a line about a ledger that lost its last rows or all; None if intact."""
    if recorded_head is not None and lacks(connection, recorded_head):
        return (
            f"ledger: row {recorded_head.sequence}, whose hash was noted in {head_file(warehouse)}, is"
            f" missing; bring {warehouse.lake} back from a copy, or remove the note of a lake that was"
            " recreated"
        )
    counts = [f"{len(lake.rows)} of {name}" for name, lake in lakes.items() if lake.rows]
    if counts and not head_of(connection).sequence:
        return (
            f"ledger: it is empty, and the lake holds recorded rows ({', '.join(counts)}); bring"
            f" {warehouse.lake} back from a copy"
        )
    return None


def _in_lake(connection: Connection, table: Table) -> _Place:
    place = _Place(table.name, "the lake")
    for row in rows_in(
        connection,
        table_statement("published_names", table=table.name, columns="*", condition="true"),
    ):
        place.add(str(row[key_of(table)]), partial(noun_of, table.noun, row))
    return place


def _in_database(
    warehouse: Warehouse,
    tables: Sequence[Table],
    forgotten_people: Collection[str],
    findings: RecordFindings,
) -> dict[str, _Place]:
    """Return the rows of the services' database by table; empty without that file.

    Args:
        forgotten_people: people that the ledger records as forgotten.
    """
    if warehouse.objects is not None or not services_file(warehouse).exists():
        return {}
    with ServiceDatabase(warehouse) as database:
        places = {table.name: _Place(table.name, str(services_file(warehouse))) for table in tables}
        for name, place in places.items():
            for key, document in recorded_documents(database, name):
                place.add(key, partial(_read_whole, name, document))
        if _DECISIONS in places:
            reasonless = _compare_with_reasons(places[_DECISIONS], database)
            unrecorded_people = reasonless.difference(forgotten_people)
            if unrecorded_people:
                findings.notices.append(
                    f"{len(unrecorded_people)} people who gave reasons of decisions are gone from"
                    f" {database.path} with them, and the ledger does not say that they were"
                    " forgotten"
                )
    return places


def _read_whole(table: str, document: str) -> Noun:
    """Parse a record. Raises ValueError for a repeated key, which readers resolve differently."""
    json.loads(document, object_pairs_hook=_unique_members)
    return read_record(table, document)


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is given twice")
    return members


def _compare_with_reasons(decisions: _Place, database: ServiceDatabase) -> set[str]:
    """Report decisions whose stored reason does not match its hash.

    Returns:
        Participants whose reason is gone with their name.
    """
    reasonless: set[str] = set()
    # Reasons first: forgetting a person deletes reasons and name at once.
    reasons = reason_hashes(database)
    names = {each.participant_id for each in participants(database)}
    for key, decision in decisions.rows.items():
        if not isinstance(decision, Decision) or decision.reason_sha256 is None:
            continue
        digest = decision.reason_sha256
        if digest not in reasons and decision.participant_id in names:
            decisions.tell(key, f"the reason of {key} is missing in {decisions.title}")
        elif digest not in reasons:
            reasonless.add(str(decision.participant_id))
        elif not reasons[digest]:
            decisions.tell(
                key,
                f"the reason of {key} in {decisions.title} is not the one whose hash was recorded",
            )
    return reasonless


def _compare_with_ledger(
    place: _Place, entries: Sequence[Row], uncopied_keys: Collection[str] = ()
) -> None:
    """Report rows without an entry, rows of other content, and entries without a row.

    Args:
        uncopied_keys: rows that the lake lacks; without an entry they wait for the next publication.
    """
    missing_entries = {each["version_sha256"]: each for each in entries}
    other_entries: dict[str, LedgerEntry] = {}
    for key, noun in place.rows.items():
        entry = entry_of(noun)
        if missing_entries.pop(entry.version_sha256, None) is None:
            other_entries[key] = entry
    by_origin = {_origin(each): each for each in missing_entries.values()}
    for key, entry in other_entries.items():
        changed_entry = by_origin.pop(_origin(entry.model_dump()), None)
        if changed_entry is not None:
            del missing_entries[changed_entry["version_sha256"]]
            sequence = changed_entry["sequence"]
            place.tell(key, f"{key} in {place.title} is not what row {sequence} of the ledger says")
        elif key not in uncopied_keys:
            place.tell(key, f"{key} in {place.title} is not in the ledger: it was never recorded")
    for each in missing_entries.values():
        sequence = each["sequence"]
        loss_text = f"{_decision_key(each) or 'a row'} is missing in {place.title}"
        place.tell(
            f"row {sequence}",
            f"{loss_text}: row {sequence} of the ledger says that it was recorded",
        )


def _origin(entry: Row) -> tuple[Any, ...]:
    """Return the fields of an entry that a change of its row does not affect."""
    names = ("artefact", "run_id", "unit_id", "part", "participant_id", "happened_at")
    return tuple(entry[name] for name in names)


def _decision_key(entry: Row) -> str | None:
    """Return the key of a missing decision; entries of other tables do not have it."""
    if entry["action"] in _TABLE_OF or entry["action"] == LedgerAction.COMMENTED:
        return None
    inputs = filter(None, entry["inputs"] or ())
    return next((name.partition(":")[2] for name in inputs), None)


def _compare_places(lake: _Place, database: _Place) -> None:
    """Report rows that differ, and rows of the lake that the database lacks."""
    for key, noun in lake.rows.items():
        if key in lake.problems or key in database.problems:
            continue
        if key not in database.rows:
            database.tell(key, f"{key} of the lake is missing in {database.title}")
        elif noun != database.rows[key]:
            lake.tell(key, f"{key} in the lake is not what {database.title} has")
