"""Many queries in few requests: what is asked, in how many requests, and what is said when one is
not answered.
"""

from datetime import date
from itertools import combinations
from typing import Any
from urllib.parse import quote_plus

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settings import LiteratureSettings
from tasks.accounting.ledger import Ledger
from tasks.literature.api_shapes import LONGEST_BULK_QUERY, packed_queries, significant_words
from tasks.literature.client import LiteratureClient

WORDS = st.lists(
    st.sampled_from(["bat", "echo", "wing", "roost", "flight", "call"]),
    min_size=1,
    max_size=6,
    unique=True,
)


def fulfils(query: str, text: set[str]) -> bool:
    """Whether a text fulfils a boolean query, read as Python reads it."""
    words = {word: word in text for word in ("bat", "echo", "wing", "roost", "flight", "call")}
    return bool(eval(query.replace("+", "and").replace("|", "or"), {"__builtins__": {}}, words))


@given(
    WORDS,
    st.integers(0, 3),
    st.sets(st.sampled_from(["bat", "echo", "wing", "roost", "flight", "call"])),
)
def test_a_packed_query_finds_papers_with_all_but_the_missing_words(
    words: list[str], missing: int, text: set[str]
) -> None:
    (packed,) = packed_queries([" ".join(words)], missing)
    least = max(len(words) - missing, min(2, len(words)))
    assert fulfils(packed, text) == any(
        set(chosen) <= text for chosen in combinations(words, least)
    )


@given(st.lists(st.text(max_size=80), max_size=40), st.integers(0, 3))
def test_no_text_breaks_the_syntax_of_a_packed_query(queries: list[str], missing: int) -> None:
    for packed in packed_queries(queries, missing):
        assert packed.count("(") == packed.count(")")
        assert not set('"*~-') & set(packed)


def test_many_queries_are_split_where_the_address_would_grow_too_long() -> None:
    queries = [
        f"alpha{number} beta{number} gamma{number} delta{number} epsilon{number}"
        for number in range(80)
    ]
    packed = packed_queries(queries, 2)
    assert len(packed) > 1
    assert all(len(quote_plus(each)) <= LONGEST_BULK_QUERY for each in packed)


@pytest.mark.parametrize("word_count", [18, 40, 200])
def test_a_query_too_long_for_an_address_loses_its_last_words(word_count: int) -> None:
    words = [f"word{number}" for number in range(word_count)]
    for missing in (1, 2):
        (packed,) = packed_queries([" ".join(words)], missing)
        assert len(quote_plus(packed)) <= LONGEST_BULK_QUERY
        assert words[0] in packed


def test_words_that_say_nothing_are_left_out_unless_nothing_else_is_there() -> None:
    assert significant_words("Detection of bats in the city") == ["detection", "bats", "city"]
    assert significant_words("of the") == ["of", "the"]


def row(number: int) -> dict[str, Any]:
    return {
        "paperId": f"{number:040x}",
        "title": f"Paper {number}",
        "year": 2020,
        "corpusId": number,
    }


def client(answer: Any) -> tuple[LiteratureClient, Ledger]:
    """A client whose requests `answer` sees: (request) → (status, body)."""

    def handle(request: httpx.Request) -> httpx.Response:
        status, body = answer(request)
        return httpx.Response(status, stream=httpx.ByteStream(orjson.dumps(body)))

    ledger = Ledger("idea")
    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return LiteratureClient("http://gateway", ledger, http, LiteratureSettings()), ledger


async def test_a_thin_answer_is_followed_by_a_looser_question_and_both_count() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> tuple[int, Any]:
        seen.append(request.url.params["query"])
        return 200, {"total": 1, "token": None, "data": [row(len(seen))]}

    literature, ledger = client(answer)
    found = await literature.search_bulk(["bat echo wing roost"], 5, date(2024, 1, 1))
    assert len(seen) == len(ledger.api_calls) == 2
    assert seen[0] != seen[1]
    assert [paper.title for paper in found.items] == ["Paper 1", "Paper 2"]


async def test_pages_are_followed_until_the_allowed_requests_are_spent() -> None:
    def answer(request: httpx.Request) -> tuple[int, Any]:
        page = int(request.url.params.get("token", "0"))
        return 200, {
            "total": 9_000,
            "token": str(page + 1),
            "data": [row(page * 1_000 + number) for number in range(1_000)],
        }

    literature, ledger = client(answer)
    found = await literature.search_bulk(["bat echo"], 3, None)
    assert len(found.items) == 3_000
    assert len(ledger.api_calls) == 3


async def test_a_bulk_search_that_was_not_answered_is_a_failure_not_an_empty_field() -> None:
    literature, _ = client(
        lambda _: (503, {"error": "the circuit is open", "reason": "circuit_open"})
    )
    found = await literature.search_bulk(["bat echo"], 1, None)
    assert found.items == ()
    assert [failure.reason for failure in found.failures] == ["circuit_open"]


async def test_pooled_recommendations_are_one_request_and_leave_seeds_and_later_papers_out() -> (
    None
):
    bodies: list[Any] = []

    def answer(request: httpx.Request) -> tuple[int, Any]:
        bodies.append(orjson.loads(request.content))
        return 200, {"recommendedPapers": [row(1), row(5), {**row(6), "year": 2026}]}

    literature, ledger = client(answer)
    seeds = [f"{number:040x}" for number in (1, 2)]
    found = await literature.pooled_recommendations(seeds, 16, date(2024, 1, 1))
    assert bodies == [{"positivePaperIds": seeds, "negativePaperIds": []}]
    assert [paper.title for paper in found.items] == ["Paper 5"]
    assert (found.inadmissible_count, ledger.api_calls[0].packed) == (1, 2)
