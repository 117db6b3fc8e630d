"""Reader of idea files: a batch of valid ideas and rejections, whatever the format."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from schemas.base import replace
from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import IdeaFileError
from schemas.idea import Idea, IdeaBatch, RejectedIdea
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.text.patterns import bounded
from tasks.ideas import limits
from tasks.ideas.columns import Columns
from tasks.ideas.delimited import read_delimited
from tasks.ideas.duplicates import mark_duplicates
from tasks.ideas.fields import Entries, Entry, bad_field
from tasks.ideas.groups import split_groups
from tasks.ideas.json_lines import read_json
from tasks.ideas.limits import (
    MAXIMUM_DEPTH,
    MAXIMUM_FILE_BYTES,
    refuse_large_file,
    too_deep,
)
from tasks.ideas.names import FIRST_FILLED
from tasks.ideas.parse import parse_entry
from tasks.ideas.parts import several_ideas
from tasks.ideas.tables import read_parquet
from tasks.ideas.text_files import (
    HTML_SUFFIXES,
    MANUSCRIPT_SUFFIXES,
    NO_MODEL,
    TEXT_SUFFIXES,
    YAML_SUFFIXES,
    Manuscripts,
    is_manuscript,
    read_folder,
    read_html,
    read_manuscript,
    read_text_file,
    read_yaml,
)
from tasks.ideas.workbook import read_workbook

FORMATS: dict[str, Callable[[Path, Columns], Entries]] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), read_json),
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".parquet": read_parquet,
    **dict.fromkeys(YAML_SUFFIXES, read_yaml),
    ".xlsx": read_workbook,
    **dict.fromkeys(TEXT_SUFFIXES, read_text_file),
    **dict.fromkeys(HTML_SUFFIXES, read_html),
}


_WHOLE_TEXTS = frozenset(("text", *FIRST_FILLED))
_FLOAT = bounded(r"\d{1,15}\.0")


def read_ideas(
    path: Path,
    *,
    default_cutoff: date | None,
    fields: Sequence[str] = (),
    manuscripts: Manuscripts | None = None,
) -> IdeaBatch:
    """Read the ideas of a file or of a folder of texts.

    Formats are JSON, JSONL, CSV, TSV, Parquet, YAML, Excel, HTML, text and Markdown.

    Groups and pairs of ideas are split (`tasks.ideas.groups`). `default_cutoff` applies to ideas
    without `cutoff_date`. Of two entries with one `idea_id` the first counts; equal texts under
    different ids are all kept and marked as duplicates. The batch lists the meaning of each column,
    and `remarks` on content that is not judged.

    Args:
        fields: meanings of columns, such as `method=Proposed Method`.
        manuscripts: reader of papers; None: they are rejected.

    Raises:
        IdeaFileError: the file as a whole cannot be read, or lacks a column of `fields`; a single
            entry that cannot be read is in `rejected`.
    """
    try:
        columns = Columns(path.name, fields)
        return _read(path, _entries(path, columns, manuscripts), default_cutoff, columns)
    except OSError as error:
        raise IdeaFileError(
            f"{path} cannot be read ({error.strerror or type(error).__name__}): check the path and"
            " its permissions"
        ) from error


def read_batch(
    path: Path,
    *,
    default_cutoff: date | None,
    fields: Sequence[str] = (),
    manuscripts: Manuscripts | None = None,
) -> IdeaBatch:
    """Read ideas with `read_ideas`, at least one of them valid.

    Raises:
        IdeaFileError: as `read_ideas`, and if every entry was rejected.
    """
    batch = read_ideas(path, default_cutoff=default_cutoff, fields=fields, manuscripts=manuscripts)
    if not batch.ideas:
        first, count = batch.rejected[0], len(batch.rejected)
        raise IdeaFileError(
            f"{path.name}: none of {count:,} entries can be evaluated, so nothing is published;"
            f" {first.location}: {first.detail}"
        )
    return batch


def _read(path: Path, entries: Entries, default_cutoff: date | None, columns: Columns) -> IdeaBatch:
    ideas: dict[str, Idea] = {}
    locations: dict[str, str] = {}
    rejections: list[RejectedIdea] = []
    characters = 0
    for entry in split_groups(entries, columns):
        idea = entry if isinstance(entry, RejectedIdea) else _parse(entry, default_cutoff, columns)
        if isinstance(idea, RejectedIdea):
            rejections.append(idea)
        elif (first := ideas.get(idea.idea_id)) is not None:
            place = locations[idea.idea_id]
            reason = Reason.DUPLICATE_ID
            detail = (
                f"idea_id {idea.idea_id} is already used at {place}: give this idea another one"
            )
            if idea.idea_id.startswith("idea-") and idea.text == first.text:
                reason = Reason.DUPLICATE_TEXT
                detail = (
                    f"the same text without idea_id stands at {place}: remove it, or give both an"
                    " idea_id to evaluate both"
                )
            rejections.append(
                RejectedIdea(
                    idea_id=idea.idea_id, location=entry.location, reason=reason, detail=detail
                )
            )
        else:
            ideas[idea.idea_id] = idea
            locations[idea.idea_id] = entry.location
            parts = (idea.text, idea.problem, idea.method, idea.experiment)
            characters += sum(len(part or "") for part in (*parts, *idea.metadata.values()))
        if len(ideas) + len(rejections) > limits.MAXIMUM_ENTRIES:
            raise IdeaFileError(
                f"{path.name} has more than {limits.MAXIMUM_ENTRIES:,} entries: split it into several"
            )
        if characters > limits.MAXIMUM_BATCH_CHARACTERS:
            raise IdeaFileError(
                f"the ideas of {path.name} have more than {limits.MAXIMUM_BATCH_CHARACTERS:,}"
                " characters: split it into several"
            )
    if not ideas and not rejections:
        raise IdeaFileError(f"{path.name} holds no ideas: write at least one")
    columns.check_given()
    batch = list(ideas.values())
    # Tables write whole numbers as `1.0`, `2.0`, …: identifiers and groups that all end so.
    groups = [idea.group for idea in batch if idea.group is not None]
    if groups and all(map(_FLOAT.fullmatch, groups)):
        batch = [replace(idea, group=(idea.group or "")[:-2] or None) for idea in batch]
    given_ids = [idea.idea_id for idea in batch if not idea.idea_id.startswith("idea-")]
    if given_ids and all(map(_FLOAT.fullmatch, given_ids)):
        trimmed_ids = {each: IdeaId(each[:-2]) for each in given_ids}
        batch = [
            replace(idea, idea_id=trimmed_ids.get(idea.idea_id, idea.idea_id)) for idea in batch
        ]
    return IdeaBatch(
        ideas=mark_duplicates(batch),
        rejected=tuple(rejections),
        fields=columns.readings(),
        remarks=columns.remarks(),
    )


def _parse(entry: Entry, default_cutoff: date | None, columns: Columns) -> Idea | RejectedIdea:
    for name, text in () if entry.is_manuscript else entry.fields.items():
        if isinstance(text, str) and columns.meaning_of(str(name)) in _WHOLE_TEXTS:
            problem = several_ideas(text, is_text_file=entry.is_text_file)
            if problem is not None:
                return bad_field(entry.location, problem)
    boundary = ErrorBoundary()
    with boundary:
        return parse_entry(entry, default_cutoff, columns)
    assert boundary.error is not None
    detail = (
        f"Assay failed over it ({error_line(boundary.error)}): please report it, and remove the"
        " entry"
    )
    return RejectedIdea(
        idea_id=None, location=entry.location, reason=Reason.INTERNAL_ERROR, detail=detail
    )


def _entries(path: Path, columns: Columns, manuscripts: Manuscripts | None) -> Entries:
    """Yield the entries of a file of any format.

    Those nested too deep are rejected.
    """
    for entry in _read_file(path, columns, manuscripts):
        if isinstance(entry, Entry) and too_deep(entry.fields):
            detail = (
                f"its objects and lists are nested deeper than {MAXIMUM_DEPTH} levels: flatten them"
            )
            yield bad_field(entry.location, detail)
        else:
            yield entry


def _read_file(path: Path, columns: Columns, manuscripts: Manuscripts | None) -> Entries:
    if not path.exists():
        raise IdeaFileError(f"there is no file {path}: check the path")
    if path.is_dir():
        return read_folder(path, columns, manuscripts)
    if not path.is_file():  # reading it could block for ever
        raise IdeaFileError(
            f"{path.name} is a pipe, socket or device: copy its content into a file"
        )
    reader = FORMATS.get(path.suffix.lower())
    if reader is None and not is_manuscript(path):
        raise IdeaFileError(
            f"{path.name} has no known format: give a {', '.join(FORMATS)} file, a manuscript"
            f" ({', '.join(MANUSCRIPT_SUFFIXES)}), or a folder of these and of .txt and .md files"
        )
    size_bytes = path.stat().st_size
    if size_bytes == 0:
        raise IdeaFileError(f"{path.name} is empty: write at least one idea")
    refuse_large_file(path.name, size_bytes, MAXIMUM_FILE_BYTES, "split it into several files")
    if reader is None:
        if manuscripts is None:
            raise IdeaFileError(f"{path.name}: {NO_MODEL}")
        return iter((read_manuscript(path.resolve(), path.name, manuscripts),))
    return reader(path, columns)
