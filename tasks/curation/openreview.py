"""Forums of OpenReview: the first version of a paper, its reviews, its decision.

API 2: GET https://api2.openreview.net/notes, /notes/edits, /attachment, /notes/edits/attachment.
A file of an earlier version is had by the id of the edit that brought it: the path that stands in
the edit is gone once the file is replaced. The wire is read here, and not by openreview-py: its
client sends, waits and tries again on its own, past the limits, the rows and the keys that all
other requests are held to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from pydantic import SecretStr

from schemas.base import encodable
from schemas.failure import Failure, SourceFailure, look_up_failures
from schemas.literature.source_text import plain_abstract, plain_text
from schemas.reasons import Passes, Reason
from schemas.settings import Settings
from tasks.curation.review_files import number_of
from tasks.curation.submission import GivenReview, Unread
from tasks.sources.fields import Row, json_of, mappings_of, rows_of, text_of
from tasks.sources.http_source import overridden
from tasks.sources.requests import Question, Reply, SourceContext, SourceRequests, Upstream
from tasks.web.client import Secrets

NAME = "openreview"
STAGE = "curation"
PAGE = "https://openreview.net/forum?id={forum}"
_REVIEW, _DECISION = "official_review", "decision"
_NO_REVIEW_TEXT = ("title", "flag", "code_of_conduct", "ethics")
"""Beginnings of the names of fields that say nothing of the paper."""
_FEWEST_CHARACTERS = 12
"""Of a field that is text; a shorter one is a choice, as `3 good`."""


@dataclass(frozen=True, slots=True)
class Forum:
    """Content of a forum, and the PDF that its reviewers had first."""

    pdf: bytes
    title: str
    abstract: str
    licence: str
    submitted: date | None
    decision: str
    reviews: tuple[GivenReview, ...]
    is_first_version: bool | None
    failures: tuple[Failure, ...]


class OpenReview:
    """Reads forums, within its limits; every request is a row of `api_calls`."""

    def __init__(self, settings: Settings, context: SourceContext) -> None:
        upstream = Upstream(
            source=NAME,
            base_url="https://api2.openreview.net",
            per_minute=60,
            secrets=_secrets(settings.openreview_token),
            mend={Reason.FORBIDDEN: "set OPENREVIEW_TOKEN to a token of your account"},
        )
        sources = settings.sources.model_copy(
            update={"maximum_bytes": settings.documents.maximum_bytes}
        )
        self._requests = SourceRequests(overridden(upstream, sources), context, sources)

    async def forum(self, forum: str) -> Forum | Unread:
        """The forum called `forum`, or why it cannot be had."""
        asked = Question("/notes", (("forum", forum), ("trash", "false")))
        found = await self._requests.fetch(asked, _notes)
        if found.page is None:
            return _unread(found.failure)
        root = next((note for note in found.page if text_of(note, "id") == forum), None)
        if root is None:
            return Unread(Reason.NOT_FOUND, f"OpenReview has no forum {forum}, or shows it to few")
        edits = await self._edits(forum)
        told = edits if not isinstance(edits, SourceFailure) else []
        first = _reviewed_first(told, found.page)
        asked, is_first = _which_pdf(root, first, forum)
        pdf = await self._requests.fetch(asked, lambda reply: reply.content, lambda _: False)
        if pdf.page is None:
            return _unread(pdf.failure)
        lost = _lost(edits, forum) if isinstance(edits, SourceFailure) else ()
        return _forum(pdf.page, found.page, root, first, is_first, lost)

    async def _edits(self, forum: str) -> list[Row] | SourceFailure:
        asked = Question("/notes/edits", (("note.id", forum), ("sort", "tcdate:asc")))
        found = await self._requests.fetch(asked, lambda reply: _rows(reply, "edits"))
        if found.page is None:
            assert found.failure is not None
            return found.failure
        return found.page


def _lost(edits: SourceFailure, forum: str) -> tuple[Failure, ...]:
    """Edits that are shown to few are done without; others are asked for again another time."""
    stage = STAGE if edits.reason.passes is Passes.BY_ITSELF else "documents"
    return look_up_failures([edits], stage, forum)


def _forum(
    pdf: bytes,
    notes: Sequence[Row],
    root: Row,
    first: Row | None,
    is_first: bool | None,
    failures: tuple[Failure, ...],
) -> Forum:
    content = {**_content(root), **(_content(_row(first, "note")) if first is not None else {})}
    decisions = (_value(_content(note), "decision") for note in notes if _is_a(note, _DECISION))
    return Forum(
        pdf=pdf,
        title=plain_text(_text(content, "title")),
        abstract=plain_abstract(_text(content, "abstract")) or "",
        licence=text_of(root, "license"),
        submitted=_day(root),
        decision=next((each for each in decisions if isinstance(each, str)), "")[:200],
        reviews=tuple(_review(note) for note in _in_order(notes) if _is_a(note, _REVIEW)),
        is_first_version=is_first,
        failures=failures,
    )


def _which_pdf(root: Row, first: Row | None, forum: str) -> tuple[Question, bool | None]:
    """Return where the first PDF is, and whether it is the first; None: the edits are not shown."""
    current = Question("/attachment", (("id", forum), ("name", "pdf")))
    if first is None:
        return current, None
    if _text(_content(_row(first, "note")), "pdf") == _text(_content(root), "pdf"):
        return current, True
    of_edit = (("id", text_of(first, "id")), ("name", "pdf"))
    return Question("/notes/edits/attachment", of_edit), True


def _reviewed_first(edits: Sequence[Row], notes: Sequence[Row]) -> Row | None:
    """The edit with the PDF that the first reviewer had: before the deadline a paper may be handed
    in more than once.
    """
    brought = _in_order([edit for edit in edits if _text(_content(_row(edit, "note")), "pdf")])
    reviewed = min((_moment(note) for note in notes if _is_a(note, _REVIEW)), default=0.0)
    before = [edit for edit in brought if _moment(edit) <= reviewed]
    return next(iter(before[-1:] or brought), None)


def _review(note: Row) -> GivenReview:
    """Its fields of text under their names, as `## Weaknesses`; ratings apart."""
    content = _content(note)
    parts = []
    for name in content:
        text = _text(content, name).strip()
        if name.startswith(_NO_REVIEW_TEXT) or number_of(text) is not None:
            continue
        if len(text) >= _FEWEST_CHARACTERS:
            parts.append(f"## {name.replace('_', ' ').capitalize()}\n\n{text}")
    rating = next((name for name in ("rating", "recommendation") if name in content), "rating")
    return GivenReview(
        text="\n\n".join(parts),
        rating=number_of(_value(content, rating)),
        confidence=number_of(_value(content, "confidence")),
    )


def _in_order(notes: Sequence[Row]) -> list[Row]:
    return sorted(notes, key=_moment)


def _moment(note: Row) -> float:
    value = note.get("tcdate", note.get("cdate"))
    return float(value) if isinstance(value, int | float) else 0.0


def _is_a(note: Row, word: str) -> bool:
    """Return whether one of the invitations it answers ends in `/-/Official_Review`, for example."""
    named = note.get("invitations", [note.get("invitation")])
    listed = named if isinstance(named, list) else []
    ends = (each.rpartition("/")[2].casefold() for each in listed if isinstance(each, str))
    return word in ends


def _content(note: Row) -> Mapping[str, Any]:
    return _row(note, "content")


def _row(row: Row, name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def _value(content: Mapping[str, Any], name: str) -> Any:
    """API 2 writes `{"value": …}`, API 1 the value itself."""
    value = content.get(name)
    return value.get("value") if isinstance(value, Mapping) else value


def _text(content: Mapping[str, Any], name: str) -> str:
    value = _value(content, name)
    if not isinstance(value, str) or not encodable(value):
        return ""
    return value.replace("\r\n", "\n").replace("\x00", "")


def _day(root: Row) -> date | None:
    value = _moment(root) / 1000
    try:
        return datetime.fromtimestamp(value, UTC).date() if value > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def _notes(reply: Reply) -> list[Row]:
    return _rows(reply, "notes")


def _rows(reply: Reply, name: str) -> list[Row]:
    body = json_of(reply.content)
    rows_of(body, name)
    return mappings_of(body, name)


def _unread(failure: SourceFailure | None) -> Unread:
    assert failure is not None
    return Unread(failure.reason, f"{failure.source} {failure.endpoint}: {failure.detail}")


def _secrets(token: SecretStr | None) -> Secrets:
    if token is None:
        return Secrets()
    header = {"Authorization": SecretStr(f"Bearer {token.get_secret_value()}")}
    return Secrets(headers=header, parts=(token,))
