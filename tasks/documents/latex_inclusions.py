"""The files that a LaTeX document is made of: main files, what they include, what is missing."""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

from schemas.text.patterns import Match, Pattern, bounded, linear
from tasks.documents.latex_files import inner_name

_VERBATIM = bounded(r"\\(begin|end)\{(verbatim\*?|lstlisting|minted|comment)\}")
_COMMENT = bounded(r"(?<!\\)((?:\\\\){0,99})%[^\n]*(?:\n[ \t]*)?")
_INCLUSION = linear(
    r"\\(?:input|include|subfile|subfileinclude)\s*\{\s*([^{}]{1,300}?)\s*\}"
    r"|\\input\s+([^\s{}\\%]{1,300})"
)
_IMPORT = linear(
    r"\\(?:(?:sub)?import|(?:sub)?(?:input|include)from)\*?"
    r"\s*\{\s*([^{}]{0,300}?)\s*\}\s*\{\s*([^{}]{1,300}?)\s*\}"
)
_BRANCH = r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
_IF_THERE = linear(rf"\\(Input)?IfFileExists\s*\{{\s*([^{{}}]{{1,300}}?)\s*\}}{_BRANCH}{_BRANCH}")
_CLASS = linear(r"\\document(?:class|style)\s*(?:\[[^\[\]]*\]\s*)?\{\s*([^{}]*?)\s*\}")
_PARTIAL_CLASSES = frozenset({"standalone", "subfiles"})
"""Classes of a figure or a part that can also be compiled alone."""
_PICTURE = linear(r"\\begin\{(?:tikzpicture|pgfpicture|axis)\}|Creator: Matplotlib, PGF backend")
_GRAPHIC = linear(
    r"\\include(?:graphics|pdf|svg)\*?\s*(?:\[[^\[\]]*\]\s*)?\{\s*([^{}]{1,300}?)\s*\}"
)
_GRAPHIC_FOLDERS = linear(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)")
_BRACED = linear(r"\{([^{}]*)\}")
_NOT_TEXT = frozenset(
    {".def", ".cfg", ".sty", ".cls", ".clo", ".fd", ".enc", ".lua", ".bib", ".pgf", ".tikz"}
    | {".pdf_tex", ".eps_tex", ".pdftex_t", ".pstex_t", ".svg"}
)
"""Suffixes of definitions and pictures: without them no word of the text is lost."""
_OF_TEX = frozenset(
    {"glyphtounicode", "xy", "epsf", "psfig", "amssym", "cyracc", "pdf-trans", "insbox", "tikz"}
)
"""Files that every TeX distribution brings."""
_MOST_DOCUMENTS = 30


class SourceFiles(Protocol):
    """Texts by their path in a source."""

    def __contains__(self, name: str, /) -> bool: ...

    def __getitem__(self, name: str, /) -> str: ...


def without_comments(text: str) -> str:
    """Everything from an unescaped `%` to the end of its line gone; verbatim blocks and `comment`
    blocks too.
    """
    return _COMMENT.sub(lambda found: found.group(1), without_environments(text, _VERBATIM, ""))


def without_environments(text: str, marks: Pattern, instead: str) -> str:
    """Each environment, from its beginning to the next end of its name, replaced by `instead`.

    Args:
        marks: finds beginnings and ends; its groups are `begin` or `end`, and the name.
    """
    found = list(marks.finditer(text))
    last_end = {mark.group(2): mark.start() for mark in found if mark.group(1) == "end"}
    pieces: list[str] = []
    place, inside = 0, ""
    for mark in found:
        kind, name = mark.groups()
        if not inside and kind == "begin" and last_end.get(name, -1) > mark.start():
            pieces += [text[place : mark.start()], instead]
            inside = name
        elif kind == "end" and name == inside:
            place, inside = mark.end(), ""
    return "".join([*pieces, text[place:]])


def starts_document(text: str) -> bool:
    """Whether the text is a whole document: neither a part of one nor a figure."""
    plain = without_comments(text)
    document_class = _CLASS.search(plain)
    return (
        document_class is not None
        and document_class.group(1) not in _PARTIAL_CLASSES
        and "\\begin{document}" in plain
    )


def is_figure(text: str) -> bool:
    """Whether the text is a picture alone."""
    document_class = _CLASS.search(text)
    if document_class is not None:
        return document_class.group(1) == "standalone"
    return _PICTURE.search(text) is not None and "\\section" not in text


def main_files(starts: list[str], opened: Callable[[], SourceFiles]) -> list[str]:
    """Return those of the whole documents `starts` that no other of them includes.

    Args:
        opened: returns the files of the source; called once for each document.
    """
    if not 1 < len(starts) <= _MOST_DOCUMENTS:
        return starts
    parts = {name: set(followed(opened(), name).reached[1:]) for name in starts}
    return [
        name
        for name in starts
        if not any(name in parts[other] for other in starts if other != name)
    ] or starts


class Inclusions(NamedTuple):
    """The files of a document, the main file first, and the names that cannot be followed: those in
    its text, and those in its preamble, which hold macros.
    """

    reached: list[str]
    missing: list[str]
    missing_preamble: list[str]


def followed(files: SourceFiles, main: str) -> Inclusions:
    """Return the main file with all files it includes, and the names that cannot be followed."""
    reached, missing = [main], dict[str, bool]()  # with whether each stands in the preamble
    in_preamble = {main: False}
    for name in reached:  # grows while it is read
        preamble, text = _preamble_and_text(files, name, main)
        for part, is_preamble in ((preamble, True), (text, in_preamble[name])):

            def note(wanted: str, includer: str = name, is_preamble: bool = is_preamble) -> str:
                file = file_named(files, wanted, includer, main)
                if file is None:
                    # A macro's argument, such as parts/#1, is used in the text.
                    missing[wanted] = (
                        missing.get(wanted, True) and is_preamble and "#" not in wanted
                    )
                elif file not in in_preamble:
                    in_preamble[file] = is_preamble
                    reached.append(file)
                return ""

            _replaced(part, files, name, main, note)
    names = [name for name in missing if _holds_text(name)]
    return Inclusions(
        reached,
        [name for name in names if not missing[name]],
        [name for name in names if missing[name]],
    )


def _holds_text(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() not in _NOT_TEXT and path.stem.lower() not in _OF_TEX


def with_inclusions(files: SourceFiles, name: str, main: str, text_of: Callable[[str], str]) -> str:
    """Return the text of a file without comments, each inclusion replaced by `text_of` its name.

    Of an included file that is a document of its own, only its body is returned.
    """
    preamble, text = _preamble_and_text(files, name, main)
    return _replaced(f"{preamble}{text}", files, name, main, text_of)


def _preamble_and_text(files: SourceFiles, name: str, main: str) -> tuple[str, str]:
    """Both without comments; an included file has no preamble of interest."""
    text = without_comments(files[name]).partition("\\end{document}")[0]
    preamble, begin, body = text.partition("\\begin{document}")
    if not begin:
        return "", preamble
    return (preamble, f"{begin}{body}") if name == main else ("", body)


def _replaced(
    text: str, files: SourceFiles, name: str, main: str, text_of: Callable[[str], str]
) -> str:
    """Return a text of the file `name`, each inclusion replaced by `text_of` its name."""

    def branch(found: Match[str]) -> str:
        included, wanted, then, otherwise = found.groups()
        if file_named(files, wanted, name, main) is None:
            return otherwise
        return f"\\input{{{wanted}}}{then}" if included else then

    text = _IF_THERE.sub(branch, text)
    text = _IMPORT.sub(lambda found: text_of(f"{found.group(1)}/{found.group(2)}"), text)
    return _INCLUSION.sub(lambda found: text_of(found.group(1) or found.group(2)), text)


def file_named(files: SourceFiles, wanted: str, includer: str, main: str) -> str | None:
    """Return the file that `includer` calls `wanted`; None: it is not among `files`."""
    folders = (str(PurePosixPath(name).parent) for name in (includer, main))
    bare = wanted.strip('"')
    for folder in dict.fromkeys((*folders, ".")):
        for suffix in (".tex", "", ".ltx"):
            name = inner_name(f"{folder}/{bare}{suffix}")
            if name is not None and name in files:
                return name
    return None


def drawn_on(files: SourceFiles, main: str) -> set[str]:
    """Return the names of the files that a document consists of, its pictures included.

    Pictures stand there as they are named, often without their suffix.
    """
    reached = followed(files, main).reached
    texts = [without_comments(files[name]) for name in reached]
    folders = {
        folder
        for text in texts
        for paths in _GRAPHIC_FOLDERS.findall(text)
        for folder in _BRACED.findall(paths)
    }
    pictures = {name for text in texts for name in _GRAPHIC.findall(text)}
    places = (inner_name(f"{folder}/{name}") for folder in {"."} | folders for name in pictures)
    return {*reached[1:], *(place for place in places if place is not None)}
