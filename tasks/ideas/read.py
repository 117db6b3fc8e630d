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
from tasks.ideas.columns import Columns
from tasks.ideas.delimited import read_delimited
from tasks.ideas.duplicates import mark_duplicates
from tasks.ideas.fields import Entries, Entry, bad_field
from tasks.ideas.groups import split_groups
from tasks.ideas.json_lines import read_json
from tasks.ideas.limits import (
    MAXIMUM_DEPTH,
    MAXIMUM_FILE_BYTES,
    BatchSize,
    refuse_large_file,
    refuse_special_file,
    too_deep,
)
from tasks.ideas.names import FIRST_FILLED
from tasks.ideas.parse import parse_entry
from tasks.ideas.parts import several_ideas
from tasks.ideas.tables import read_parquet
from tasks.ideas.text_files import (
    TEXT_SUFFIXES,
    YAML_SUFFIXES,
    read_folder,
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
}


_WHOLE_TEXTS = frozenset(("text", *FIRST_FILLED))
_FLOAT = bounded(r"\d{1,15}\.0")


def read_ideas(path: Path, *, default_cutoff: date | None, fields: Sequence[str] = ()) -> IdeaBatch:
    """Read the ideas of a JSON, JSONL, CSV, TSV, Parquet, YAML, Excel, text or Markdown file, or of
    a folder of texts.

    Groups and pairs of ideas are split (`tasks.ideas.groups`). `default_cutoff` applies to ideas
    without `cutoff_date`. Of two entries with one `idea_id` the first counts; equal texts under
    different ids are all kept and marked as duplicates. The batch lists the meaning of each column,
    and `remarks` on content that is not judged.

    Args:
        fields: meanings of columns, such as `method=Proposed Method`.

    Raises:
        IdeaFileError: the file as a whole cannot be read, or lacks a column of `fields`; a single
            entry that cannot be read is in `rejected`.
    """
    try:
        return _read(path, default_cutoff, Columns(path.name, fields))
    except OSError as error:
        raise IdeaFileError(
            f"{path} cannot be read ({error.strerror or type(error).__name__}): check the path and"
            " its permissions"
        ) from error


def read_batch(path: Path, *, default_cutoff: date | None, fields: Sequence[str] = ()) -> IdeaBatch:
    """Read ideas with `read_ideas`, at least one of them valid.

    Raises:
        IdeaFileError: as `read_ideas`, and if every entry was rejected.
    """
    batch = read_ideas(path, default_cutoff=default_cutoff, fields=fields)
    if not batch.ideas:
        first, count = batch.rejected[0], len(batch.rejected)
        raise IdeaFileError(
            f"{path.name}: none of {count:,} entries can be evaluated, so nothing is published;"
            f" {first.location}: {first.detail}"
        )
    return batch


def _read(path: Path, default_cutoff: date | None, columns: Columns) -> IdeaBatch:
    ideas: dict[str, Idea] = {}
    locations: dict[str, str] = {}
    rejected_ideas: list[RejectedIdea] = []
    size = BatchSize(path.name)
    for entry in _reject_several(
        split_groups(_reject_deep(_entries(path, columns)), columns), columns
    ):
        idea = entry if isinstance(entry, RejectedIdea) else _parse(entry, default_cutoff, columns)
        size.add(idea)
        if isinstance(idea, RejectedIdea):
            rejected_ideas.append(idea)
        elif idea.idea_id in ideas:
            rejected_ideas.append(
                _reject_repeated(idea, entry.location, ideas[idea.idea_id], locations[idea.idea_id])
            )
        else:
            ideas[idea.idea_id] = idea
            locations[idea.idea_id] = entry.location
    if not ideas and not rejected_ideas:
        raise IdeaFileError(f"{path.name} holds no ideas: write at least one")
    columns.check_given()
    return IdeaBatch(
        ideas=mark_duplicates(_with_whole_numbers(tuple(ideas.values()))),
        rejected=tuple(rejected_ideas),
        fields=columns.readings(),
        remarks=columns.remarks(),
    )


def _with_whole_numbers(ideas: tuple[Idea, ...]) -> tuple[Idea, ...]:
    """Strip `.0` if all identifiers end in it (`1.0`, `2.0`, …); likewise for groups."""
    groups = [idea.group for idea in ideas if idea.group is not None]
    if groups and all(_FLOAT.fullmatch(group) for group in groups):
        ideas = tuple(replace(idea, group=(idea.group or "")[:-2] or None) for idea in ideas)
    with_id = [idea for idea in ideas if not idea.idea_id.startswith("idea-")]
    if with_id and all(_FLOAT.fullmatch(idea.idea_id) for idea in with_id):
        whole = {idea.idea_id: IdeaId(idea.idea_id[:-2]) for idea in with_id}
        ideas = tuple(
            replace(idea, idea_id=whole.get(idea.idea_id, idea.idea_id)) for idea in ideas
        )
    return ideas


def _reject_several(entries: Entries, columns: Columns) -> Entries:
    """Reject entries with a text that contains several ideas."""
    for entry in entries:
        why = None
        if isinstance(entry, Entry):
            texts = (
                each
                for name, each in entry.fields.items()
                if isinstance(each, str) and columns.meaning_of(str(name)) in _WHOLE_TEXTS
            )
            several = (several_ideas(each, is_text_file=entry.is_text_file) for each in texts)
            why = next((each for each in several if each is not None), None)
        yield entry if why is None else bad_field(entry.location, why)


def _parse(entry: Entry, default_cutoff: date | None, columns: Columns) -> Idea | RejectedIdea:
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


def _reject_deep(entries: Entries) -> Entries:
    for entry in entries:
        if isinstance(entry, Entry) and too_deep(entry.fields):
            detail = (
                f"its objects and lists are nested deeper than {MAXIMUM_DEPTH} levels: flatten them"
            )
            yield bad_field(entry.location, detail)
        else:
            yield entry


def _entries(path: Path, columns: Columns) -> Entries:
    if not path.exists():
        raise IdeaFileError(f"there is no file {path}: check the path")
    refuse_special_file(path)
    if path.is_dir():
        return read_folder(path, columns)
    reader = FORMATS.get(path.suffix.lower())
    if path.suffix.lower() == ".pdf":
        raise IdeaFileError(
            f"{path.name} is a manuscript: look for problems in it with `assay check {path.name}`,"
            " or write its idea as text"
        )
    if reader is None:
        raise IdeaFileError(
            f"{path.name} has no known format: give a {', '.join(FORMATS)} file, or a folder of"
            " .txt and .md files"
        )
    size_bytes = path.stat().st_size
    if size_bytes == 0:
        raise IdeaFileError(f"{path.name} is empty: write at least one idea")
    refuse_large_file(path.name, size_bytes, MAXIMUM_FILE_BYTES, "split it into several files")
    return reader(path, columns)


def _reject_repeated(idea: Idea, location: str, first: Idea, first_location: str) -> RejectedIdea:
    reason = Reason.DUPLICATE_ID
    detail = (
        f"idea_id {idea.idea_id} is already used at {first_location}: give this idea another one"
    )
    if idea.idea_id.startswith("idea-") and idea.text == first.text:
        reason = Reason.DUPLICATE_TEXT
        detail = (
            f"the same text without idea_id stands at {first_location}: remove it, or give both an"
            " idea_id to evaluate both"
        )
    return RejectedIdea(idea_id=idea.idea_id, location=location, reason=reason, detail=detail)
