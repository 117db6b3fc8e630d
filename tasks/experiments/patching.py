"""A change of a program: what of it may be changed, a change applied strictly, and what was changed
as a diff.

    # region packing
    …
    # endregion

The marks stand on lines of their own. Of a program without any, all may be changed.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.base import encodable
from schemas.errors import ConfigurationError
from tasks.experiments.program import is_read_as_shown

ALL = "all"
"""The name of the region of a program without marks."""

MOST_CHANGES = 20
MOST_CHARACTERS = 60_000
MOST_LINES = 2_000
_BEGIN, _END = "# region ", "# endregion"
_WORDS_OF_MARKS = (_BEGIN.strip(), _END)


class PatchError(Exception):
    """A change that cannot be applied, in one line that says why."""


class Replacement(Protocol):
    """One change: where `find` stands in the region, there stands `replace` afterwards.

    An empty `find` is all of the region.
    """

    @property
    def region(self) -> str: ...
    @property
    def find(self) -> str: ...
    @property
    def replace(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines that belong together; those outside of any region have no name."""

    name: str | None
    text: str


def regions_of(source: str, where: str) -> tuple[str, ...]:
    """The names of what may be changed, in the program's order; `where` is what messages call it.

    Raises:
        ConfigurationError: marks without their counterpart, inside each other or of one name.
    """
    try:
        return tuple(part.name for part in _parts(source) if part.name is not None)
    except PatchError as error:
        raise ConfigurationError(f"{where}: {error}") from error


def patched(source: str, changes: Sequence[Replacement]) -> str:
    """The program after the changes, each of which meets what those before it left.

    Nothing outside of the regions is changed, and no region is made, moved or ended.

    Raises:
        PatchError: a change names no region, or text that does not stand there exactly once; or
            what comes out is no text, too long, or the program as it was.
    """
    if len(changes) > MOST_CHANGES:
        raise PatchError(f"it holds {len(changes)} changes, and {MOST_CHANGES} are the most")
    parts = _parts(source)
    texts = {part.name: part.text for part in parts if part.name is not None}
    for number, change in enumerate(changes, start=1):
        if change.region not in texts:
            raise PatchError(
                f"change {number} names no region that may be changed: {', '.join(texts)}"
            )
        texts[change.region] = _changed(texts[change.region], change, number)
    made = "".join(part.text if part.name is None else texts[part.name] for part in parts)
    _check(made)
    if made == source:
        raise PatchError("it changes nothing")
    return made


def difference(before: str, after: str, name: str) -> str:
    """From one program to another one called `name`, as `diff -u` shows it."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "program.py", name, lineterm="", n=1
    )
    return "\n".join(lines)


def _changed(text: str, change: Replacement, number: int) -> str:
    if not change.find:
        made = change.replace
    else:
        count = text.count(change.find)
        if count != 1:
            times = "nowhere" if count == 0 else f"{count} times"
            raise PatchError(
                f"`find` of change {number} stands {times} in region {change.region}, and should"
                " stand there once, character by character"
            )
        made = text.replace(change.find, change.replace)
    if len(made) > MOST_CHARACTERS:
        raise PatchError(f"the program would have more than {MOST_CHARACTERS:,} characters")
    if any(_is_mark(line) for line in made.splitlines()):
        raise PatchError(f"change {number} leaves a mark of a region inside {change.region}")
    return made if not made or made.endswith("\n") else made + "\n"


def _check(source: str) -> None:
    if not encodable(source) or any(each < " " and each not in "\n\t" for each in source):
        raise PatchError("the program would hold characters that are no text")
    if not is_read_as_shown(source):
        raise PatchError(
            "the program would name another encoding than UTF-8 in its first two lines"
        )
    if len(source) > MOST_CHARACTERS:
        raise PatchError(f"the program would have more than {MOST_CHARACTERS:,} characters")
    if source.count("\n") > MOST_LINES:
        raise PatchError(f"the program would have more than {MOST_LINES:,} lines")


def _is_mark(line: str) -> bool:
    word = line.strip()
    return word == _END or word.startswith(_BEGIN) or word in _WORDS_OF_MARKS


def _parts(source: str) -> list[_Part]:
    """All of the source, cut before and behind each region."""
    lines = source.splitlines(keepends=True)
    if not any(_is_mark(line) for line in lines):
        return [_Part(ALL, source)]
    parts: list[_Part] = []
    held: list[str] = []
    name: str | None = None
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if not _is_mark(line):
            held.append(line)
        elif word == _END and name is not None:
            parts.append(_Part(name, "".join(held)))
            held, name = [line], None
        elif word.startswith(_BEGIN) and name is None:
            name = word.removeprefix(_BEGIN).strip()
            if any(part.name == name for part in parts):
                raise PatchError(f"line {number}: two regions are called {name}")
            parts.append(_Part(None, "".join([*held, line])))
            held = []
        else:
            raise PatchError(
                f"line {number}: `{word}` should be `{_BEGIN}NAME` or, behind one, `{_END}`"
            )
    if name is not None:
        raise PatchError(f"region {name} has no `{_END}`")
    return [*parts, _Part(None, "".join(held))]
