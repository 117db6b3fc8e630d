"""OpenReview forums: the first version of a paper, its reviews, its decision.

API 2: GET https://api2.openreview.net/notes, /notes/edits, /attachment, /notes/edits/attachment.
A file of an earlier version is available by the id of its edit only: the path in the edit is gone
once the file is replaced. openreview-py is not used because its client waits and retries on its
own, outside our rate limits, `api_calls` rows and secrets.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pydantic import SecretStr

from schemas.base import encodable
from schemas.failure import Failure, SourceFailure, look_up_failures
from schemas.literature.source_text import plain_text
from schemas.reasons import Passes, Reason
from schemas.settings import Settings
from tasks.curation.review_files import number_of
from tasks.curation.submission import GivenReview, ReviewedPaper
from tasks.documents.document import Refusal
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


class OpenReview:
    """Rate-limited reader of forums; every request is a row of `api_calls`."""

    def __init__(self, settings: Settings, context: SourceContext) -> None:
        token, secrets = settings.openreview_token, Secrets()
        if token is not None:
            header = {"Authorization": SecretStr(f"Bearer {token.get_secret_value()}")}
            secrets = Secrets(headers=header, parts=(token,))
        upstream = Upstream(
            source=NAME,
            base_url="https://api2.openreview.net",
            per_minute=60,
            secrets=secrets,
            mend={Reason.FORBIDDEN: "set OPENREVIEW_TOKEN to a token of your account"},
        )
        self._requests = SourceRequests(
            overridden(upstream, settings.sources), context, settings.documents.maximum_bytes
        )

    async def forum(self, forum: str) -> tuple[bytes, ReviewedPaper] | Refusal:
        """Return the first PDF given to reviewers with its reviews, or why it is unavailable."""
        request = Question("/notes", (("forum", forum), ("trash", "false")))
        answer = await self._requests.fetch(request, lambda reply: _rows(reply, "notes"))
        notes = answer.page
        if notes is None:
            return _refusal(answer.failure)
        root = next((note for note in notes if text_of(note, "id") == forum), None)
        if root is None:
            return Refusal(Reason.NOT_FOUND, f"OpenReview has no forum {forum}, or shows it to few")
        request = Question("/notes/edits", (("note.id", forum), ("sort", "tcdate:asc")))
        edits = await self._requests.fetch(request, lambda reply: _rows(reply, "edits"))
        first = _reviewed_edit(edits.page or [], notes)
        first_content = _content(_row(first, "note")) if first is not None else {}
        # None: the edits are hidden, so that this may be a later version.
        request = Question("/attachment", (("id", forum), ("name", "pdf")))
        if first is not None and _text(first_content, "pdf") != _text(_content(root), "pdf"):
            of_edit = (("id", text_of(first, "id")), ("name", "pdf"))
            request = Question("/notes/edits/attachment", of_edit)
        pdf = await self._requests.fetch(request, lambda reply: reply.content, lambda _: False)
        if pdf.page is None:
            return _refusal(pdf.failure)
        failures: tuple[Failure, ...] = ()
        if edits.failure is not None:
            # Edits that are not public stay so; other failures are worth a retry.
            passes = edits.failure.reason.passes is Passes.BY_ITSELF
            failures = look_up_failures([edits.failure], STAGE if passes else "documents", forum)
        decisions = (_value(_content(note), "decision") for note in notes if _is_a(note, _DECISION))
        return pdf.page, ReviewedPaper(
            reviews=tuple(_review(note) for note in _in_order(notes) if _is_a(note, _REVIEW)),
            title=plain_text(_text({**_content(root), **first_content}, "title")),
            url=PAGE.format(forum=forum),
            licence=text_of(root, "license"),
            submitted=_day(root),
            decision=next((each for each in decisions if isinstance(each, str)), "")[:200],
            is_first_version=True if first is not None else None,
            failures=failures,
        )


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
    last_parts = (each.rpartition("/")[2].casefold() for each in names if isinstance(each, str))
    return word in last_parts


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


def _rows(reply: Reply, name: str) -> list[Row]:
    body = json_of(reply.content)
    rows_of(body, name)
    return mappings_of(body, name)


def _refusal(failure: SourceFailure | None) -> Refusal:
    assert failure is not None
    return Refusal(failure.reason, f"{failure.source} {failure.endpoint}: {failure.detail}")
