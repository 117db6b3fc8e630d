"""LaTeX files → one source: the main file, its comments gone, what it includes in its place, its
own macros written out.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from schemas.reasons import Reason
from schemas.text.patterns import DOTALL, Match, bounded
from tasks.documents.latex_files import LatexError
from tasks.documents.latex_inclusions import (
    file_named,
    main_files,
    starts_document,
    with_inclusions,
    without_comments,
)

MAXIMUM_SOURCE_CHARACTERS = 6_000_000
_DEEPEST_INCLUSION = 20
# Macros stand in macros, but seldom deeper; one that calls itself has no end.
_EXPANSION_PASSES = 6
_DOCUMENT_CLASS = bounded(r"\\document(?:class|style)\b")
_COMMAND = bounded(r"\\([A-Za-z]+)(?:\{\})?")
_PARAMETER = bounded(r"#([1-9])")
_OPTIONAL = bounded(r"\s{0,9}\[([^\[\]]{0,2000})\]")
_BRACE = bounded(r"\\.|[{}]", DOTALL)
_USUAL_NAMES = ("main", "ms", "paper", "article", "manuscript", "root", "arxiv")
_DEFINITION = bounded(
    r"\\(?:(?:re|provide)?newcommand|renewcommand|providecommand|DeclareRobustCommand)\*?\s{0,9}"
    r"\{?\s{0,9}\\([A-Za-z]{1,60})\s{0,9}\}?\s{0,9}(?:\[(\d)\])?\s{0,9}"
    r"(?:\[([^\[\]]{0,300})\])?\s{0,9}(?=\{)"
    r"|\\def\s{0,9}\\([A-Za-z]{1,60})\s{0,9}(?=\{)"
)


def whole_source(files: Mapping[str, str], main: str = "") -> str:
    """The paper as one LaTeX text.

    Only files of the archive are ever included; one that is missing is left out, as LaTeX without
    `-halt-on-error` does.

    Args:
        main: the file to start from; empty: as `main_file` chooses.

    Raises:
        LatexError: none of the files is LaTeX, or the inclusions or macros multiply beyond the
            limit (a bomb).
    """
    return _expanded(_included(files, main or main_file(files), ()))


def main_file(files: Mapping[str, str]) -> str:
    """The file a LaTeX run would start from: a whole document that no other includes, with a usual
    name, nearest to the root, the longest.

    Raises:
        LatexError: none has a document class, and none but one could be it.
    """
    texts = {
        name: text for name, text in files.items() if not name.lower().endswith((".bbl", ".txt"))
    }
    starts = [name for name, text in texts.items() if starts_document(text)]
    candidates = main_files(starts, lambda: texts) or [
        name
        for name, text in texts.items()
        if _DOCUMENT_CLASS.search(without_comments(text[:200_000]))
    ]
    if not candidates:
        candidates = [
            name for name, text in texts.items() if "\\section" in text or "\\begin{" in text
        ]
    if not candidates:
        raise LatexError(Reason.NOT_LATEX, "none of the files is a LaTeX document")

    def order(name: str) -> tuple[bool, bool, int, int, str]:
        stem = PurePosixPath(name).stem.lower()
        whole = "\\begin{document}" in texts[name]
        return not whole, stem not in _USUAL_NAMES, name.count("/"), -len(texts[name]), name

    return min(candidates, key=order)


def _included(files: Mapping[str, str], name: str, above: tuple[str, ...]) -> str:
    main = above[0] if above else name
    size = 0

    def inclusion(wanted: str) -> str:
        nonlocal size
        file = file_named(files, wanted, name, main)
        if file is None or file in (*above, name):
            return ""
        if len(above) >= _DEEPEST_INCLUSION:
            raise LatexError(
                Reason.PARSER_LIMIT, f"files include files more than {_DEEPEST_INCLUSION} deep"
            )
        text = _included(files, file, (*above, name))
        size += len(text)
        if size > MAXIMUM_SOURCE_CHARACTERS:
            raise LatexError(
                Reason.PARSER_LIMIT,
                f"the included files come to more than {MAXIMUM_SOURCE_CHARACTERS:,} characters",
            )
        return f"\n{text}\n"

    return with_inclusions(files, name, main, inclusion)


def _expanded(text: str) -> str:
    """The paper's own macros written out, as far as they stand for text; a macro that calls itself
    stops after a few rounds.
    """
    macros, text = _definitions(text)
    if not macros:
        return text
    for _ in range(_EXPANSION_PASSES):
        text, changed = _one_pass(text, macros)
        if not changed:
            break
    return text


def _one_pass(text: str, macros: Mapping[str, tuple[int, str | None, str]]) -> tuple[str, bool]:
    pieces: list[str] = []
    place = size = 0
    for found in _COMMAND.finditer(text):
        if found.start() < place or found.group(1) not in macros:
            continue
        count, default, body = macros[found.group(1)]
        end = found.end()
        if count == 0:
            value = body
        else:
            arguments, end = _arguments(
                text, found.start() + 1 + len(found.group(1)), count, default
            )
            value = _filled(body, arguments)
        pieces += [text[place : found.start()], value]
        size += found.start() - place + len(value)
        if size > MAXIMUM_SOURCE_CHARACTERS:
            raise LatexError(
                Reason.PARSER_LIMIT,
                f"the macros multiply to more than {MAXIMUM_SOURCE_CHARACTERS:,} characters",
            )
        place = end
    return ("".join([*pieces, text[place:]]), bool(pieces))


def _filled(body: str, arguments: Sequence[str]) -> str:
    def argument(found: Match[str]) -> str:
        number = int(found.group(1))
        return arguments[number - 1] if number <= len(arguments) else ""

    return _PARAMETER.sub(argument, body)


def _definitions(text: str) -> tuple[dict[str, tuple[int, str | None, str]], str]:
    macros: dict[str, tuple[int, str | None, str]] = {}
    kept: list[str] = []
    place = 0
    for found in _DEFINITION.finditer(text):
        if found.start() < place:
            continue
        body, end = balanced(text, found.end())
        if end == found.end():
            continue
        kept.append(text[place : found.start()])
        place = end
        if len(body) <= 2_000:
            macros[found.group(1) or found.group(4)] = (
                int(found.group(2) or 0),
                found.group(3),
                body,
            )
    return macros, "".join([*kept, text[place:]])


def _arguments(text: str, place: int, count: int, default: str | None) -> tuple[list[str], int]:
    arguments: list[str] = []
    if default is not None:
        optional = _OPTIONAL.match(text, place)
        arguments.append(optional.group(1) if optional else default)
        place = optional.end() if optional else place
    while len(arguments) < count:
        start = place
        while start < len(text) and text[start].isspace():
            start += 1
        argument, end = balanced(text, start)
        if end == start:
            break
        arguments.append(argument)
        place = end
    return arguments, place


def balanced(text: str, start: int) -> tuple[str, int]:
    """The text between the brace at `start` and its partner, and the place behind it; (`""`,
    `start`) where there is none.
    """
    if start >= len(text) or text[start] != "{":
        return "", start
    end = _partners(text).get(start)
    return ("", start) if end is None else (text[start + 1 : end], end + 1)


@lru_cache(maxsize=1)
def _partners(text: str) -> dict[int, int]:
    """Where each opening brace is closed.

    Read once for a text: seeking each from its place on would be quadratic.
    """
    partners: dict[int, int] = {}
    waiting: list[int] = []
    for found in _BRACE.finditer(text):
        if found.group() == "{":
            waiting.append(found.start())
        elif found.group() == "}" and waiting:
            partners[waiting.pop()] = found.start()
    return partners
