"""Entries from text, Markdown and YAML files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import yaml

from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from schemas.literature.source_text import BLOCKS
from schemas.reasons import Reason
from schemas.text.patterns import DOTALL, bounded
from schemas.text.plain_files import PlainFileError, files_below, open_file
from tasks.ideas.columns import Columns
from tasks.ideas.delimited import HEADER_ROWS, best_header, unique_names
from tasks.ideas.fields import (
    Entries,
    Entry,
    bad_field,
    entries_of,
    entry_of,
    mapping_of,
    refuse_wide_encodings,
    unreadable,
)
from tasks.ideas.limits import MAXIMUM_CHARACTERS, refuse_large_file, too_long
from tasks.ideas.parts import separate_ideas, text_above

YAML_SUFFIXES = (".yaml", ".yml")
MAXIMUM_YAML_BYTES = 20_000_000
"""Limit of YAML files, which are parsed in Python at a few megabytes a minute."""


class _PlainLoader(yaml.BaseLoader):
    """Loader of strings, lists and mappings without aliases, which could expand without limit."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [str(key.value) for key, _ in node.value]
        return mapping_of(super().construct_mapping(node, deep=deep), keys)


def plain_yaml(text: str) -> Any:
    """Parse a YAML document into strings, lists and mappings.

    Raises:
        ValueError: invalid YAML, aliases, or too much nesting.
    """
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 -- a BaseLoader
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        position = f", line {place.line + 1}" if place is not None else ""
        reason = getattr(error, "problem", None) or str(error) or type(error).__name__
        raise ValueError(f"{reason}{position}") from error


def read_yaml(path: Path, columns: Columns) -> Entries:
    """Yield the entries of `path`; values are texts.

    Raises:
        IdeaFileError: too large, not YAML, or neither a list nor a mapping.
    """
    del columns  # The keys of an object are its field names.
    refuse_large_file(
        path.name, path.stat().st_size, MAXIMUM_YAML_BYTES, "write it as .jsonl or .csv"
    )
    refuse_wide_encodings(path)
    try:
        content = plain_yaml(path.read_text("utf-8-sig"))
    except ValueError as error:
        raise IdeaFileError(
            f"{path.name} is not valid YAML without aliases ({error}): mend it"
        ) from error
    if not isinstance(content, list | Mapping):
        raise IdeaFileError(
            f"{path.name} holds neither a list of ideas nor one idea: write `- text: ...` for each"
        )
    yield from entries_of(path.name, content, _NO_MAPPING)


_NO_MAPPING = "this is no mapping: write the idea as `text: ...`"


TEXT_SUFFIXES = (".txt", ".md", ".markdown")
_FRONT_MATTER = bounded(r"\A---[ \t]*+\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*+(?:\n|\Z)", DOTALL)


HTML_SUFFIXES = (".html", ".htm")
_HIDDEN = ("script", "style", "template", "noscript", "head", "nav")


def read_html(path: Path, columns: Columns) -> Entries:
    """Yield a row of a table for each idea, else the page as one text or several.

    Raises:
        IdeaFileError: too large, or without text.
    """
    from lxml import etree, html  # late: few idea files are pages

    refuse_large_file(
        path.name, path.stat().st_size, MAXIMUM_YAML_BYTES, "write it as .jsonl or .csv"
    )
    refuse_wide_encodings(path)
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True)
    try:
        page = html.document_fromstring(path.read_bytes(), parser)
    except (etree.LxmlError, ValueError) as error:
        raise IdeaFileError(f"{path.name} is no readable HTML ({error}): write it again") from error
    location = path.name.encode("utf-8", "replace").decode()
    for table in page.iter("table"):
        rows = [
            [" ".join(" ".join(cell.itertext()).split()) for cell in row.iter("td", "th")]
            for row in table.iter("tr")
        ]
        if (place := best_header(rows[:HEADER_ROWS], columns)) is None:
            continue
        header = unique_names(rows[place], lambda at: f"column {at + 1}")
        columns.see(header)
        for number, row in enumerate(rows[place + 1 :], start=place + 2):
            if any(row):
                cells = {name: cell for name, cell in zip(header, row, strict=False) if cell}
                yield Entry(f"{location} row {number}", cells)
        return
    fields: dict[str, object] = {"file": location}
    authors = [meta.get("content") for meta in page.iter("meta") if meta.get("name") in _AUTHORS]
    if names := "; ".join(filter(None, authors)):
        fields["authors"] = names
    yield from _split(
        Entry(location, fields | {"text": _markdown(page)}, is_text_file=True), columns
    )


_AUTHORS = ("author", "citation_author", "dc.creator")


def _markdown(page: Any) -> str:
    """Return the text of a page with headings and lists as in Markdown."""
    from lxml import etree

    blocks: list[str] = []
    words, mark = "", ""

    def end_block(next_mark: str = "") -> None:
        nonlocal words, mark
        lines = (" ".join(line.split()) for line in words.split("\0"))
        if text := "\n".join(lines).strip():
            is_item = mark == "- " and bool(blocks) and blocks[-1].startswith("- ")
            blocks[-1:] = [f"{blocks[-1]}\n- {text}"] if is_item else [*blocks[-1:], mark + text]
        words, mark = "", next_mark

    walk = etree.iterwalk(page, events=("start", "end"))
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else "template"  # an instruction
        is_block = tag in BLOCKS or tag in ("body", "html")
        if event == "start":
            if tag in _HIDDEN:
                walk.skip_subtree()
                continue
            level = int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit() else 0
            if tag == "br":
                words += "\0"
            elif is_block:
                end_block("#" * level + " " if level else "- " if tag == "li" else "")
            words += element.text or ""
        else:
            if is_block and tag != "br":
                end_block()
            words += element.tail or ""
    end_block()
    return "\n\n".join(blocks)


MANUSCRIPT_SUFFIXES = (".pdf", ".tex", ".zip", ".tar.gz")
_PLAN_WORDS = 600
NO_MODEL = (
    "this is a manuscript: `assay evaluate` with a model (--engine) takes the plan out of it, and"
    " `assay check` looks for problems in it; or write its idea as text"
)


class Manuscripts(Protocol):
    """Reader of papers, whose plans are ideas."""

    def inside(self, folder: Path) -> Sequence[Path]:
        """Return the manuscripts of a folder, without their figures and parts."""
        ...

    def read(self, path: Path, location: str) -> Entry | RejectedIdea:
        """Return a manuscript as an entry."""
        ...


def is_manuscript(path: Path) -> bool:
    """Return whether a file is named like a paper."""
    return path.name.lower().endswith(MANUSCRIPT_SUFFIXES)


def read_manuscript(
    path: Path, location: str, manuscripts: Manuscripts | None
) -> Entry | RejectedIdea:
    """Return the entry of a paper, or a rejection without a reader of papers."""
    location = location.encode("utf-8", "replace").decode()
    return (
        unreadable(location, NO_MODEL) if manuscripts is None else manuscripts.read(path, location)
    )


class UnreadManuscripts:
    """Manuscripts for an estimate: each is an idea of usual length, and none is opened."""

    def inside(self, folder: Path) -> Sequence[Path]:
        return [path for path in files_below(folder, with_hidden=False) if is_manuscript(path)]

    def read(self, path: Path, location: str) -> Entry | RejectedIdea:  # noqa: ARG002
        text = f"The plan of {location}. {'word ' * _PLAN_WORDS}"
        return Entry(location, {"text": text}, is_text_file=True, is_manuscript=True)


def read_folder(folder: Path, columns: Columns, manuscripts: Manuscripts | None = None) -> Entries:
    """Yield one entry per text file and manuscript of `folder` and its sub-folders, by path.

    Other visible files, links and pipes are rejected; README files are skipped.

    Raises:
        IdeaFileError: no text file and no manuscript in it.
    """
    folder = folder.resolve()
    visible = (
        item
        for item in files_below(folder, with_hidden=False)
        if not any(Path(part).stem.lower() == "readme" for part in item.relative_to(folder).parts)
    )
    files = set(visible)
    if not any(item.suffix.lower() in TEXT_SUFFIXES or is_manuscript(item) for item in files):
        raise IdeaFileError(
            f"folder {folder.name} holds no .txt or .md file and no manuscript: put one idea into"
            " each"
        )
    papers = set(filter(is_manuscript, files))
    if manuscripts is not None and papers:
        parts, papers = papers, set(manuscripts.inside(folder))
        files = (files - parts) | papers  # the others are figures and parts of these
    for item in sorted(files, key=lambda item: item.relative_to(folder).as_posix()):
        location = item.relative_to(folder).as_posix().encode("utf-8", "replace").decode()
        if item in papers:
            yield read_manuscript(item, location, manuscripts)
            continue
        if item.suffix.lower() not in TEXT_SUFFIXES and item.is_file() and not item.is_symlink():
            yield unreadable(
                location,
                "only .txt and .md files and manuscripts of a folder are read: convert it, or"
                " evaluate it by itself",
            )
            continue
        boundary = ErrorBoundary()
        with boundary:
            entry = _entry(item, location)
        if boundary.error is not None:
            problem = f"the file cannot be read ({error_line(boundary.error)}): rewrite it"
            entry = unreadable(location, problem)
        yield from _split(entry, columns)


def read_text_file(path: Path, columns: Columns) -> Entries:
    """Yield the entry or entries of a .txt or .md file.

    There are several if headings separate ideas.

    Raises:
        IdeaFileError: the file is not UTF-8.
    """
    entry = _entry(path.resolve(), path.name.encode("utf-8", "replace").decode())
    if isinstance(entry, RejectedIdea) and entry.reason is Reason.UNREADABLE:
        raise IdeaFileError(f"{path.name}: {entry.detail}")
    yield from _split(entry, columns)


def _split(entry: Entry | RejectedIdea, columns: Columns) -> Entries:
    """Yield one entry for each idea of a text file if headings separate them."""
    text = "" if isinstance(entry, RejectedIdea) else str(entry.fields["text"])
    ideas = separate_ideas(text)
    if isinstance(entry, RejectedIdea) or not ideas:
        yield entry
        return
    if text_above(text):
        columns.remark("what is above the first idea of ", entry.location, " is not read")
    for number, (title, body) in enumerate(ideas, start=1):
        fields = {**entry.fields, "text": body}
        if title:
            fields["title"] = title
        for name in fields:
            if columns.meaning_of(name) == "idea_id":
                fields[name] = f"{fields[name]}-{number}"
        yield Entry(f"{entry.location}, idea {number}", fields, is_text_file=True)


def _entry(path: Path, location: str) -> Entry | RejectedIdea:
    try:
        with open_file(path) as file:
            content = file.read(4 * MAXIMUM_CHARACTERS + 1)
            size_bytes = os.fstat(file.fileno()).st_size
    except PlainFileError as error:
        return unreadable(location, error.named)
    except OSError as error:
        return unreadable(
            location, f"the file cannot be opened ({error.strerror}): check its permissions"
        )
    if len(content) > 4 * MAXIMUM_CHARACTERS:
        return too_long(None, location, size_bytes)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return unreadable(location, "the file is not UTF-8 text: save it as UTF-8")
    fields: dict[str, object] = {"file": location}
    if path.suffix.lower() != ".txt" and (matter := _FRONT_MATTER.match(text)):
        try:
            front_matter = plain_yaml(matter.group(1))
        except ValueError:
            return bad_field(
                location,
                "the front matter between the --- lines is not valid YAML without aliases: write"
                " `name: value` lines",
            )
        if isinstance(front_matter, Mapping):
            entry = entry_of(location, front_matter, _NO_MAPPING)
            if isinstance(entry, RejectedIdea):
                return entry
            fields |= entry.fields
            text = text[matter.end() :]
    return Entry(location, fields | {"text": text}, is_text_file=True)
