"""Regular expressions over untrusted text, with linear time.

A backtracking engine can take exponential time while it holds the interpreter's lock, so that no
timeout and no Ctrl-C works. Expressions are therefore made by one of two functions:

- `bounded` uses Python's `re`. Every repetition has an upper limit; an unlimited one is allowed
  only where nothing after it can fail, so that it is never retried (possessive quantifiers help).
- `linear` uses RE2, for unlimited repetitions in the middle. It has no look-around, no
  back-references, and only ASCII word boundaries.

`DEFINED` lists all expressions, and a test measures their growth. RE2 guarantees linear time only
for one search: `finditer` is quadratic if every match requires a search to the end of the text.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from re import DOTALL, IGNORECASE, MULTILINE, Match
from typing import Any

import re2

__all__ = [
    "DEFINED",
    "DOTALL",
    "IGNORECASE",
    "MULTILINE",
    "Match",
    "Pattern",
    "bounded",
    "escape",
    "linear",
]

_SPACE = (
    r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
_CLASSES = {"w": r"\pL\pN_", "d": r"\p{Nd}", "s": _SPACE}
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


class Pattern:
    """Expression over untrusted text, compiled at its first use, with the methods of `re.Pattern`.

    `engine` is "re" or "re2"; `because` explains why an unlimited repetition takes linear time.
    """

    def __init__(self, expression: str, flags: int, engine: str, because: str | None) -> None:
        self.expression = expression
        self.flags = flags
        self.engine = engine
        self.because = because

    def __repr__(self) -> str:
        return f"{self.engine}: {self.expression!r}, flags {self.flags}"

    @cached_property
    def _compiled(self) -> Any:
        if self.engine == "re":
            return re.compile(self.expression, self.flags)
        options = re2.Options()
        options.log_errors = False
        return re2.compile(_for_re2(self.expression, self.flags), options)

    def _text(self, text: str) -> str:
        """Replace lone surrogates by U+FFFD for RE2, which reads UTF-8."""
        if self.engine == "re" or text.isascii() or not _HAS_SURROGATES.search(text):
            return text
        return text.translate(_SURROGATES)

    def search(self, text: str) -> Match[str] | None:
        return self._compiled.search(self._text(text))  # type: ignore[no-any-return]

    def match(self, text: str, start: int = 0) -> Match[str] | None:
        if not start:
            return self._compiled.match(self._text(text))  # type: ignore[no-any-return]
        if self.engine != "re":
            raise ValueError(f"{self!r} would read the whole text for each start")
        return self._compiled.match(text, start)  # type: ignore[no-any-return]

    def fullmatch(self, text: str) -> Match[str] | None:
        return self._compiled.fullmatch(self._text(text))  # type: ignore[no-any-return]

    def finditer(self, text: str, start: int = 0) -> Iterator[Match[str]]:
        return self._compiled.finditer(self._text(text), start)  # type: ignore[no-any-return]

    def findall(self, text: str) -> list[Any]:
        return self._compiled.findall(self._text(text))  # type: ignore[no-any-return]

    def split(self, text: str, maxsplit: int = 0) -> list[str | Any]:
        return self._compiled.split(self._text(text), maxsplit)  # type: ignore[no-any-return]

    def sub(self, replacement: str | Callable[[Match[str]], str], text: str, count: int = 0) -> str:
        if self.engine == "re2" and isinstance(replacement, str):
            if "\\" in replacement:
                raise ValueError(f"{self!r} takes a function: RE2 garbles templates beyond ASCII")
            return self.sub(lambda _: replacement, text, count)
        new_text = self._compiled.sub(replacement, self._text(text), count)
        return new_text  # type: ignore[no-any-return]


DEFINED: dict[tuple[str, int, str], Pattern] = {}


def bounded(expression: str, flags: int = 0, *, because: str | None = None) -> Pattern:
    """Define an expression of `re` with limited repetitions; never from external text.

    Args:
        because: why an unlimited repetition is harmless; required for one.
    """
    return _defined(expression, flags, "re", because)


def linear(expression: str, flags: int = 0) -> Pattern:
    r"""Define an expression in Python's syntax that RE2 runs in linear time.

    `\w`, `\d` and `\s` match the same Unicode characters as in `re`. Differences: ignoring case,
    `i` does not match the Turkish `ı` and `İ`; a lone surrogate reads as U+FFFD.

    Raises:
        ValueError: at its first use, if the engines would interpret it differently.
    """
    return _defined(expression, flags, "re2")


def escape(text: str) -> str:
    """Return an expression that matches only `text`."""
    return re.escape(text)


def _defined(expression: str, flags: int, engine: str, because: str | None = None) -> Pattern:
    key = (expression, int(flags), engine)
    return DEFINED.setdefault(key, Pattern(*key, because))


def _for_re2(expression: str, flags: int) -> str:
    """Translate an expression to RE2's syntax, with the character classes of `re`."""
    names = "".join(
        name for flag, name in ((IGNORECASE, "i"), (MULTILINE, "m"), (DOTALL, "s")) if flags & flag
    )
    pieces: list[str] = [f"(?{names})"] if names else []
    in_class = False
    for token in _TOKEN.findall(expression):
        if token[0] == "\\":
            pieces.append(_escape_for_re2(token, in_class, expression))
            continue
        if token == "$" and not in_class and not flags & MULTILINE:  # noqa: S105
            raise ValueError(f"`$` of {expression!r} would also match before a last newline: \\Z")
        in_class = (in_class or token[0] == "[") and token != "]"  # noqa: S105
        pieces.append(token)
    return "".join(pieces)


def _escape_for_re2(token: str, in_class: bool, expression: str) -> str:
    name = token[1]
    if name in _CLASSES:
        return _CLASSES[name] if in_class else f"[{_CLASSES[name]}]"
    if name.lower() in _CLASSES and not in_class:
        return f"[^{_CLASSES[name.lower()]}]"
    if name.lower() in _CLASSES or name in "bB123456789":
        raise ValueError(f"RE2 cannot say {token} in {expression!r} as `re` means it")
    if name == "u":
        return f"\\x{{{token[2:]}}}"
    return r"\z" if name == "Z" else token


# The first characters of a class are one token, because a `]` there is no end of it.
_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\[\^?\]?|.", re.DOTALL)
_HAS_SURROGATES = re.compile(r"[\ud800-\udfff]")
