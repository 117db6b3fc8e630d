"""Ideas as programs send them, as the file they are or would be."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import orjson

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.people.job import IDEAS_FORMATS, NOT_TEXT, IdeasFormat
from tasks.ideas.limits import MAXIMUM_DEPTH, too_deep

NAME_CHARACTERS = 80


class IdeaFile(Noun):
    """An idea file as it was sent."""

    content: str
    ending: IdeasFormat = "jsonl"


def idea_lines(ideas: Sequence[str | dict[str, Any]]) -> IdeaFile:
    """Ideas as the file they would be.

    Raises:
        ConfigurationError: they cannot be written.
    """
    entries = [{"text": idea} if isinstance(idea, str) else idea for idea in ideas]
    if any(too_deep(entry) for entry in entries):
        raise ConfigurationError(
            f"an idea is nested deeper than {MAXIMUM_DEPTH} levels: flatten it"
        )
    try:
        lines = [orjson.dumps(entry).decode() for entry in entries]
    except orjson.JSONEncodeError as error:
        raise ConfigurationError(f"an idea cannot be written as JSON: {error}") from error
    return IdeaFile(content="\n".join(lines) + "\n")


def name_of(ideas: Sequence[str | dict[str, Any]]) -> str:
    """What lists of jobs call them: the first title or the first words."""
    first = ideas[0]
    told = first if isinstance(first, str) else first.get("title") or first.get("text") or "ideas"
    return " ".join(str(told).split())[:NAME_CHARACTERS] or "ideas"


def uploaded(content: bytes, filename: str) -> IdeaFile:
    """A file of ideas that was sent as it is. Only who does the job reads what is in it.

    Raises:
        ConfigurationError: its format is not known, or it is none of that format.
    """
    ending = filename.rpartition(".")[2].lower()
    found: IdeasFormat | None = next((each for each in IDEAS_FORMATS if each == ending), None)
    if found is None:
        raise ConfigurationError(
            f"filename {filename[-80:]!r} ends in none of {', '.join(IDEAS_FORMATS)}"
        )
    if found in NOT_TEXT:
        if not content.startswith(NOT_TEXT[found]):
            raise ConfigurationError(f"the file is no {found} file")
        return IdeaFile(content=b64encode(content).decode(), ending=found)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if not text.strip() or "\x00" in text:
        raise ConfigurationError("the file is no UTF-8 text, or empty")
    return IdeaFile(content=text, ending=found)
