"""Names and reasons of participants, stored outside lake and ledger.

Lake and ledger contain only pseudonyms and salted hashes.
"""

import secrets
from datetime import UTC, datetime

from schemas.errors import ConflictError, UnknownNameError
from schemas.identifiers import content_hash
from schemas.people.ledger import (
    Artefact,
    CreditRole,
    LedgerAction,
    LedgerEntry,
    Participant,
    ParticipantKind,
)
from warehouse.app.database import ServiceDatabase, Statements, Transaction
from warehouse.catalogue.definitions import apply_definitions
from warehouse.lake import transaction
from warehouse.ledger import append, record_head
from warehouse.statements import statement
from warehouse.warehouse import Warehouse

_ID_BYTES, _SALT_BYTES = 6, 32


def add_participant(
    database: ServiceDatabase,
    name: str,
    kind: ParticipantKind = ParticipantKind.PERSON,
    role: CreditRole = CreditRole.VALIDATION,
    key: str | None = None,
) -> Participant:
    """Add a participant with a pseudonym.

    Args:
        key: account or token that they sign in with.

    Raises:
        ConflictError: another participant has this key.
    """
    with database.transaction() as work:
        return _add_participant(work, name, kind, role, key)


def participant_with(database: ServiceDatabase, key: str) -> Participant | None:
    """Return the participant with this account or token; None if there is none."""
    return database.noun(Participant, "people", "participant", key=key)


def pseudonym_of(database: ServiceDatabase, account: str) -> str:
    """Return the pseudonym of an account, which is created on first use."""
    participant = participant_with(database, account)
    if participant is None:
        with database.transaction() as work:
            person, role = ParticipantKind.PERSON, CreditRole.VALIDATION
            participant = work.noun(Participant, "people", "participant", key=account)
            participant = participant or _add_participant(work, account, person, role, account)
    return participant.participant_id


def participants(database: ServiceDatabase) -> tuple[Participant, ...]:
    """Return all participants that were not forgotten, in order of addition."""
    return tuple(database.nouns(Participant, "people", "participant"))


def participant(source: Statements, participant_id: str) -> Participant:
    """Return a participant. Raises UnknownNameError if missing or forgotten."""
    person = source.noun(Participant, "people", "participant", participant_id=participant_id)
    if person is None:
        raise UnknownNameError(f"no participant {participant_id!r}; `assay people list` lists them")
    return person


def store_reason(work: Transaction, participant_id: str, reason: str) -> str:
    """Store a reason, and return its salted hash for the ledger."""
    salt = secrets.token_hex(_SALT_BYTES)
    digest = content_hash(salt, reason)
    values = {"participant_id": participant_id, "salt": salt, "reason": reason}
    work.add("reasons", reason_sha256=digest, **values)
    return digest


def reason_of(database: ServiceDatabase, reason_sha256: str | None) -> str | None:
    """Return the text of a reason; None if there is none or its author was forgotten."""
    rows = database.rows("reasons", "reason", reason_sha256=reason_sha256)
    return rows[0][0] if rows else None


def reason_hashes(database: ServiceDatabase) -> dict[str, bool]:
    """Return all hashes of reasons, and whether each matches its text."""
    return {
        digest: content_hash(salt, reason) == digest
        for digest, salt, reason in database.rows("reasons", "reason_sha256", "salt", "reason")
    }


def forget(warehouse: Warehouse, participant_id: str) -> None:
    """Delete a participant's name with all reasons and salts; actions stay pseudonymous.

    Files of the lake that contain reasons of votes are deleted by a later `compact`, once no
    snapshot reads them.

    Raises:
        UnknownNameError: there is no such participant.
        TransientError: a publisher holds the lock; the name is deleted, the ledger entry is
            missing.
    """
    with ServiceDatabase(warehouse) as database:
        with database.transaction() as work:
            deleted_count = work.remove("people", participant_id=participant_id)
            work.remove("reasons", participant_id=participant_id)
            work.ask("forget_reasons_of_votes", voter=participant_id)
        if not deleted_count:
            participant(database, participant_id)
        database.empty_log()
    entry = LedgerEntry(
        artefact=Artefact.PERSON,
        run_id=None,
        action=LedgerAction.FORGOTTEN,
        participant_id=participant_id,
        role=None,
        step=None,
        happened_at=datetime.now(UTC),
    )
    with warehouse.publisher() as connection:
        with transaction(connection, "what was forgotten"):
            apply_definitions(connection)
            connection.execute(statement("ledger", "forget_votes"), {"voter": participant_id})
            append(connection, [entry])
        record_head(connection, warehouse)


def _add_participant(
    work: Transaction, name: str, kind: ParticipantKind, role: CreditRole, key: str | None
) -> Participant:
    person = Participant(
        participant_id=f"p-{secrets.token_hex(_ID_BYTES)}",
        name=name,
        kind=kind,
        role=CreditRole.TOOL if kind is ParticipantKind.MODEL else role,
        key=key,
    )
    document = person.model_dump_json()
    try:
        work.add("people", participant_id=person.participant_id, key=key, participant=document)
    except ConflictError as error:
        raise ConflictError(f"another participant signs in with {key!r}") from error
    return person
