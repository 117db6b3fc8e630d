"""Validation of one entry: an idea, or a rejection with a hint."""

from datetime import date

from schemas.base import encodable, replace
from schemas.idea import Idea, RejectedIdea, cutoff_day, looks_like_date
from schemas.identifiers import IdeaId, content_hash
from schemas.reasons import Reason
from schemas.text.words import MINIMUM_WORDS, has_words
from tasks.ideas.cells import SPREADSHEET_ERRORS, joined_text, plain_text, scalar_text
from tasks.ideas.columns import Columns
from tasks.ideas.fields import TEXT_FIELDS, Entry, NamedFields, sort_fields
from tasks.ideas.limits import (
    MAXIMUM_CHARACTERS,
    MAXIMUM_ID_CHARACTERS,
    too_long,
)
from tasks.ideas.parts import (
    HEADINGS,
    Parts,
    parts_of,
    shorten,
    title_of,
    whole_text,
)

_LONE_SURROGATE = "{} holds half a character (a lone surrogate): rewrite it as UTF-8"


class _RejectionError(Exception):
    """Rejection with a reason and a detail, caught within this module."""


def parse_entry(entry: Entry, default_cutoff: date | None, columns: Columns) -> Idea | RejectedIdea:
    """Validate one entry, and note the meanings of its fields in `columns`.

    Without `group`, `discipline` is the group (and stays in the metadata). Without `idea_id`, the id
    is a hash of the text and the entry's own cutoff date, so it does not depend on `default_cutoff`.
    """
    fields = sort_fields(entry.fields, columns)
    idea_id: IdeaId | None = None
    try:
        _check_encodable(fields)
        idea_id = _idea_id(fields)
        idea, own_cutoff = _idea(fields, idea_id, default_cutoff)
        if entry.is_manuscript:
            idea = replace(idea, manuscript=entry.location)
    except _RejectionError as rejection:
        reason, detail = rejection.args
        return RejectedIdea(idea_id=idea_id, location=entry.location, reason=reason, detail=detail)
    columns.note_markup(fields.markup)
    has_cutoff = idea.cutoff_date is not None
    columns.note_cutoff(entry.location, idea.metadata, is_own=own_cutoff, has_cutoff=has_cutoff)
    return idea


def _idea(
    fields: NamedFields, idea_id: IdeaId | None, default_cutoff: date | None
) -> tuple[Idea, bool]:
    """Return the idea, and whether it has its own cutoff date."""
    title = _text(fields, "title")
    parts = Parts(**{part: _text(fields, part) for part in HEADINGS})
    sections = [
        {heading: _plain(heading, text, fields) for heading, text in each.items()}
        for each in (fields.opening, fields.closing)
    ]
    own_text = _text(fields, "text")
    text = whole_text(title, own_text, parts, *sections)
    _check_text(text, fields)
    parts_in_text = parts_of(text)
    own_cutoff = _cutoff(fields.by_meaning.get("cutoff_date"))
    group = _text(fields, "group") or fields.metadata.get("discipline", "").strip() or None
    idea = Idea(
        idea_id=idea_id
        or IdeaId(
            "idea-" + content_hash(text, own_cutoff.isoformat() if own_cutoff else "", length=16)
        ),
        title=shorten(title) if title else title_of(own_text or parts.problem or text),
        text=text,
        problem=parts.problem or parts_in_text.problem,
        method=parts.method or parts_in_text.method,
        experiment=parts.experiment or parts_in_text.experiment,
        cutoff_date=own_cutoff or default_cutoff,
        group=group,
        metadata=fields.metadata,
    )
    return idea, own_cutoff is not None


def _check_encodable(fields: NamedFields) -> None:
    """Reject lone surrogates: a valid character in Python, but not in UTF-8."""
    sections = (*fields.opening.items(), *fields.closing.items())
    for name, value in (*fields.by_meaning.items(), *sections, *fields.metadata.items()):
        for text in (name, value):
            if isinstance(text, str) and not encodable(text):
                raise _RejectionError(Reason.BAD_FIELD, _LONE_SURROGATE.format(name[:40]))


def _idea_id(fields: NamedFields) -> IdeaId | None:
    value = fields.by_meaning.get("idea_id")
    if value is None:
        return None
    text = scalar_text(value)
    if isinstance(value, float) and text is not None and not text.lstrip("-").isdecimal():
        text = None
    if text is None or isinstance(value, bool):
        raise _RejectionError(
            Reason.BAD_FIELD, "idea_id is neither a text nor a whole number: write it as a text"
        )
    text = plain_text(text)
    if len(text) > MAXIMUM_ID_CHARACTERS or not text.isprintable():
        raise _RejectionError(
            Reason.BAD_FIELD,
            f"idea_id has more than {MAXIMUM_ID_CHARACTERS} characters or unprintable ones: choose"
            " a short name",
        )
    return IdeaId(text)


def _text(fields: NamedFields, meaning: str) -> str | None:
    value = fields.by_meaning.get(meaning)
    if value is None:
        return None
    text = scalar_text(value) if meaning in ("title", "group") else joined_text(value)
    if text is None:
        raise _RejectionError(Reason.BAD_FIELD, f"{meaning} is no text: write it as one text")
    return _plain(meaning, text, fields) or None


def _plain(name: str, value: str, fields: NamedFields) -> str:
    if not encodable(value):
        raise _RejectionError(Reason.BAD_FIELD, _LONE_SURROGATE.format(name[:40]))
    if "\x00" in value:
        raise _RejectionError(
            Reason.BAD_FIELD, f"{name} holds zero bytes: it is no text; remove them"
        )
    if value.strip() in SPREADSHEET_ERRORS:
        raise _RejectionError(
            Reason.BAD_FIELD,
            f"{name} is an error of a spreadsheet ({value.strip()}): write the value",
        )
    return plain_text(value, fields.markup)


def _check_text(text: str, fields: NamedFields) -> None:
    if not text.strip():
        has = ", ".join(name[:40] for name in fields.names[:12]) or "nothing"
        raise _RejectionError(
            Reason.EMPTY,
            f"there is no idea in it (fields: {has}): fill text, or {', '.join(TEXT_FIELDS[2:])}",
        )
    if len(text) > MAXIMUM_CHARACTERS:
        raise _RejectionError(Reason.TOO_LONG, too_long(None, "", len(text)).detail)
    sections = fields.opening or fields.closing
    if not sections and not any(meaning in fields.by_meaning for meaning in ("text", *HEADINGS)):
        raise _RejectionError(
            Reason.EMPTY, f"there is only a title: fill text, or {', '.join(TEXT_FIELDS[2:])}"
        )
    if not has_words(text, MINIMUM_WORDS):
        raise _RejectionError(
            Reason.TOO_SHORT,
            f"the text has fewer than {MINIMUM_WORDS} words: say what is to be done and how",
        )
    long = [name for name, value in fields.metadata.items() if len(value) > MAXIMUM_CHARACTERS]
    if long:
        raise _RejectionError(
            Reason.TOO_LONG,
            f"field {long[0][:40]} has more than {MAXIMUM_CHARACTERS:,} characters: shorten or"
            " remove it",
        )


def _cutoff(value: object) -> date | None:
    if value is None:
        return None
    text_written = scalar_text(value)
    quoted_text = (
        "(a list or an object)"
        if text_written is None
        else repr(" ".join(text_written.split())[:40])
    )
    problem = "is not a date from 1500 to 2100"
    if isinstance(value, date | str):
        text = plain_text(str(value))
        try:
            return cutoff_day(text)
        except ValueError:
            if looks_like_date(text):
                problem = "does not tell day and month apart"
    raise _RejectionError(
        Reason.BAD_CUTOFF_DATE,
        f"cutoff_date {quoted_text} {problem}: write it as YYYY-MM-DD or YYYY-MM, such as 2024-09-24",
    )
