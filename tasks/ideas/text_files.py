"""Entries from text and Markdown files: one idea per file."""

import re
from pathlib import Path

import yaml

from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from tasks.ideas.entries import Entries, Entry, unreadable
from tasks.ideas.limits import MAXIMUM_CHARACTERS, too_long

TEXT_SUFFIXES = (".txt", ".md", ".markdown")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def read_folder(folder: Path) -> Entries:
    """One entry per .txt or .md file of `folder`, by name; other visible files are rejected, sub-folders are not entered.

    Raises:
        IdeaFileError: no .txt or .md file in it.
    """
    files = sorted((item for item in folder.iterdir() if item.is_file() and not item.name.startswith(".")), key=lambda item: item.name)
    if not any(item.suffix.lower() in TEXT_SUFFIXES for item in files):
        raise IdeaFileError(f"folder {folder.name} holds no .txt or .md file: put one idea into each")
    for item in files:
        if item.suffix.lower() in TEXT_SUFFIXES:
            yield _entry(item)
        else:
            yield unreadable(item.name, "only .txt and .md files of a folder are read: convert it, or evaluate it by itself")


def read_text_file(path: Path) -> Entries:
    """The one entry of a .txt or .md file.

    Raises:
        IdeaFileError: the file is not UTF-8.
    """
    entry = _entry(path)
    if isinstance(entry, RejectedIdea) and entry.reason == "unreadable":
        raise IdeaFileError(f"{path.name}: {entry.detail}")
    yield entry


def _entry(path: Path) -> Entry | RejectedIdea:
    location = path.name
    try:
        with path.open("rb") as file:
            content = file.read(4 * MAXIMUM_CHARACTERS + 1)
    except OSError as error:
        return unreadable(location, f"the file cannot be opened ({error.strerror}): check its permissions")
    if len(content) > 4 * MAXIMUM_CHARACTERS:
        return too_long(None, location, path.stat().st_size)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return unreadable(location, "the file is not UTF-8 text: save it as UTF-8")
    fields: dict[str, object] = {"file": path.name}
    if path.suffix.lower() != ".txt" and (matter := _FRONT_MATTER.match(text)):
        try:
            given = yaml.load(matter.group(1), Loader=yaml.BaseLoader)  # noqa: S506 - builds strings, lists and mappings only
        except (yaml.YAMLError, RecursionError, ValueError):
            return RejectedIdea(
                idea_id=None,
                location=location,
                reason="bad_field",
                detail="the front matter between the --- lines is not valid YAML: write `name: value` lines",
            )
        if isinstance(given, dict):
            fields |= {str(name): value for name, value in given.items()}
            text = text[matter.end() :]
    return Entry(location, fields | {"text": text})
