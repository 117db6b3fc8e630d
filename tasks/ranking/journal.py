"""The journal of a group being ranked: every match and every call, on disk as they come, so that a
kill loses calls in flight only.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from pydantic import ValidationError

from schemas.base import Noun
from schemas.calls import LlmCall
from schemas.identifiers import content_hash
from schemas.ranking import Match
from warehouse.scrubbing import concealed

MATCH_LINE = b'{"match":'
"""How the lines begin that are matches."""


def journal_path(ranking_folder: Path, group: str) -> Path:
    """Where the journal of a group lies while it is being ranked."""
    return ranking_folder / "journal" / f"{content_hash(group, length=16)}.jsonl"


@dataclass(slots=True)
class Journal:
    """One group's journal. A line torn by a kill is left out; whatever stands after it counts."""

    path: Path
    matches: list[Match] = field(default_factory=list)
    calls: list[LlmCall] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    def read(self) -> None:
        """Take up what an earlier attempt wrote."""
        for line in self.path.read_bytes().split(b"\n") if self.path.exists() else ():
            try:
                entry = orjson.loads(line)
                if "match" in entry:
                    self.matches.append(Match.model_validate_json(orjson.dumps(entry["match"])))
                else:
                    self._take(LlmCall.model_validate_json(orjson.dumps(entry["call"])))
            except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError):
                continue

    def write(self, matches: Iterable[Match], calls: Iterable[LlmCall]) -> None:
        """Keep `matches`, and those of `calls` that are new, in one write."""
        fresh = [call for call in calls if call.call_id not in self._known]
        shown = list(matches)
        lines = [_line("match", match) for match in shown] + [_line("call", call) for call in fresh]
        if not lines:
            return
        self.matches.extend(shown)
        for call in fresh:
            self._take(call)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(concealed(b"\n" + b"".join(lines)))
            file.flush()
            os.fsync(file.fileno())

    def _take(self, call: LlmCall) -> None:
        if call.call_id not in self._known:
            self._known.add(call.call_id)
            self.calls.append(call)


def _line(kind: str, noun: Noun) -> bytes:
    return orjson.dumps({kind: noun.model_dump(mode="json")}, option=orjson.OPT_APPEND_NEWLINE)
