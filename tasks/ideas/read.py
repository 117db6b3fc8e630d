"""Idea files in: whatever the format, a batch of good ideas and of rejections with reasons."""

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
from tasks.ideas.groups import ungrouped
from tasks.ideas.json_lines import read_json
from tasks.ideas.limits import (
    MAXIMUM_DEPTH,
    MAXIMUM_FILE_BYTES,
    BatchSize,
    refuse_large_file,
    refuse_what_is_no_file,
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

    Groups and pairs of ideas are taken apart (`tasks.ideas.groups`). `default_cutoff` holds for
    ideas that bring no `cutoff_date`. Of two entries with one `idea_id` the first counts; equal
    texts under different ids are all kept and marked as duplicates. The batch says what each
    column was read as, and in `remarks` what is not judged.

    Args:
        fields: what columns are to be read as, such as `method=Proposed Method`.

    Raises:
        IdeaFileError: the file as a whole cannot be read, or has no column that `fields` names; one
            entry that cannot be read is in `rejected` instead.
    """
    try:
        return _read(path, default_cutoff, Columns(path.name, fields))
    except OSError as error:
        raise IdeaFileError(
            f"{path} cannot be read ({error.strerror or type(error).__name__}): check the path and"
            " its permissions"
        ) from error


def read_batch(path: Path, *, default_cutoff: date | None, fields: Sequence[str] = ()) -> IdeaBatch:
    """`read_ideas` for work: there is at least one good idea.

    Raises:
        IdeaFileError: as `read_ideas`, and when every entry was rejected.
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
    rejected: list[RejectedIdea] = []
    size = BatchSize(path.name)
    for entry in _single(ungrouped(_shallow(_entries(path, columns)), columns), columns):
        parsed = (
            entry if isinstance(entry, RejectedIdea) else _parsed(entry, default_cutoff, columns)
        )
        size.add(parsed)
        if isinstance(parsed, RejectedIdea):
            rejected.append(parsed)
        elif parsed.idea_id in ideas:
            rejected.append(
                _repeated(parsed, entry.location, ideas[parsed.idea_id], locations[parsed.idea_id])
            )
        else:
            ideas[parsed.idea_id] = parsed
            locations[parsed.idea_id] = entry.location
    if not ideas and not rejected:
        raise IdeaFileError(f"{path.name} holds no ideas: write at least one")
    columns.check_given()
    return IdeaBatch(
        ideas=mark_duplicates(_with_whole_numbers(tuple(ideas.values()))),
        rejected=tuple(rejected),
        fields=columns.readings(),
        remarks=columns.remarks(),
    )


def _with_whole_numbers(ideas: tuple[Idea, ...]) -> tuple[Idea, ...]:
    """Identifiers that are `1.0`, `2.0`, … without exception become `1`, `2`, …; so do groups."""
    groups = [idea.group for idea in ideas if idea.group is not None]
    if groups and all(_FLOAT.fullmatch(group) for group in groups):
        ideas = tuple(replace(idea, group=(idea.group or "")[:-2] or None) for idea in ideas)
    given = [idea for idea in ideas if not idea.idea_id.startswith("idea-")]
    if given and all(_FLOAT.fullmatch(idea.idea_id) for idea in given):
        whole = {idea.idea_id: IdeaId(idea.idea_id[:-2]) for idea in given}
        ideas = tuple(
            replace(idea, idea_id=whole.get(idea.idea_id, idea.idea_id)) for idea in ideas
        )
    return ideas


def _single(entries: Entries, columns: Columns) -> Entries:
    """`entries`, those rejected whose one text holds several ideas."""
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


def _parsed(entry: Entry, default_cutoff: date | None, columns: Columns) -> Idea | RejectedIdea:
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


def _shallow(entries: Entries) -> Entries:
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
    refuse_what_is_no_file(path)
    if path.is_dir():
        return read_folder(path, columns)
    read = FORMATS.get(path.suffix.lower())
    if path.suffix.lower() == ".pdf":
        raise IdeaFileError(
            f"{path.name} is a manuscript: look for problems in it with `assay check {path.name}`,"
            " or write its idea as text"
        )
    if read is None:
        raise IdeaFileError(
            f"{path.name} has no known format: give a {', '.join(FORMATS)} file, or a folder of"
            " .txt and .md files"
        )
    size_bytes = path.stat().st_size
    if size_bytes == 0:
        raise IdeaFileError(f"{path.name} is empty: write at least one idea")
    refuse_large_file(path.name, size_bytes, MAXIMUM_FILE_BYTES, "split it into several files")
    return read(path, columns)


def _repeated(idea: Idea, location: str, first: Idea, first_location: str) -> RejectedIdea:
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
