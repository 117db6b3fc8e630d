"""Forums of OpenReview, against a loopback copy of its API."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.curation.openreview import NAME, Forum, OpenReview
from tasks.curation.submission import Rejection
from tasks.sources.requests import SourceContext
from tasks.web.client import open_client
from tests.support.openreview_server import OpenReviewServer, note, openreview_server
from tests.support.source_contexts import quick_settings

FIRST, LATER = b"%PDF-1.4 first", b"%PDF-1.4 later"
MAY_2024 = 1_715_000_000_000
PAPER = {"title": "Routing", "abstract": "We route.", "pdf": "/pdf/second.pdf"}


def forum_notes() -> list[dict[str, Any]]:
    review = {
        "summary": "They route tokens by their difficulty.",
        "strengths": "The idea is novel.\r\nIt is simple.",
        "weaknesses": "No baseline at random.",
        "soundness": "3: good",
        "rating": "6: marginally above",
        "confidence": 4,
    }
    meta = {"metareview": "We accept it.", "decision": "unused"}
    return [
        note("R2", "F", "Official_Review", MAY_2024 + 9, review | {"rating": 3}),
        note("F", "F", "Submission", MAY_2024, PAPER, license="CC BY 4.0"),
        note("R1", "F", "Official_Review", MAY_2024 + 5, review),
        note("M", "F", "Meta_Review", MAY_2024 + 10, meta),
        note("C", "F", "Official_Comment", MAY_2024 + 11, {"comment": "Thank you for all."}),
        note("D", "F", "Decision", MAY_2024 + 12, {"decision": "Accept (poster)"}),
    ]


def edit(name: str, at: int, **content: str) -> dict[str, Any]:
    told = {key: {"value": value} for key, value in content.items()}
    return {"id": name, "tcdate": at, "note": {"id": "F", "content": told}}


@pytest.fixture
def server() -> Iterator[OpenReviewServer]:
    with openreview_server() as running:
        running.notes["F"] = forum_notes()
        running.edits["F"] = [
            edit("E2", MAY_2024 + 20, pdf="/pdf/second.pdf", title="Routing, revised"),
            edit("E1", MAY_2024, pdf="/pdf/first.pdf", title="Routing", abstract="We will."),
        ]
        running.files["/attachment?id=F"] = LATER
        running.files["/notes/edits/attachment?id=E1"] = FIRST
        yield running


async def read(
    server: OpenReviewServer, folder: Path, forum: str = "F", **more: Any
) -> tuple[Forum | Rejection, Ledger]:
    settings = Settings(sources=quick_settings(NAME, server.url), **more)
    ledger = Ledger(IdeaId(forum))
    async with open_client(10.0) as client:
        reader = OpenReview(settings, SourceContext(client, ledger, folder))
        return await reader.forum(forum), ledger


async def test_the_version_reviewed_first_is_read_with_its_reviews_in_order(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    forum, ledger = await read(server, tmp_path)
    assert isinstance(forum, Forum)
    assert (forum.pdf, forum.is_first_version) == (FIRST, True)
    assert (forum.title, forum.abstract) == ("Routing", "We will.")
    assert (forum.licence, forum.decision) == ("CC BY 4.0", "Accept (poster)")
    assert forum.submitted == date(2024, 5, 6)
    assert [each.rating for each in forum.reviews] == [6.0, 3.0]
    assert [each.confidence for each in forum.reviews] == [4.0, 4.0]
    assert forum.reviews[0].text == (
        "## Summary\n\nThey route tokens by their difficulty.\n\n"
        "## Strengths\n\nThe idea is novel.\nIt is simple.\n\n"
        "## Weaknesses\n\nNo baseline at random."
    )
    assert len(ledger.api_calls) == len(server.asked) == 3


async def test_a_paper_that_was_never_revised_is_its_first_version(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    server.edits["F"] = [edit("E1", MAY_2024, pdf="/pdf/second.pdf")]
    forum, _ = await read(server, tmp_path)
    assert isinstance(forum, Forum)
    assert (forum.pdf, forum.is_first_version) == (LATER, True)


async def test_a_paper_handed_in_twice_before_its_reviews_is_read_as_its_reviewers_had_it(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    placeholder = edit("E0", MAY_2024 - 9, pdf="/pdf/placeholder.pdf", title="To be written")
    server.edits["F"].insert(0, placeholder)
    forum, _ = await read(server, tmp_path)
    assert isinstance(forum, Forum)
    assert (forum.pdf, forum.title, forum.is_first_version) == (FIRST, "Routing", True)


async def test_where_edits_are_not_shown_the_version_is_unknown_and_said_so(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    server.refused["/notes/edits"] = 403
    forum, _ = await read(server, tmp_path)
    assert isinstance(forum, Forum)
    assert (forum.pdf, forum.is_first_version) == (LATER, None)
    (failure,) = forum.failures
    assert failure.reason is Reason.FORBIDDEN
    assert failure.is_of_a_document, "asking again would not help"


async def test_a_first_version_that_cannot_be_had_is_not_replaced_by_a_later_one(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    server.refused["/notes/edits/attachment"] = 403
    forum, _ = await read(server, tmp_path)
    assert isinstance(forum, Rejection)
    assert forum.reason is Reason.FORBIDDEN
    assert "OPENREVIEW_TOKEN" in forum.detail


async def test_an_unknown_forum_and_a_server_that_fails_are_different(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    unknown, _ = await read(server, tmp_path, "G")
    assert isinstance(unknown, Rejection)
    assert unknown.reason is Reason.NOT_FOUND
    server.refused["/notes"] = 500
    failed, ledger = await read(server, tmp_path)
    assert isinstance(failed, Rejection)
    assert failed.reason is Reason.SERVER_ERROR
    assert len(ledger.api_calls) == 3, "tried again within its bounds"


async def test_the_token_travels_and_is_in_no_row(server: OpenReviewServer, tmp_path: Path) -> None:
    token = "tokenOfAda-91827364"
    _, ledger = await read(server, tmp_path, openreview_token=SecretStr(token))
    assert set(server.keys) == {f"Bearer {token}"}
    assert token not in "".join(call.model_dump_json() for call in ledger.api_calls)


async def test_the_older_wire_without_values_is_read_too(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    for each in server.notes["F"]:
        each["content"] = {key: told["value"] for key, told in each["content"].items()}
        each["invitation"] = each.pop("invitations")[0]
    forum, _ = await read(server, tmp_path)
    assert isinstance(forum, Forum)
    assert len(forum.reviews) == 2
