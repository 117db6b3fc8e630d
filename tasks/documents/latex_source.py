"""LaTeX sources: unpacking (tar, gzip, zip, single file), main file, inclusions, macros.

Nothing is written to disk, so names and links in an archive cannot escape it.
"""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import IO, NamedTuple, Protocol, cast

from schemas.reasons import Reason
from schemas.text.patterns import DOTALL, Match, Pattern, bounded, linear
from tasks.documents.document import is_pdf

MAXIMUM_MEMBERS = 5_000
MAXIMUM_UNPACKED_BYTES = 300_000_000
"""Limit for the whole archive, including figures, which are decompressed to be skipped."""

MAXIMUM_TEXT_BYTES = 20_000_000
_LATEX_SUFFIXES = frozenset({".tex", ".ltx", ".latex", ".bbl"})
_TEXT_SUFFIXES = _LATEX_SUFFIXES | {".txt", ""}


class LatexError(ValueError):
    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Bounded(io.RawIOBase):
    """A stream with a size limit, against decompression bombs."""

    def __init__(self, stream: io.BufferedIOBase | gzip.GzipFile) -> None:
        self._stream = stream
        self._left = MAXIMUM_UNPACKED_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        content = self._stream.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise LatexError(
                Reason.TOO_LARGE,
                f"the archive unpacks to more than {MAXIMUM_UNPACKED_BYTES:,} bytes",
            )
        buffer[: len(content)] = content
        return len(content)


def read_files(content: bytes) -> dict[str, str]:
    """Return the text files by path in the source; a single file is named `main.tex`.

    Raises:
        LatexError: no LaTeX source, damaged, or larger than the limits allow.
    """
    if is_pdf(content):
        raise LatexError(Reason.NOT_LATEX, "the source is a PDF")
    files: dict[str, str] = {}
    remaining_bytes = MAXIMUM_TEXT_BYTES
    try:
        for count, (member_name, open_member) in enumerate(_members(content)):
            if count >= MAXIMUM_MEMBERS:
                detail = f"the archive holds more than {MAXIMUM_MEMBERS:,} files"
                raise LatexError(Reason.TOO_LARGE, detail)
            name = inner_name(member_name)
            if name is None or not is_text(name):
                continue
            stream = open_member()
            text = stream.read(remaining_bytes + 1) if stream is not None else b""
            remaining_bytes -= len(text)
            if remaining_bytes < 0:
                detail = f"the texts of the source exceed {MAXIMUM_TEXT_BYTES:,} bytes"
                raise LatexError(Reason.TOO_LARGE, detail)
            files[name] = decode(text)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        gzip.BadGzipFile,
        EOFError,
        NotImplementedError,
        OSError,
    ) as error:
        raise LatexError(
            Reason.DAMAGED, f"the archive cannot be read ({type(error).__name__})"
        ) from error
    except RuntimeError as error:
        raise LatexError(Reason.ENCRYPTED, "the archive needs a password") from error
    if not files:
        raise LatexError(Reason.NOT_LATEX, "the source holds no text files")
    return files


def _members(content: bytes) -> Iterator[tuple[str, Callable[[], IO[bytes] | None]]]:
    """Yield name and opener of each file; the name is empty if it is no regular one."""
    if content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist():
                yield "" if entry.is_dir() else entry.filename, partial(archive.open, entry)
        return
    is_gzip = content[:2] == b"\x1f\x8b"
    stream = io.BufferedReader(
        _Bounded(gzip.GzipFile(fileobj=io.BytesIO(content)) if is_gzip else io.BytesIO(content)),
        1 << 16,
    )
    head = stream.peek(512)
    if head[257:262] == b"ustar" or _is_old_tar(head):
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as tar:
            for member in tar:
                yield member.name if member.isreg() else "", partial(tar.extractfile, member)
    elif b"\x00" in head[:4096] or b"\\" not in (text := stream.read(MAXIMUM_TEXT_BYTES + 1)):
        raise LatexError(Reason.NOT_LATEX, "the file is no LaTeX")
    else:
        yield "main.tex", partial(io.BytesIO, text)


def _is_old_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head[:512], "utf-8", "replace")
    except tarfile.HeaderError:
        return False
    return len(head) >= 512


def inner_name(name: str) -> str | None:
    """Normalize a path in the archive (`./a//b.tex` to `a/b.tex`); None if it leads outside."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return None if path.is_absolute() or not parts or "\x00" in name else "/".join(parts)


def is_text(name: str) -> bool:
    """Return whether a file in an archive is read: LaTeX, bibliography or plain text."""
    return PurePosixPath(name).suffix.lower() in _TEXT_SUFFIXES and not _is_hidden(name)


def is_latex(name: str) -> bool:
    """Return whether a file in a folder is read: LaTeX or its bibliography."""
    # Stricter than `is_text`, because a folder may hold unrelated files, such as notes and keys.
    return PurePosixPath(name).suffix.lower() in _LATEX_SUFFIXES and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


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
"""Document classes of figures or parts that can be compiled alone."""
_PICTURE = linear(r"\\begin\{(?:tikzpicture|pgfpicture|axis)\}|Creator: Matplotlib, PGF backend")
_GRAPHIC = linear(
    r"\\include(?:graphics|pdf|svg)\*?\s*(?:\[[^\[\]]*\]\s*)?\{\s*([^{}]{1,300}?)\s*\}"
)
_GRAPHIC_FOLDERS = linear(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)")
_BRACED_TEXT = linear(r"\{([^{}]*)\}")
_NOT_TEXT = frozenset(
    {".def", ".cfg", ".sty", ".cls", ".clo", ".fd", ".enc", ".lua", ".bib", ".pgf", ".tikz"}
    | {".pdf_tex", ".eps_tex", ".pdftex_t", ".pstex_t", ".svg"}
)
"""Suffixes of definitions and pictures, which contain no text."""
_OF_TEX = frozenset(
    {"glyphtounicode", "xy", "epsf", "psfig", "amssym", "cyracc", "pdf-trans", "insbox", "tikz"}
)
"""Files of every TeX distribution."""
_MOST_DOCUMENTS = 30


class SourceFiles(Protocol):
    def __contains__(self, name: str, /) -> bool: ...

    def __getitem__(self, name: str, /) -> str: ...


def without_comments(text: str) -> str:
    """Remove comments, and verbatim and `comment` environments."""
    return _COMMENT.sub(lambda match: match.group(1), without_environments(text, _VERBATIM, ""))


def without_environments(text: str, marks: Pattern, instead: str) -> str:
    """Replace each environment by `instead`.

    Args:
        marks: matches begins and ends; its groups are `begin` or `end`, and the name.
    """
    all_marks = list(marks.finditer(text))
    last_end = {mark.group(2): mark.start() for mark in all_marks if mark.group(1) == "end"}
    pieces: list[str] = []
    place, environment = 0, ""
    for mark in all_marks:
        kind, name = mark.groups()
        if not environment and kind == "begin" and last_end.get(name, -1) > mark.start():
            pieces += [text[place : mark.start()], instead]
            environment = name
        elif kind == "end" and name == environment:
            place, environment = mark.end(), ""
    return "".join([*pieces, text[place:]])


def starts_document(text: str) -> bool:
    """Return whether the text is a complete document, not a part or a figure."""
    text_without_comments = without_comments(text)
    document_class = _CLASS.search(text_without_comments)
    return (
        document_class is not None
        and document_class.group(1) not in _PARTIAL_CLASSES
        and "\\begin{document}" in text_without_comments
    )


def is_figure(text: str) -> bool:
    document_class = _CLASS.search(text)
    if document_class is not None:
        return document_class.group(1) == "standalone"
    return _PICTURE.search(text) is not None and "\\section" not in text


def main_files(starts: list[str], open_files: Callable[[], SourceFiles]) -> list[str]:
    """Return the complete documents among `starts` that no other includes.

    Args:
        open_files: returns the files of the source; called once for each document.
    """
    if not 1 < len(starts) <= _MOST_DOCUMENTS:
        return starts
    parts = {name: set(follow_inclusions(open_files(), name).reached[1:]) for name in starts}
    return [
        name
        for name in starts
        if not any(name in parts[other] for other in starts if other != name)
    ] or starts


class Inclusions(NamedTuple):
    """The files of a document, main file first, and inclusions that cannot be followed.

    Missing files of the preamble, which hold macros, are listed separately.
    """

    reached: list[str]
    missing: list[str]
    missing_preamble: list[str]


def follow_inclusions(files: SourceFiles, main: str) -> Inclusions:
    """Follow the inclusions of a document from its main file on."""
    reached_files, missing = [main], dict[str, bool]()  # values: whether included in the preamble
    in_preamble = {main: False}
    for name in reached_files:  # grows during the iteration
        preamble, text = _split(files, name, main)
        for part, is_preamble in ((preamble, True), (text, in_preamble[name])):

            def note(reference: str, includer: str = name, is_preamble: bool = is_preamble) -> str:
                file = file_named(files, reference, includer, main)
                if file is None:
                    # A macro's argument, such as parts/#1, is used in the text.
                    missing[reference] = (
                        missing.get(reference, True) and is_preamble and "#" not in reference
                    )
                elif file not in in_preamble:
                    in_preamble[file] = is_preamble
                    reached_files.append(file)
                return ""

            _replace_inclusions(part, files, name, main, note)
    names = []
    for reference in missing:
        path = PurePosixPath(reference)
        if path.suffix.lower() not in _NOT_TEXT and path.stem.lower() not in _OF_TEX:
            names.append(reference)
    return Inclusions(
        reached_files,
        [name for name in names if not missing[name]],
        [name for name in names if missing[name]],
    )


def _split(files: SourceFiles, name: str, main: str) -> tuple[str, str]:
    """Return preamble and text without comments; the preamble of an included file is dropped."""
    text = without_comments(files[name]).partition("\\end{document}")[0]
    preamble, begin_mark, body = text.partition("\\begin{document}")
    if not begin_mark:
        return "", preamble
    return (preamble, f"{begin_mark}{body}") if name == main else ("", body)


def _replace_inclusions(
    text: str, files: SourceFiles, name: str, main: str, text_of: Callable[[str], str]
) -> str:

    def branch(match: Match[str]) -> str:
        with_input, file, then, otherwise = match.groups()
        if file_named(files, file, name, main) is None:
            return otherwise
        return f"\\input{{{file}}}{then}" if with_input else then

    text = _IF_THERE.sub(branch, text)
    text = _IMPORT.sub(lambda match: text_of(f"{match.group(1)}/{match.group(2)}"), text)
    return _INCLUSION.sub(lambda match: text_of(match.group(1) or match.group(2)), text)


def file_named(files: SourceFiles, reference: str, includer: str, main: str) -> str | None:
    """Return the file that `includer` refers to as `reference`; None if it is missing."""
    folders = (str(PurePosixPath(name).parent) for name in (includer, main))
    unquoted_reference = reference.strip('"')
    for folder in dict.fromkeys((*folders, ".")):
        for suffix in (".tex", "", ".ltx"):
            name = inner_name(f"{folder}/{unquoted_reference}{suffix}")
            if name is not None and name in files:
                return name
    return None


def used_files(files: SourceFiles, main: str) -> set[str]:
    """Return the names of the included files and pictures of a document.

    Pictures are listed as written, often without a suffix.
    """
    reached_files = follow_inclusions(files, main).reached
    texts = [without_comments(files[name]) for name in reached_files]
    folders = {
        folder
        for text in texts
        for paths in _GRAPHIC_FOLDERS.findall(text)
        for folder in _BRACED_TEXT.findall(paths)
    }
    pictures = {name for text in texts for name in _GRAPHIC.findall(text)}
    places = (inner_name(f"{folder}/{name}") for folder in {"."} | folders for name in pictures)
    return {*reached_files[1:], *(place for place in places if place is not None)}


MAXIMUM_SOURCE_CHARACTERS = 6_000_000
_DEEPEST_INCLUSION = 20
# Macros rarely nest deeper; a recursive macro would not terminate.
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
    """Return the paper as one LaTeX text; missing inclusions are skipped.

    Args:
        main: the main file; empty: chosen by `main_file`.

    Raises:
        LatexError: none of the files is LaTeX, or inclusions or macros expand beyond the limit.
    """
    macros, text = _definitions(_include(files, main or main_file(files), ()))
    for _ in range(_EXPANSION_PASSES if macros else 0):
        expanded_text = _expand_once(text, macros)
        if expanded_text == text:
            break
        text = expanded_text
    return text


def main_file(files: Mapping[str, str]) -> str:
    """Choose the main file: a document that no other includes.

    Usual names are preferred, then paths near the root, then long files.

    Raises:
        LatexError: none of the files is a LaTeX document.
    """
    texts = {
        name: text for name, text in files.items() if not name.lower().endswith((".bbl", ".txt"))
    }
    starts = [name for name, text in texts.items() if starts_document(text)]
    candidates = (
        main_files(starts, lambda: texts)
        or [
            name
            for name, text in texts.items()
            if _DOCUMENT_CLASS.search(without_comments(text[:200_000]))
        ]
        or [name for name, text in texts.items() if "\\section" in text or "\\begin{" in text]
    )
    if not candidates:
        raise LatexError(Reason.NOT_LATEX, "none of the files is a LaTeX document")

    def order(name: str) -> tuple[bool, bool, int, int, str]:
        stem = PurePosixPath(name).stem.lower()
        is_whole = "\\begin{document}" in texts[name]
        return not is_whole, stem not in _USUAL_NAMES, name.count("/"), -len(texts[name]), name

    return min(candidates, key=order)


def _include(files: Mapping[str, str], name: str, including_files: tuple[str, ...]) -> str:
    """Return the text of a file with its inclusions; of an included document only the body."""
    main = including_files[0] if including_files else name
    size = 0

    def inclusion(reference: str) -> str:
        nonlocal size
        file = file_named(files, reference, name, main)
        if file is None or file in (*including_files, name):
            return ""
        if len(including_files) >= _DEEPEST_INCLUSION:
            detail = f"files include files more than {_DEEPEST_INCLUSION} deep"
            raise LatexError(Reason.PARSER_LIMIT, detail)
        text = _include(files, file, (*including_files, name))
        size += len(text)
        _check_size(size, "included files come")
        return f"\n{text}\n"

    return _replace_inclusions("".join(_split(files, name, main)), files, name, main, inclusion)


def _check_size(characters: int, subject: str) -> None:
    if characters > MAXIMUM_SOURCE_CHARACTERS:
        detail = f"the {subject} to more than {MAXIMUM_SOURCE_CHARACTERS:,} characters"
        raise LatexError(Reason.PARSER_LIMIT, detail)


def _expand_once(text: str, macros: Mapping[str, tuple[int, str | None, str]]) -> str:
    pieces: list[str] = []
    place = size = 0
    for match in _COMMAND.finditer(text):
        if match.start() < place or match.group(1) not in macros:
            continue
        count, default, value = macros[match.group(1)]
        end = match.end()
        if count:
            start = match.start() + 1 + len(match.group(1))
            arguments, end = _arguments(text, start, count, default)
            value = _PARAMETER.sub(partial(_argument, [value, *arguments]), value)
        pieces += [text[place : match.start()], value]
        size += match.start() - place + len(value)
        _check_size(size, "macros multiply")
        place = end
    return "".join([*pieces, text[place:]])


def _argument(by_number: list[str], parameter: Match[str]) -> str:
    number = int(parameter.group(1))
    return by_number[number] if number < len(by_number) else ""


def _definitions(text: str) -> tuple[dict[str, tuple[int, str | None, str]], str]:
    macros: dict[str, tuple[int, str | None, str]] = {}
    pieces: list[str] = []
    place = 0
    for match in _DEFINITION.finditer(text):
        if match.start() < place:
            continue
        body, end = balanced(text, match.end())
        if end == match.end():
            continue
        pieces.append(text[place : match.start()])
        place = end
        if len(body) <= 2_000:
            macros[match.group(1) or match.group(4)] = (
                int(match.group(2) or 0),
                match.group(3),
                body,
            )
    return macros, "".join([*pieces, text[place:]])


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
    """Return the text in the braces opened at `start`, and the position after them.

    Returns (`""`, `start`) if there is no brace.
    """
    if start >= len(text) or text[start] != "{":
        return "", start
    end = _partners(text).get(start)
    return ("", start) if end is None else (text[start + 1 : end], end + 1)


@lru_cache(maxsize=1)
def _partners(text: str) -> dict[int, int]:
    """Return the position of the closing brace of each opening one."""
    # Cached for a text, because searching from each brace would take quadratic time.
    partners: dict[int, int] = {}
    open_braces: list[int] = []
    for match in _BRACE.finditer(text):
        if match.group() == "{":
            open_braces.append(match.start())
        elif match.group() == "}" and open_braces:
            partners[open_braces.pop()] = match.start()
    return partners
