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
from tasks.curation.openreview import NAME, OpenReview
from tasks.curation.submission import ReviewedPaper
from tasks.documents.document import Refusal
from tasks.sources.requests import SourceContext
from tasks.web.client import open_client
from tests.support.openreview_server import OpenReviewServer, note, openreview_server
from tests.support.source_contexts import quick, quick_settings

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


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


async def read(
    server: OpenReviewServer, folder: Path, forum: str = "F", **more: Any
) -> tuple[tuple[bytes, ReviewedPaper] | Refusal, Ledger]:
    settings = Settings(sources=quick_settings(NAME, server.url), **more)
    ledger = Ledger(IdeaId(forum))
    async with open_client(10.0) as client:
        reader = OpenReview(settings, SourceContext(client, ledger, folder))
        return await reader.forum(forum), ledger


async def found(server: OpenReviewServer, folder: Path) -> tuple[bytes, ReviewedPaper]:
    answer, _ = await read(server, folder)
    assert not isinstance(answer, Refusal), answer
    return answer


async def test_first_reviewed_version_is_read_with_its_reviews_in_order(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    answer, ledger = await read(server, tmp_path)
    assert not isinstance(answer, Refusal), answer
    content, paper = answer
    assert (content, paper.is_first_version) == (FIRST, True)
    assert (paper.title, paper.url) == ("Routing", "https://openreview.net/forum?id=F")
    assert (paper.licence, paper.decision) == ("CC BY 4.0", "Accept (poster)")
    assert paper.submitted == date(2024, 5, 6)
    assert [(each.rating, each.confidence) for each in paper.reviews] == [(6.0, 4.0), (3.0, 4.0)]
    assert paper.reviews[0].text == (
        "## Summary\n\nThey route tokens by their difficulty.\n\n"
        "## Strengths\n\nThe idea is novel.\nIt is simple.\n\n"
        "## Weaknesses\n\nNo baseline at random."
    )
    assert len(ledger.api_calls) == len(server.asked) == 3


async def test_edits_name_the_version_that_was_reviewed(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    placeholder = edit("E0", MAY_2024 - 9, pdf="/pdf/placeholder.pdf", title="To be written")
    server.edits["F"].insert(0, placeholder)
    content, paper = await found(server, tmp_path)
    assert (content, paper.title, paper.is_first_version) == (FIRST, "Routing", True)
    server.edits["F"] = [edit("E1", MAY_2024, pdf="/pdf/second.pdf")]
    content, paper = await found(server, tmp_path)
    assert (content, paper.is_first_version) == (LATER, True)


async def test_version_is_unknown_without_public_edits(
    server: OpenReviewServer, tmp_path: Path
) -> None:
    server.refused["/notes/edits"] = 403
    content, paper = await found(server, tmp_path)
    assert (content, paper.is_first_version) == (LATER, None)
    (failure,) = paper.failures
    assert failure.reason is Reason.FORBIDDEN
    assert failure.is_of_a_document, "asking again would not help"


@pytest.mark.parametrize(
    ("forum", "path", "status", "reason", "requests"),
    [
        ("F", "/notes/edits/attachment", 403, Reason.FORBIDDEN, 3),
        ("G", "", 0, Reason.NOT_FOUND, 1),
        ("F", "/notes", 500, Reason.SERVER_ERROR, 3),
    ],
    ids=["first version withheld", "unknown", "server error, retried"],
)
async def test_unavailable_forum_has_a_reason(
    server: OpenReviewServer,
    tmp_path: Path,
    forum: str,
    path: str,
    status: int,
    reason: Reason,
    requests: int,
) -> None:
    server.refused[path] = status
    refusal, ledger = await read(server, tmp_path, forum)
    assert isinstance(refusal, Refusal)
    assert refusal.reason is reason
    assert ("OPENREVIEW_TOKEN" in refusal.detail) == (status == 403)
    assert len(ledger.api_calls) == requests


async def test_the_token_travels_and_is_in_no_row(server: OpenReviewServer, tmp_path: Path) -> None:
    token = "tokenOfAda-91827364"
    _, ledger = await read(server, tmp_path, openreview_token=SecretStr(token))
    assert set(server.keys) == {f"Bearer {token}"}
    assert token not in "".join(call.model_dump_json() for call in ledger.api_calls)


async def test_api_1_without_values_is_read(server: OpenReviewServer, tmp_path: Path) -> None:
    for each in server.notes["F"]:
        each["content"] = {key: told["value"] for key, told in each["content"].items()}
        each["invitation"] = each.pop("invitations")[0]
    _, paper = await found(server, tmp_path)
    assert len(paper.reviews) == 2
