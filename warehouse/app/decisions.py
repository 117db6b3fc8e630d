"""Requests, and the decisions of participants on them. Both are written once."""

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from schemas.errors import (
    ConfigurationError,
    ConflictError,
    NotAllowedError,
    TransientError,
    UnknownNameError,
)
from schemas.identifiers import content_hash
from schemas.people.decisions import Decision, GivenAnswer, Request, Stage, Verdict
from schemas.people.ledger import Participant
from warehouse.app.database import ServiceDatabase, Statements, Transaction
from warehouse.app.people import keep_reason, participant
from warehouse.app.records import fold_into_lake, record, recorded, recorded_as
from warehouse.catalogue.connection import Connection
from warehouse.ledger import parts_of, parts_of_report
from warehouse.warehouse import Warehouse

_FOLD_WAIT_SECONDS = 2.0


def request_all(database: ServiceDatabase, requests: Sequence[Request]) -> tuple[Request, ...]:
    """Record new requests; return all, existing ones as stored."""
    with database.transaction() as work:
        stored = {each.request_id: each for each in recorded(work, "requests", Request)}
        for request in requests:
            if request.request_id not in stored:
                record(work, "requests", request)
    return tuple(stored.get(each.request_id, each) for each in requests)


def request_for_stage(
    database: ServiceDatabase, requests: Sequence[Request]
) -> tuple[Request, ...]:
    """Record the requests that admit ideas to a stage, in the same order.

    A request is about one version of an idea and lists who may decide. An answer about this version
    stays valid. A request about an earlier version or of other deciders is replaced and takes no
    answer from then on.
    """
    with database.transaction() as work:
        ended, before = decisions(work), _by_place(work)
        return tuple(
            _asked(work, request, before.get(_place(request), []), ended) for request in requests
        )


def _asked(
    work: Transaction, request: Request, before: Sequence[Request], ended: Collection[str]
) -> Request:
    alike = [each for each in before if each.parts == request.parts]
    answered = [each for each in alike if each.request_id in ended]
    if answered:
        return answered[-1]
    if alike and alike[-1] is before[-1] and alike[-1].asked_of == request.asked_of:
        return alike[-1]
    name = content_hash(*map(str, _place(request)), *request.parts, str(len(before)), length=12)
    made = request.model_copy(update={"request_id": name})
    record(work, "requests", made)
    return made


_Place = tuple[str, str, Stage | None]


def _place(request: Request) -> _Place:
    return request.run_id, request.unit_id, request.stage


def _by_place(source: Statements) -> dict[_Place, list[Request]]:
    """Return the requests of stages by idea, in order; manual requests are left out."""
    requests: dict[_Place, list[Request]] = {}
    for each in recorded(source, "requests", Request):
        if each.stage is not None:
            requests.setdefault(_place(each), []).append(each)
    return requests


def decisions(source: Statements) -> dict[str, Decision]:
    """Return the final decision of each request that has one, by request_id."""
    every_decision = recorded(source, "decisions", Decision)
    return {each.request_id: each for each in every_decision if each.verdict.ends}


def open_requests(database: ServiceDatabase, asked_of: str | None = None) -> Iterator[Request]:
    """Yield requests without an answer, oldest first; `asked_of`: of one participant."""
    ended, latest = decisions(database), _latest(database)
    for request in recorded(database, "requests", Request):
        waits = request.request_id not in ended and _stands(request, latest)
        if waits and (asked_of is None or asked_of in request.asked_of):
            yield request


def _latest(source: Statements) -> dict[_Place, Request]:
    return {place: each[-1] for place, each in _by_place(source).items()}


def _stands(request: Request, latest: Mapping[_Place, Request]) -> bool:
    """Return whether no later request has replaced it."""
    return latest.get(_place(request), request).request_id == request.request_id


def decide_and_fold(
    warehouse: Warehouse,
    database: ServiceDatabase,
    request_id: str,
    participant_id: str,
    answer: GivenAnswer,
) -> Decision:
    """Record a decision by `decide`, and copy it into the lake.

    If a publisher holds the lock, the decision enters the lake with the next publication.

    Raises:
        Exception: as `decide`.
    """
    with warehouse.reader() as connection:
        made = decide(database, connection, request_id, participant_id, answer)
    with suppress(TransientError):
        fold_into_lake(warehouse, wait_seconds=_FOLD_WAIT_SECONDS)
    return made


def decide(
    database: ServiceDatabase,
    connection: Connection,
    request_id: str,
    participant_id: str,
    answer: GivenAnswer,
) -> Decision:
    """Record the final answer of a participant.

    Args:
        connection: of the lake, whose ledger has the current version of the artefact.

    Raises:
        UnknownNameError: no such request or participant, or the participant was forgotten.
        NotAllowedError: it asks other participants.
        ConflictError: it was answered or replaced, or the artefact has changed since.
        ConfigurationError: the answer does not fit the request.
    """
    verdict, reason = answer.verdict, answer.reason
    request = request_named(database, request_id)
    if participant_id not in request.asked_of:
        raise NotAllowedError(f"request {request_id} is asked of others, not of {participant_id}")
    _check_fits(request, verdict, answer.choice)
    if verdict.ends:
        _check_version(request, answer.version_sha256, _parts_now(connection, request))
    with database.transaction() as work:
        who = participant(work, participant_id)
        if recorded_as(work, "decisions", request_id, Decision) is not None:
            raise ConflictError(f"request {request_id} was answered before, and is ended")
        latest = _latest(work)
        if not _stands(request, latest):
            anew = latest[_place(request)].request_id
            raise ConflictError(f"request {request_id} was asked anew: answer {anew}")
        return _write_down(
            work,
            request,
            verdict,
            who=who,
            choice=answer.choice,
            reason_sha256=keep_reason(work, participant_id, reason) if reason else None,
        )


def _parts_now(connection: Connection, request: Request) -> tuple[str, ...]:
    if request.stage is not None and request.stage.of_runs:
        return parts_of_report(connection, request.run_id)
    return parts_of(connection, request.run_id, request.unit_id)


def decide_by_rule(
    database: ServiceDatabase, ruled: Mapping[str, tuple[Request, Verdict, str]]
) -> None:
    """Record the decisions of a project's rules, by request_id."""
    with database.transaction() as work:
        existing = decisions(work)
        for request_id, (request, verdict, rule) in ruled.items():
            if request_id not in existing:
                _write_down(work, request, verdict, rule=rule)


def _write_down(
    work: Transaction,
    request: Request,
    verdict: Verdict,
    *,
    who: Participant | None = None,
    choice: int | None = None,
    reason_sha256: str | None = None,
    rule: str = "",
) -> Decision:
    """Record a decision; a final one has the id of its request, which makes it unique."""
    name = request.request_id
    made = Decision(
        decision_id=name if verdict.ends else f"{name}/{secrets.token_hex(6)}",
        request_id=name,
        run_id=request.run_id,
        unit_id=request.unit_id,
        stage=request.stage,
        verdict=verdict,
        choice=choice,
        version_sha256=request.version_sha256,
        participant_id=who.participant_id if who is not None else None,
        role=who.role if who is not None else None,
        reason_sha256=reason_sha256,
        rule=rule,
        decided_at=datetime.now(UTC),
    )
    record(work, "decisions", made)
    return made


def request_named(database: ServiceDatabase, request_id: str) -> Request:
    """Return a request. Raises UnknownNameError if there is none."""
    request = recorded_as(database, "requests", request_id, Request)
    if request is None:
        raise UnknownNameError(f"no request {request_id!r}; `assay inbox` lists those that wait")
    return request


def _check_fits(request: Request, verdict: Verdict, choice: int | None) -> None:
    if verdict is Verdict.COMMENTED:
        return
    chooses = verdict in (Verdict.CHOSEN, Verdict.SENT_BACK)
    if chooses is not bool(request.options):
        what = (
            f"choose 1 to {len(request.options)}, or send it back"
            if request.options
            else "approve or reject it"
        )
        raise ConfigurationError(f"request {request.request_id}: {what}")
    if (verdict is Verdict.CHOSEN) is not (choice is not None):
        raise ConfigurationError(
            f"request {request.request_id}: choose one alternative by its number, 1 to"
            f" {len(request.options)}"
            if verdict is Verdict.CHOSEN
            else "only who chooses names an alternative: leave out its number"
        )
    if choice is not None and not 1 <= choice <= len(request.options):
        raise ConfigurationError(f"there is no alternative {choice}: 1 to {len(request.options)}")


def _check_version(request: Request, seen: str | None, now: tuple[str, ...]) -> None:
    if seen is not None and not request.is_about(seen):
        raise ConflictError(
            f"request {request.request_id} is about version {request.version_shown}, and not about"
            f" {seen[:64]}"
        )
    if content_hash(*now) == request.version_sha256:
        return
    before, after = dict(_told(request.parts)), dict(_told(now))
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    summary = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if changed[5:] else "")
    raise ConflictError(
        f"what request {request.request_id} is about has changed since it was asked: {summary}; look"
        " at it again, and have it asked anew"
    )


def _told(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, _, version = part.rpartition("=")
        yield name, version
