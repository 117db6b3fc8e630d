"""Entries from text and Markdown files: one idea per file."""

from pathlib import Path
from typing import Any

import yaml

from schemas.boundary import ErrorBoundary, in_a_word
from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from schemas.patterns import DOTALL, bounded
from schemas.reasons import Reason
from tasks.ideas.fields import Entries, Entry, unreadable
from tasks.ideas.limits import MAXIMUM_CHARACTERS, too_long

TEXT_SUFFIXES = (".txt", ".md", ".markdown")
_FRONT_MATTER = bounded(r"\A---[ \t]*+\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*+(?:\n|\Z)", DOTALL)


def read_folder(folder: Path) -> Entries:
    """One entry per .txt or .md file of `folder`, by name; other visible files, links and pipes are
    rejected.

    Sub-folders are not entered, and no link is followed: it may lead to any file of the machine.

    Raises:
        IdeaFileError: no .txt or .md file in it.
    """
    visible = (item for item in folder.iterdir() if not item.name.startswith("."))
    files = sorted(
        (item for item in visible if item.is_symlink() or not item.is_dir()),
        key=lambda item: item.name,
    )
    if not any(item.suffix.lower() in TEXT_SUFFIXES for item in files):
        raise IdeaFileError(
            f"folder {folder.name} holds no .txt or .md file: put one idea into each"
        )
    for item in files:
        if item.is_symlink() or not item.is_file():
            yield unreadable(
                item.name,
                "this is a link, pipe or device, and only files are read: put a copy in its place",
            )
        elif item.suffix.lower() in TEXT_SUFFIXES:
            yield _contained(item)
        else:
            yield unreadable(
                item.name,
                "only .txt and .md files of a folder are read: convert it, or evaluate it by"
                " itself",
            )


def _contained(path: Path) -> Entry | RejectedIdea:
    boundary = ErrorBoundary()
    with boundary:
        return _entry(path)
    assert boundary.error is not None
    return unreadable(
        path.name, f"the file cannot be read ({in_a_word(boundary.error)}): write it anew"
    )


class _PlainLoader(yaml.BaseLoader):
    """Builds strings, lists and mappings only, and each where it stands: a name for another part
    can stand for any amount of it.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def read_text_file(path: Path) -> Entries:
    """The one entry of a .txt or .md file.

    Raises:
        IdeaFileError: the file is not UTF-8.
    """
    entry = _entry(path)
    if isinstance(entry, RejectedIdea) and entry.reason is Reason.UNREADABLE:
        raise IdeaFileError(f"{path.name}: {entry.detail}")
    yield entry


def _entry(path: Path) -> Entry | RejectedIdea:
    location = path.name
    try:
        with path.open("rb") as file:
            content = file.read(4 * MAXIMUM_CHARACTERS + 1)
    except OSError as error:
        return unreadable(
            location, f"the file cannot be opened ({error.strerror}): check its permissions"
        )
    if len(content) > 4 * MAXIMUM_CHARACTERS:
        return too_long(None, location, path.stat().st_size)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return unreadable(location, "the file is not UTF-8 text: save it as UTF-8")
    fields: dict[str, object] = {"file": path.name.encode("utf-8", "replace").decode()}
    if path.suffix.lower() != ".txt" and (matter := _FRONT_MATTER.match(text)):
        try:
            given = yaml.load(matter.group(1), Loader=_PlainLoader)  # noqa: S506 -- a BaseLoader
        except (yaml.YAMLError, RecursionError, ValueError):
            return RejectedIdea(
                idea_id=None,
                location=location,
                reason=Reason.BAD_FIELD,
                detail=(
                    "the front matter between the --- lines is not valid YAML without aliases:"
                    " write `name: value` lines"
                ),
            )
        if isinstance(given, dict):
            fields |= {str(name): value for name, value in given.items()}
            text = text[matter.end() :]
    return Entry(location, fields | {"text": text})
