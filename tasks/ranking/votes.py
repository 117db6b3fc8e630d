"""Human votes in files: JSON Lines or CSV, one vote per line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.base import encodable
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.ranking import Match, Winner
from tasks.ranking.dimensions import OVERALL
from tasks.ranking.tally import HUMAN

MAXIMUM_BYTES = 64 * 1024 * 1024
FIELDS = ("first", "second", "winner", "voter", "voted_at", "dimension", "reason")
_WINNERS = {
    "first": Winner.FIRST,
    "a": Winner.FIRST,
    "second": Winner.SECOND,
    "b": Winner.SECOND,
    "tie": Winner.TIE,
    "draw": Winner.TIE,
}


@dataclass(frozen=True, slots=True)
class RejectedVote:
    """A line that is no valid vote, with a hint."""

    location: str
    detail: str


@dataclass(frozen=True, slots=True)
class Votes:
    """Valid votes in order of time, as matches judged by `human:<voter>`, and rejected lines."""

    matches: tuple[Match, ...]
    rejected: tuple[RejectedVote, ...]


def read_votes(
    path: Path, group_of: Mapping[IdeaId, str], dimensions: tuple[str, ...] = (OVERALL.name,)
) -> Votes:
    """Read the votes of `path` on the ideas of `group_of` (idea to group).

    A vote has `first` and `second` (idea ids in the order shown), `winner` (`first`, `second`,
    `tie`, or an idea's id), `voter`, `voted_at` (ISO 8601, UTC without a zone) and optionally
    `dimension` (default `overall`) and `reason`. Elo depends on the order of events, so a vote
    without a time is rejected. Repeated lines count once.

    Raises:
        ConfigurationError: the file is missing, too large, not UTF-8, or neither `.jsonl` nor
            `.csv`.
    """
    valid_votes: dict[str, Match] = {}
    rejected_votes: list[RejectedVote] = []
    for location, entry in _entries(path, _text(path)):
        vote = entry if isinstance(entry, str) else _vote(entry, group_of, dimensions)
        if isinstance(vote, str):
            rejected_votes.append(RejectedVote(f"{path.name} {location}", vote))
        elif vote.match_id in valid_votes:
            rejected_votes.append(
                RejectedVote(
                    f"{path.name} {location}", "the same vote stands further up: remove one"
                )
            )
        else:
            valid_votes[vote.match_id] = vote
    return Votes(
        tuple(sorted(valid_votes.values(), key=lambda match: (match.created_at, match.match_id))),
        tuple(rejected_votes),
    )


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAXIMUM_BYTES:
            raise ConfigurationError(
                f"votes file {path} is larger than {MAXIMUM_BYTES // 1024**2} MB: split it"
            )
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(
            f"cannot read votes file {path}: {error.strerror or error}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"votes file {path} is not UTF-8: save it as UTF-8") from error


def _entries(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any] | str]]:
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        try:
            for row in reader:
                yield (
                    f"line {reader.line_num}",
                    {key.strip().lower(): value for key, value in row.items() if key is not None},
                )
        except csv.Error as error:
            yield (
                f"line {reader.line_num}",
                (
                    f"the table cannot be read from here on ({error}): check the quotes, shorten"
                    " the field"
                ),
            )
    elif path.suffix.lower() in {".jsonl", ".ndjson"}:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield f"line {number}", _object(line)
    else:
        raise ConfigurationError(f"votes file {path.name}: the name must end in .jsonl or .csv")


def _object(line: str) -> dict[str, Any] | str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON: write one object per line"
    return entry if isinstance(entry, dict) else "not a JSON object: write one object per line"


def _vote(
    entry: Mapping[str, Any], group_of: Mapping[IdeaId, str], dimensions: tuple[str, ...]
) -> Match | str:
    """Return the vote, or an error message."""
    fields = {name: str(entry.get(name) or "").strip() for name in FIELDS}
    if not all(map(encodable, fields.values())):
        return "it contains a lone surrogate: write the line again as UTF-8"
    missing = [
        name for name in ("first", "second", "winner", "voter", "voted_at") if not fields[name]
    ]
    if missing:
        return f"no {', '.join(missing)}: add it"
    first, second = IdeaId(fields["first"]), IdeaId(fields["second"])
    dimension = fields["dimension"] or OVERALL.name
    problem = _problem(first, second, dimension, group_of, dimensions)
    winner = {fields["first"]: Winner.FIRST, fields["second"]: Winner.SECOND}.get(
        fields["winner"]
    ) or _WINNERS.get(fields["winner"].lower())
    voted_at = _moment(fields["voted_at"])
    if problem or winner is None or voted_at is None:
        format_problem = (
            "winner must be first, second, tie or one of the two idea ids"
            if winner is None
            else "voted_at must be a date and time"
        )
        return problem or format_problem
    return Match(
        match_id=content_hash(
            "vote",
            fields["voter"],
            first,
            second,
            dimension,
            winner,
            voted_at.isoformat(),
            length=32,
        ),
        group=group_of[first],
        first_idea_id=first,
        second_idea_id=second,
        dimension=dimension,
        winner=winner,
        rationale=fields["reason"],
        round=1,
        judge=f"{HUMAN}{fields['voter']}",
        created_at=voted_at,
    )


def _problem(
    first: IdeaId,
    second: IdeaId,
    dimension: str,
    group_of: Mapping[IdeaId, str],
    dimensions: tuple[str, ...],
) -> str | None:
    unknown_ids = [idea_id for idea_id in (first, second) if idea_id not in group_of]
    if unknown_ids:
        return f"no idea {unknown_ids[0][:80]!r} is being ranked: check the id"
    if first == second:
        return "first and second are the same idea"
    if group_of[first] != group_of[second]:
        return (
            f"the ideas are in groups {group_of[first]!r} and {group_of[second]!r}: votes count"
            " within a group"
        )
    if dimension not in dimensions:
        return f"no dimension {dimension[:80]!r} is being ranked; there are {', '.join(dimensions)}"
    return None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
