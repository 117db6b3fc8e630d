"""How an idea goes on after a round, decided by people: what is asked of them stands in the lake,
and the same command goes on once it is answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.identifiers import RunId, content_hash
from schemas.people.decisions import Decision, Request, Verdict
from schemas.works.ideation import Move
from schemas.works.ideation_run import IdeationParameters
from tasks.ideation.findings import next_concept
from tasks.ideation.stacks import Branch, Place
from tasks.text.words import shorten_words
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decisions, request_all
from warehouse.app.records import fold_into_lake
from warehouse.ledger import parts_by_unit
from warehouse.warehouse import Warehouse

ANOTHER_CONCEPT, REVISE, STAND = 1, 2, 3
WAYS = ("go on with another concept", "revise the proposal", "leave it as it is")
"""The alternatives that are laid before people, in the order of their numbers."""
_BY_RULE = {
    Move.ADD_KEYWORD: "a concept would be added",
    Move.REPLACE_KEYWORD: "a concept would be replaced",
    Move.REVISE: "the proposal would be revised",
}
_FINDINGS_SHOWN, _WORDS_OF_A_FINDING = 2, 30


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided of each idea, None leaving it as it is; and what nobody has answered."""

    moves: Mapping[Place, Move | None]
    waiting: tuple[Request, ...] = ()


def decide_branches(
    parameters: IdeationParameters,
    warehouse: Warehouse,
    run_id: RunId,
    evaluated: Sequence[RunId],
    branches: Sequence[Branch],
) -> Decided:
    """Ask about each branch what was not asked before, and say what was answered.

    A request is about the evaluation of one version: where that changes, it is asked anew. To send
    all alternatives back leaves the idea as it is.

    Args:
        evaluated: the runs that evaluated versions so far, in order.
    """
    with warehouse.queries() as queries:
        found = {
            unit: (each, parts)
            for each in evaluated
            for unit, parts in parts_by_unit(queries.connection, each).items()
        }
    to_ask = [
        _request(parameters.asked_of, run_id, branch, *found[branch.version.version_id])
        for branch in branches
    ]
    with ServiceDatabase(warehouse) as database:
        asked = request_all(database, to_ask)
        known = decisions(database)
    fold_into_lake(warehouse)
    maximum = parameters.maximum_keywords
    moves = {
        branch.place: _move(known[each.request_id], branch, maximum)
        for branch, each in zip(branches, asked, strict=True)
        if each.request_id in known
    }
    return Decided(moves, tuple(each for each in asked if each.request_id not in known))


def _move(decision: Decision, branch: Branch, maximum_keywords: int) -> Move | None:
    if decision.verdict is not Verdict.CHOSEN or decision.choice == STAND:
        return None
    if decision.choice == REVISE:
        return Move.REVISE
    return next_concept(branch.version.keywords, maximum_keywords)


def _request(
    asked_of: tuple[str, ...],
    run_id: RunId,
    branch: Branch,
    evaluated: RunId,
    parts: tuple[str, ...],
) -> Request:
    version_id = branch.version.version_id
    return Request(
        request_id=content_hash(run_id, version_id, *parts, length=12),
        run_id=evaluated,
        unit_id=version_id,
        stage=None,
        criteria=". ".join(_told(branch)),
        options=WAYS,
        parts=parts,
        asked_by=None,
        asked_of=asked_of,
        requested_at=datetime.now(UTC),
    )


def _told(branch: Branch) -> Iterator[str]:
    """The idea, its gravest findings, and what would be done without anybody."""
    yield branch.version.title.rstrip(".")
    for finding in branch.findings[:_FINDINGS_SHOWN]:
        said, _ = shorten_words(finding.text, _WORDS_OF_A_FINDING)
        yield f"{finding.key} ({finding.kind.replace('_', ' ')}): {said.rstrip('.')}"
    yield f"By rule {_BY_RULE[branch.move]}"
