"""Ideas as programs send them, as the file they are or would be."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from pydantic import Field

from schemas.errors import ConfigurationError
from schemas.people.job import IDEAS_FORMATS, NOT_TEXT, IdeasFormat
from tasks.ideas.limits import MAXIMUM_DEPTH, too_deep

NAME_CHARACTERS, MOST_IDEAS = 80, 10_000

Ideas = Annotated[
    list[str | dict[str, Any]],
    Field(
        min_length=1,
        max_length=MOST_IDEAS,
        description=(
            "Each a text, or an object with text, or with problem, method and experiment; idea_id,"
            " title, cutoff_date and group are optional."
        ),
    ),
]


def idea_lines(ideas: Sequence[str | dict[str, Any]]) -> str:
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
    return "\n".join(lines) + "\n"


def uploaded(content: bytes, filename: str) -> dict[str, str]:
    """A file of ideas that was sent as it is, by the fields of a job. Only who does the job reads
    what is in it.

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
        return {"ideas": b64encode(content).decode(), "ideas_format": found}
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if not text.strip() or "\x00" in text:
        raise ConfigurationError("the file is no UTF-8 text, or empty")
    return {"ideas": text, "ideas_format": found}
