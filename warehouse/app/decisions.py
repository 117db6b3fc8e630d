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
from warehouse.app.people import participant, store_reason
from warehouse.app.records import fold_into_lake, record, record_by_key, records_of
from warehouse.catalogue.connection import Connection
from warehouse.ledger import parts_of, parts_of_report
from warehouse.warehouse import Warehouse

_FOLD_WAIT_SECONDS = 2.0


def request_all(database: ServiceDatabase, requests: Sequence[Request]) -> tuple[Request, ...]:
    """Record new requests; return all, existing ones as stored."""
    with database.transaction() as work:
        stored_requests = {each.request_id: each for each in records_of(work, "requests", Request)}
        for request in requests:
            if request.request_id not in stored_requests:
                record(work, "requests", request)
    return tuple(stored_requests.get(each.request_id, each) for each in requests)


def request_for_stage(
    database: ServiceDatabase, requests: Sequence[Request]
) -> tuple[Request, ...]:
    """Record the requests that admit ideas to a stage, in the same order.

    A request is about one version of an idea and lists who may decide. An answer about this version
    stays valid. A request about an earlier version or of other deciders is replaced and takes no
    answer from then on.
    """
    with database.transaction() as work:
        final_decisions, earlier_requests = decisions(work), _requests_by_place(work)
        return tuple(
            _replace_request(
                work, request, earlier_requests.get(_place(request), []), final_decisions
            )
            for request in requests
        )


def _replace_request(
    work: Transaction,
    request: Request,
    earlier_requests: Sequence[Request],
    decided_ids: Collection[str],
) -> Request:
    similar_requests = [each for each in earlier_requests if each.parts == request.parts]
    decided_requests = [each for each in similar_requests if each.request_id in decided_ids]
    if decided_requests:
        return decided_requests[-1]
    if (
        similar_requests
        and similar_requests[-1] is earlier_requests[-1]
        and similar_requests[-1].asked_of == request.asked_of
    ):
        return similar_requests[-1]
    name = content_hash(
        *map(str, _place(request)), *request.parts, str(len(earlier_requests)), length=12
    )
    replacement = request.model_copy(update={"request_id": name})
    record(work, "requests", replacement)
    return replacement


_Place = tuple[str, str, Stage | None]


def _place(request: Request) -> _Place:
    return request.run_id, request.unit_id, request.stage


def _requests_by_place(source: Statements) -> dict[_Place, list[Request]]:
    """Return the requests of stages by idea, in order; manual requests are left out."""
    requests: dict[_Place, list[Request]] = {}
    for each in records_of(source, "requests", Request):
        if each.stage is not None:
            requests.setdefault(_place(each), []).append(each)
    return requests


def decisions(source: Statements) -> dict[str, Decision]:
    """Return the final decision of each request that has one, by request_id."""
    every_decision = records_of(source, "decisions", Decision)
    return {each.request_id: each for each in every_decision if each.verdict.ends}


def open_requests(database: ServiceDatabase, asked_of: str | None = None) -> Iterator[Request]:
    """Yield requests without an answer, oldest first; `asked_of`: of one participant."""
    final_decisions, latest = decisions(database), _latest_requests(database)
    for request in records_of(database, "requests", Request):
        is_waiting = request.request_id not in final_decisions and _is_current(request, latest)
        if is_waiting and (asked_of is None or asked_of in request.asked_of):
            yield request


def _latest_requests(source: Statements) -> dict[_Place, Request]:
    return {place: each[-1] for place, each in _requests_by_place(source).items()}


def _is_current(request: Request, latest: Mapping[_Place, Request]) -> bool:
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
        decision = decide(database, connection, request_id, participant_id, answer)
    with suppress(TransientError):
        fold_into_lake(warehouse, wait_seconds=_FOLD_WAIT_SECONDS)
    return decision


def decide(
    database: ServiceDatabase,
    connection: Connection,
    request_id: str,
    participant_id: str,
    answer: GivenAnswer,
) -> Decision:
    """Record the final answer of a participant.

    Args:
        connection: connection to the lake, whose ledger has the current version of the artefact.

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
        of_run = request.stage is not None and request.stage.of_runs
        parts = (
            parts_of_report(connection, request.run_id)
            if of_run
            else parts_of(connection, request.run_id, request.unit_id)
        )
        _check_version(request, answer.version_sha256, parts)
    with database.transaction() as work:
        person = participant(work, participant_id)
        if record_by_key(work, "decisions", request_id, Decision) is not None:
            raise ConflictError(f"request {request_id} was answered before, and is ended")
        latest = _latest_requests(work)
        if not _is_current(request, latest):
            current_id = latest[_place(request)].request_id
            raise ConflictError(f"request {request_id} was replaced: answer {current_id}")
        return _write_down(
            work,
            request,
            verdict,
            person=person,
            choice=answer.choice,
            reason_sha256=store_reason(work, participant_id, reason) if reason else None,
        )


def decide_by_rule(
    database: ServiceDatabase, rulings: Mapping[str, tuple[Request, Verdict, str]]
) -> None:
    with database.transaction() as work:
        existing = decisions(work)
        for request_id, (request, verdict, rule) in rulings.items():
            if request_id not in existing:
                _write_down(work, request, verdict, rule=rule)


def _write_down(
    work: Transaction,
    request: Request,
    verdict: Verdict,
    *,
    person: Participant | None = None,
    choice: int | None = None,
    reason_sha256: str | None = None,
    rule: str = "",
) -> Decision:
    """Record a decision; a final one has the id of its request, which makes it unique."""
    name = request.request_id
    decision = Decision(
        decision_id=name if verdict.ends else f"{name}/{secrets.token_hex(6)}",
        request_id=name,
        run_id=request.run_id,
        unit_id=request.unit_id,
        stage=request.stage,
        verdict=verdict,
        choice=choice,
        version_sha256=request.version_sha256,
        participant_id=person.participant_id if person is not None else None,
        role=person.role if person is not None else None,
        reason_sha256=reason_sha256,
        rule=rule,
        decided_at=datetime.now(UTC),
    )
    record(work, "decisions", decision)
    return decision


def request_named(database: ServiceDatabase, request_id: str) -> Request:
    """Return a request. Raises UnknownNameError if there is none."""
    request = record_by_key(database, "requests", request_id, Request)
    if request is None:
        raise UnknownNameError(f"no request {request_id!r}; `assay inbox` lists those that wait")
    return request


def _check_fits(request: Request, verdict: Verdict, choice: int | None) -> None:
    if verdict is Verdict.COMMENTED:
        return
    chooses = verdict in (Verdict.CHOSEN, Verdict.SENT_BACK)
    if chooses is not bool(request.options):
        requirement = (
            f"choose 1 to {len(request.options)}, or send it back"
            if request.options
            else "approve or reject it"
        )
        raise ConfigurationError(f"request {request.request_id}: {requirement}")
    if (verdict is Verdict.CHOSEN) is not (choice is not None):
        raise ConfigurationError(
            f"request {request.request_id}: choose one alternative by its number, 1 to"
            f" {len(request.options)}"
            if verdict is Verdict.CHOSEN
            else "only who chooses names an alternative: leave out its number"
        )
    if choice is not None and not 1 <= choice <= len(request.options):
        raise ConfigurationError(f"there is no alternative {choice}: 1 to {len(request.options)}")


def _check_version(request: Request, version_seen: str | None, current: tuple[str, ...]) -> None:
    if version_seen is not None and not request.is_about(version_seen):
        raise ConflictError(
            f"request {request.request_id} is about version {request.version_shown}, and not about"
            f" {version_seen[:64]}"
        )
    if content_hash(*current) == request.version_sha256:
        return
    old, new = (dict(_part_versions(request.parts)), dict(_part_versions(current)))
    changed_names = sorted(
        name for name in old.keys() | new.keys() if old.get(name) != new.get(name)
    )
    summary = ", ".join(changed_names[:5]) + (
        f" and {len(changed_names) - 5} more" if changed_names[5:] else ""
    )
    raise ConflictError(
        f"what request {request.request_id} is about has changed since it was asked: {summary}; look"
        " at it again, and request it again"
    )


def _part_versions(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, _, version = part.rpartition("=")
        yield name, version
