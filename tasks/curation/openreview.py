"""OpenReview forums: the first version of a paper, its reviews, its decision.

API 2: GET https://api2.openreview.net/notes, /notes/edits, /attachment, /notes/edits/attachment.
A file of an earlier version is available by the id of its edit only: the path in the edit is gone
once the file is replaced. openreview-py is not used because its client waits and retries on its
own, outside our rate limits, `api_calls` rows and secrets.
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
from tasks.curation.submission import GivenReview, Rejection
from tasks.sources.fields import Row, json_of, mappings_of, rows_of, text_of
from tasks.sources.http_source import overridden
from tasks.sources.requests import Question, Reply, SourceContext, SourceRequests, Upstream
from tasks.web.client import Secrets

NAME = "openreview"
STAGE = "curation"
PAGE = "https://openreview.net/forum?id={forum}"
_REVIEW, _DECISION = "official_review", "decision"
_NO_REVIEW_TEXT = ("title", "flag", "code_of_conduct", "ethics")
"""Prefixes of fields that are not part of the review."""
_FEWEST_CHARACTERS = 12
"""Shortest text field; shorter ones are choices, such as `3 good`."""


@dataclass(frozen=True, slots=True)
class Forum:
    """Content of a forum, and the first PDF given to its reviewers."""

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
    """Rate-limited reader of forums; every request is a row of `api_calls`."""

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

    async def forum(self, forum: str) -> Forum | Rejection:
        """Return the forum with id `forum`, or why it is unavailable."""
        request = Question("/notes", (("forum", forum), ("trash", "false")))
        notes = await self._requests.fetch(request, _notes)
        if notes.page is None:
            return _rejection(notes.failure)
        root = next((note for note in notes.page if text_of(note, "id") == forum), None)
        if root is None:
            return Rejection(
                Reason.NOT_FOUND, f"OpenReview has no forum {forum}, or shows it to few"
            )
        edits = await self._edits(forum)
        edit_rows = edits if not isinstance(edits, SourceFailure) else []
        first = _reviewed_edit(edit_rows, notes.page)
        request, is_first_version = _which_pdf(root, first, forum)
        pdf = await self._requests.fetch(request, lambda reply: reply.content, lambda _: False)
        if pdf.page is None:
            return _rejection(pdf.failure)
        failures = _edit_failures(edits, forum) if isinstance(edits, SourceFailure) else ()
        return _forum(pdf.page, notes.page, root, first, is_first_version, failures)

    async def _edits(self, forum: str) -> list[Row] | SourceFailure:
        request = Question("/notes/edits", (("note.id", forum), ("sort", "tcdate:asc")))
        reply = await self._requests.fetch(request, lambda body: _rows(body, "edits"))
        if reply.page is None:
            assert reply.failure is not None
            return reply.failure
        return reply.page


def _edit_failures(edits: SourceFailure, forum: str) -> tuple[Failure, ...]:
    """Return failures of the edits; those not public are permanent, others worth a retry."""
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
    """Return the request for the PDF, and True if it is the first (None if edits are hidden)."""
    current = Question("/attachment", (("id", forum), ("name", "pdf")))
    if first is None:
        return current, None
    if _text(_content(_row(first, "note")), "pdf") == _text(_content(root), "pdf"):
        return current, True
    of_edit = (("id", text_of(first, "id")), ("name", "pdf"))
    return Question("/notes/edits/attachment", of_edit), True


def _reviewed_edit(edits: Sequence[Row], notes: Sequence[Row]) -> Row | None:
    """Return the edit with the PDF of the first reviewer.

    Authors may submit several versions before the deadline.
    """
    with_pdf = _in_order([edit for edit in edits if _text(_content(_row(edit, "note")), "pdf")])
    first_review = min((_moment(note) for note in notes if _is_a(note, _REVIEW)), default=0.0)
    before_review = [edit for edit in with_pdf if _moment(edit) <= first_review]
    return next(iter(before_review[-1:] or with_pdf), None)


def _review(note: Row) -> GivenReview:
    """Return the text fields under their names, such as `## Weaknesses`, and the ratings."""
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
    """Return whether an invitation ends in the word, for example `/-/Official_Review`."""
    invitations = note.get("invitations", [note.get("invitation")])
    names = invitations if isinstance(invitations, list) else []
    ends = (each.rpartition("/")[2].casefold() for each in names if isinstance(each, str))
    return word in ends


def _content(note: Row) -> Mapping[str, Any]:
    return _row(note, "content")


def _row(row: Row, name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def _value(content: Mapping[str, Any], name: str) -> Any:
    """Return a field: API 2 writes `{"value": …}`, API 1 the bare value."""
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


def _rejection(failure: SourceFailure | None) -> Rejection:
    assert failure is not None
    return Rejection(failure.reason, f"{failure.source} {failure.endpoint}: {failure.detail}")


def _secrets(token: SecretStr | None) -> Secrets:
    if token is None:
        return Secrets()
    header = {"Authorization": SecretStr(f"Bearer {token.get_secret_value()}")}
    return Secrets(headers=header, parts=(token,))
