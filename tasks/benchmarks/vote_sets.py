"""Blind votes of people on pairs of ideas: the wiki surveys of `formidable-family`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.ranking import Match, Winner
from tasks.benchmarks.records import json_lines, text_of
from tasks.ranking.dimensions import OVERALL
from tasks.ranking.tally import HUMAN

WIKI_VOTES_FILE = "wiki_survey_votes/votes.jsonl.gz"
_WINNERS = {"left": Winner.FIRST, "right": Winner.SECOND}
_BEGAN = datetime(2020, 1, 1, tzinfo=UTC)


def read_wiki_votes(path: Path) -> list[Match]:
    """Votes in the order of the file, each survey a group. The file tells no time of day: a second
    lies between two votes.

    Raises:
        ConfigurationError: the file does not hold such votes.
    """
    found = []
    for number, record in enumerate(json_lines(path)):
        winner = _WINNERS.get(text_of(record, "winner", path))
        if winner is None:
            raise ConfigurationError(f"{path}: winner is neither left nor right in an entry")
        topic, survey = text_of(record, "topic", path), text_of(record, "survey_id", path)
        found.append(
            Match(
                match_id=text_of(record, "id", path),
                group=f"{topic} {survey}",
                first_idea_id=IdeaId(text_of(record, "left", path)),
                second_idea_id=IdeaId(text_of(record, "right", path)),
                dimension=OVERALL.name,
                winner=winner,
                round=1,
                judge=f"{HUMAN}{text_of(record, 'voter', path)}",
                created_at=_BEGAN + timedelta(seconds=number),
            )
        )
    return found
