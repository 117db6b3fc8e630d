"""Changeable parts of a program: tunable values, and regions for strict patches.

    STEP = 0.5        # tunable: 0.01..10 log
    ROUNDS = 3        # tunable: 1..12
    ORDER = "random"  # tunable: "random", "sorted"

    # region packing
    …
    # endregion

A tunable is an assignment of one literal to one name, at the left margin, with its range or choices
in a comment. Region marks are on lines of their own; a program without marks may be changed
anywhere.
"""

import ast
import difflib
import io
import math
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.base import encodable
from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash

_MARK = "# tunable:"
Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Tunable:
    """A name with its allowed values.

    Attributes:
        value: value in the program.
        line, start, end: position of the value: its line from 0 and its columns, in bytes.
        choices: allowed values, if listed.
        low, high, is_log: inclusive bounds, if the values are a range.
    """

    name: str
    value: Value
    line: int
    start: int
    end: int
    choices: tuple[Value, ...] = ()
    low: float = 0.0
    high: float = 0.0
    is_log: bool = False

    @property
    def is_whole(self) -> bool:
        return isinstance(self.value, int) and not isinstance(self.value, bool)


def tunables_of(source: str, where: str) -> tuple[Tunable, ...]:
    """Return the tunables of a program in order; messages call the program `where`.

    Raises:
        ConfigurationError: a range or choice is invalid, or the value is outside.
    """
    comments = _comments(source)
    tunables = []
    for node in ast.parse(source).body:
        comment = comments.pop(node.end_lineno or 0, None) if isinstance(node, ast.Assign) else None
        if comment is not None:
            assert isinstance(node, ast.Assign)
            tunables.append(_tunable(node, comment, f"{where}, line {node.lineno}"))
    if comments:
        raise ConfigurationError(
            f"{where}, line {min(comments)}: `{_MARK}` belongs behind NAME = VALUE at the left"
            " margin"
        )
    names = [tunable.name for tunable in tunables]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"{where}: one name is tunable twice")
    return tuple(tunables)


def with_settings(source: str, tunables: tuple[Tunable, ...], values: Mapping[str, Value]) -> str:
    """Return the program with other values of its tunables; unchanged ones stay as written."""
    lines = source.encode().splitlines(keepends=True)
    for tunable in tunables:
        line, value = lines[tunable.line], values[tunable.name]
        if (type(value), value) != (type(tunable.value), tunable.value):
            literal = repr(value).encode()
            lines[tunable.line] = line[: tunable.start] + literal + line[tunable.end :]
    return b"".join(lines).decode()


def tree_hash(source: str) -> str:
    """Hash the syntax tree, which ignores spaces and comments."""
    return content_hash(syntax_tree(source), length=64)


def syntax_tree(source: str) -> str:
    """Return the syntax tree of a trusted program as text."""
    return ast.dump(ast.parse(source))


def is_read_as_shown(source: str) -> bool:
    """Return whether Python reads the file as UTF-8.

    An encoding named in the first two lines would run another program than the one shown.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode()).readline)
    except SyntaxError:
        return False
    return encoding in ("utf-8", "utf-8-sig")


def _comments(source: str) -> dict[int, str]:
    """Return the text after the mark, by line from 1."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.removeprefix(_MARK).strip()
        for token in tokens
        if token.type == tokenize.COMMENT and token.string.startswith(_MARK)
    }


def _tunable(node: ast.Assign, comment: str, line_place: str) -> Tunable:
    target, node_value = node.targets[0], node.value
    value = _literal(node_value)
    if len(node.targets) > 1 or not isinstance(target, ast.Name) or value is None:
        raise ConfigurationError(
            f"{line_place}: only NAME = number, word or truth value is tunable"
        )
    assert node_value.end_col_offset is not None
    if node_value.lineno != node_value.end_lineno:
        raise ConfigurationError(f"{line_place}: a tunable value stands on one line")
    place = (node_value.lineno - 1, node_value.col_offset, node_value.end_col_offset)
    if ".." in comment and not comment.startswith(("'", '"')):
        low, high, is_log = _range(comment, line_place)
        tunable = Tunable(target.id, value, *place, low=low, high=high, is_log=is_log)
        if isinstance(value, bool | str) or not low <= value <= high:
            raise ConfigurationError(
                f"{line_place}: {value!r} is no number from {low:g} to {high:g}"
            )
        if tunable.is_whole and not (low.is_integer() and high.is_integer()):
            raise ConfigurationError(f"{line_place}: the bounds of a whole number are whole")
        return tunable
    choices = _choices(comment, line_place)
    if isinstance(value, float):
        choices = tuple(float(each) if type(each) is int else each for each in choices)
    if not any(type(each) is type(value) and each == value for each in choices):
        raise ConfigurationError(f"{line_place}: {value!r} is none of its choices")
    return Tunable(target.id, value, *place, choices=choices)


def _literal(node: ast.expr) -> Value | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, bool | int | float | str) else None


def _range(comment: str, place: str) -> tuple[float, float, bool]:
    bounds, _, suffix = comment.partition(" ")
    low, _, high = bounds.partition("..")
    try:
        minimum, maximum = float(low), float(high)
    except ValueError:
        minimum = maximum = math.nan
    is_log = suffix.strip() == "log"
    if not (minimum < maximum and math.isfinite(maximum - minimum)) or (
        suffix.strip() and not is_log
    ):
        raise ConfigurationError(f"{place}: `{comment}` is no range such as 0.01..10 or 1..64 log")
    if is_log and minimum <= 0:
        raise ConfigurationError(f"{place}: a logarithmic range begins above 0")
    return minimum, maximum, is_log


def _choices(comment: str, place: str) -> tuple[Value, ...]:
    try:
        tree = ast.parse(f"({comment},)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Constant(None)
    values = [_literal(each) for each in tree.elts] if isinstance(tree, ast.Tuple) else []
    choices = tuple(value for value in values if value is not None)
    if len(choices) < 2 or len(choices) < len(values):
        raise ConfigurationError(
            f'{place}: `{comment}` is neither a range such as 0.01..10 nor choices such as "a", "b"'
        )
    return choices


ALL = "all"
"""Name of the region of a program without marks."""

MOST_CHANGES = 20
MOST_CHARACTERS = 60_000
MOST_LINES = 2_000
_BEGIN, _END = "# region ", "# endregion"


class PatchError(Exception):
    """A change that cannot be applied; the message is one line."""


class Replacement(Protocol):
    """One change: `find` in the region is replaced by `replace`; an empty `find` is the region."""

    @property
    def region(self) -> str: ...
    @property
    def find(self) -> str: ...
    @property
    def replace(self) -> str: ...


def regions_of(source: str, where: str) -> tuple[str, ...]:
    """Return the names of the regions in order; messages call the program `where`.

    Raises:
        ConfigurationError: unmatched or nested marks, or two regions with one name.
    """
    try:
        return tuple(name for name, _ in _parts(source) if name is not None)
    except PatchError as error:
        raise ConfigurationError(f"{where}: {error}") from error


def apply_changes(source: str, changes: Sequence[Replacement]) -> str:
    """Apply the changes one after the other.

    Text outside the regions stays, and no region is added, moved or ended.

    Raises:
        PatchError: an unknown region, text that does not occur exactly once, or a result that is no
            text, too long or unchanged.
    """
    if len(changes) > MOST_CHANGES:
        raise PatchError(f"it holds {len(changes)} changes, and {MOST_CHANGES} are the most")
    parts = _parts(source)
    texts = {name: text for name, text in parts if name is not None}
    for number, change in enumerate(changes, start=1):
        if change.region not in texts:
            raise PatchError(
                f"change {number} names no region that may be changed: {', '.join(texts)}"
            )
        texts[change.region] = _apply_change(texts[change.region], change, number)
    result = "".join(text if name is None else texts[name] for name, text in parts)
    if not encodable(result) or any(each < " " and each not in "\n\t" for each in result):
        raise PatchError("the program would hold characters that are no text")
    if not is_read_as_shown(result):
        raise PatchError(
            "the program would name another encoding than UTF-8 in its first two lines"
        )
    if len(result) > MOST_CHARACTERS:
        raise PatchError(f"the program would have more than {MOST_CHARACTERS:,} characters")
    if result.count("\n") > MOST_LINES:
        raise PatchError(f"the program would have more than {MOST_LINES:,} lines")
    if result == source:
        raise PatchError("it changes nothing")
    return result


def difference(before: str, after: str, name: str) -> str:
    """Return the difference to another program called `name`, in the format of `diff -u`."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "program.py", name, lineterm="", n=1
    )
    return "\n".join(lines)


def _apply_change(text: str, change: Replacement, number: int) -> str:
    if not change.find:
        result = change.replace
    else:
        count = text.count(change.find)
        if count != 1:
            times = "nowhere" if count == 0 else f"{count} times"
            raise PatchError(
                f"`find` of change {number} stands {times} in region {change.region}, and should"
                " stand there once, character by character"
            )
        result = text.replace(change.find, change.replace)
    if len(result) > MOST_CHARACTERS:
        raise PatchError(f"the program would have more than {MOST_CHARACTERS:,} characters")
    if any(_is_mark(line) for line in result.splitlines()):
        raise PatchError(f"change {number} leaves a mark of a region inside {change.region}")
    return result if not result or result.endswith("\n") else result + "\n"


def _is_mark(line: str) -> bool:
    word = line.strip()
    return word in (_BEGIN.strip(), _END) or word.startswith(_BEGIN)


def _parts(source: str) -> list[tuple[str | None, str]]:
    """Split the source before and after each region; lines outside of any have no name."""
    lines = source.splitlines(keepends=True)
    if not any(_is_mark(line) for line in lines):
        return [(ALL, source)]
    parts: list[tuple[str | None, str]] = []
    lines_of_part: list[str] = []
    name: str | None = None
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if not _is_mark(line):
            lines_of_part.append(line)
        elif word == _END and name is not None:
            parts.append((name, "".join(lines_of_part)))
            lines_of_part, name = [line], None
        elif word.startswith(_BEGIN) and name is None:
            name = word.removeprefix(_BEGIN).strip()
            if any(other == name for other, _ in parts):
                raise PatchError(f"line {number}: two regions are called {name}")
            parts.append((None, "".join([*lines_of_part, line])))
            lines_of_part = []
        else:
            raise PatchError(
                f"line {number}: `{word}` should be `{_BEGIN}NAME` or, behind one, `{_END}`"
            )
    if name is not None:
        raise PatchError(f"region {name} has no `{_END}`")
    return [*parts, (None, "".join(lines_of_part))]
