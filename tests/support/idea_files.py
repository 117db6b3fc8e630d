"""Idea files of a few lines, written and read."""

import json
from pathlib import Path

from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

GOOD = "Train a small model on curated data and compare it with a large one."
LONG = "We record the echoes of moths in the field, and compare them with those of leaves."
OTHER = "Bees lose their way where landmarks are gone, and nobody has measured how far they fly."
MOTHS = "Problem: moths are heard by bats. Method: we record echoes of moths, and of leaves."
BEES = "Problem: bees lose their way. Method: we track bees with radar around the hive."
FISH = "Problem: fish hear boats. Method: we play boat noise to fish in tanks."


def read_rows(folder: Path, *rows: object, fields: tuple[str, ...] = ()) -> IdeaBatch:
    """Read a list of objects in JSON."""
    path = folder / "ideas.json"
    path.write_text(json.dumps(rows))
    return read_ideas(path, default_cutoff=None, fields=fields)


def read_lines(folder: Path, *rows: object, fields: tuple[str, ...] = ()) -> IdeaBatch:
    """Read JSON Lines; a text is a line as it stands."""
    path = folder / "ideas.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("\n".join(lines), "utf-8")
    return read_ideas(path, default_cutoff=None, fields=fields)


def read_content(
    folder: Path, content: str | bytes, name: str = "a.csv", encoding: str = "utf-8"
) -> IdeaBatch:
    """Read a file of this content."""
    path = folder / name
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return read_ideas(path, default_cutoff=None)
