"""Ideas out, in the form `read_ideas` reads."""

from collections.abc import Iterable
from pathlib import Path

import orjson

from schemas.idea import Idea

_WRITTEN = (
    "idea_id",
    "title",
    "text",
    "problem",
    "method",
    "experiment",
    "cutoff_date",
    "group",
    "metadata",
)


def write_ideas(ideas: Iterable[Idea], path: Path) -> None:
    """One JSON object per line. Marks of duplicates are not written: reading finds them again."""
    with path.open("wb") as file:
        for idea in ideas:
            fields = {
                name: value for name in _WRITTEN if (value := getattr(idea, name)) not in (None, {})
            }
            file.write(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
