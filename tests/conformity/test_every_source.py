"""What holds for every source: what it could not answer is typed, what it may not use is removed,
its key is never seen.
"""

import asyncio
import functools
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path

import pytest

from schemas.errors import BudgetExhaustedError
from schemas.literature.knowledge import KnowledgeAnswer, SourceKind
from tasks.sources import requests
from tasks.sources.http_source import HttpSource
from tasks.sources.registry import SOURCES, configured, open_sources
from tasks.sources.requests import SourceContext
from tasks.web.client import Secrets, open_client
from tasks.web.shared_limits import CircuitBreaker
from tests.support.source_contexts import (
    KEYS,
    MAIL,
    keyed_settings,
    keyless_settings,
    opened,
    query_for,
    quick,
    quick_settings,
)
from tests.support.tiers import some
from tests.support.web_servers import SHAPES, Find, ShapedServer, shaped_server
from warehouse.stores.keyed_store import KeyedStore

EVERY = pytest.mark.parametrize("kind", SOURCES, ids=lambda kind: kind.name)
ONE = pytest.mark.parametrize(
    "kind", some(SOURCES, lambda kind: kind is SOURCES[0]), ids=lambda kind: kind.name
)
"""For what all sources share with their client; `make long` tries the others."""
UNDATED = frozenset({"github_code"})
KEYLESS_WORK = {kind.name for kind in SOURCES if kind.missing_setting(keyless_settings()) is None}
KEYED = {
    kind.name
    for kind in SOURCES
    if kind.upstream(keyed_settings(kind.name, "")).secrets != Secrets()
}
FIND = Find("A paper about sparse attention")


@pytest.fixture
def server(kind: type[HttpSource], monkeypatch: pytest.MonkeyPatch) -> Iterator[ShapedServer]:
    quick(monkeypatch)
    with shaped_server(SHAPES[kind.name]) as running:
        running.finds = (FIND,)
        yield running


@pytest.fixture
async def asked(
    kind: type[HttpSource], server: ShapedServer, tmp_path: Path
) -> AsyncIterator["Asker"]:
    yield Asker(kind, server, tmp_path)


class Asker:
    """Asks one source and keeps the ledger."""

    def __init__(self, kind: type[HttpSource], server: ShapedServer, folder: Path) -> None:
        self.kind, self.server, self.folder = kind, server, folder

    async def __call__(
        self, *script: str, settings: dict[str, object] | None = None, **query: object
    ) -> KnowledgeAnswer:
        self.server.script = list(script) or ["good"]
        chosen = keyed_settings(self.kind.name, self.server.url, **(settings or {}))
        async with opened(self.kind, chosen, self.folder) as context:
            answer = await context.source.search(query_for(self.kind, **query))
            self.calls = context.ledger.api_calls
        return answer

    @property
    def reasons(self) -> list[str | None]:
        return [call.failure_reason for call in self.calls]


@EVERY
async def test_a_find_is_read_and_its_request_is_a_row(
    kind: type[HttpSource], asked: Asker
) -> None:
    answer = await asked()
    (item,) = answer.items
    assert answer.complete
    assert FIND.title in item.title
    assert (item.source, item.kind) == (kind.name, kind.kind)
    assert [
        (call.source, call.status, call.failure_reason, call.cache_hit) for call in asked.calls
    ] == [(kind.name, 200, None, False)]


@EVERY
async def test_half_a_character_costs_neither_the_answer_nor_the_idea(asked: Asker) -> None:
    answer = await asked("half")
    (item,) = answer.items
    assert answer.complete
    assert "sparse attention" in f"{item.title} {item.text}"
    item.model_dump_json()


@EVERY
async def test_a_429_is_waited_out(asked: Asker) -> None:
    answer = await asked("429", "good")
    assert (len(answer.items), answer.complete) == (1, True)
    assert asked.reasons == ["rate_limited", None]


@ONE
async def test_429_for_ever_is_no_empty_success(asked: Asker) -> None:
    answer = await asked("429")
    assert answer.items == ()
    assert [failure.reason for failure in answer.failures] == ["rate_limited"]
    assert asked.reasons == ["rate_limited"] * 3


@EVERY
async def test_a_long_retry_after_ends_the_look_up_at_once(asked: Asker) -> None:
    answer = await asked("429:86400")
    assert [failure.reason for failure in answer.failures] == ["rate_limited"]
    assert len(asked.calls) == 1


@EVERY
async def test_nothing_found_is_complete_and_without_items(
    kind: type[HttpSource], asked: Asker
) -> None:
    answer = await asked("empty")
    assert answer.complete
    assert answer.items == () if kind.searches_text else answer.items[0].pdf_url is None


@EVERY
@pytest.mark.parametrize("word", ["malformed", "truncated", "html"])
async def test_an_answer_that_cannot_be_read_is_asked_again_and_typed(
    asked: Asker, word: str
) -> None:
    await see_it_asked_again(asked, word, "malformed_answer")


@ONE
@pytest.mark.parametrize(
    ("word", "reason"),
    [("dropped", "unreachable"), ("500", "server_error"), ("503:0", "server_error")],
)
async def test_a_passing_fault_is_tried_again_and_a_lasting_one_is_typed(
    asked: Asker, word: str, reason: str
) -> None:
    await see_it_asked_again(asked, word, reason)


async def see_it_asked_again(asked: Asker, word: str, reason: str) -> None:
    recovered = await asked(word, "good")
    assert (len(recovered.items), recovered.complete, asked.reasons) == (1, True, [reason, None])
    lasting = await asked(word)
    assert (lasting.items, [failure.reason for failure in lasting.failures], asked.reasons) == (
        (),
        [reason],
        [reason] * 3,
    )


@ONE
@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("400", "bad_request"),
        ("401", "forbidden"),
        ("403", "forbidden"),
        ("404", "not_found"),
        ("elsewhere", "forbidden"),
    ],
)
async def test_a_refusal_is_typed_and_not_repeated(asked: Asker, word: str, reason: str) -> None:
    answer = await asked(word)
    assert (answer.items, [failure.reason for failure in answer.failures], len(asked.calls)) == (
        (),
        [reason],
        1,
    )


@ONE
async def test_silence_is_a_timeout_within_the_bound(
    asked: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch, attempts=2, seconds=0.1)
    answer = await asked("hangs")
    assert [failure.reason for failure in answer.failures] == ["timeout"]
    assert [(call.status, call.failure_reason) for call in asked.calls] == [(None, "timeout")] * 2


@ONE
async def test_an_endless_answer_is_cut_off(asked: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAXIMUM_BYTES", 300_000)
    answer = await asked("endless")
    assert [failure.reason for failure in answer.failures] == ["too_large"]
    assert len(asked.calls) == 1


@EVERY
async def test_a_move_within_the_host_is_followed(asked: Asker) -> None:
    assert len((await asked("moved", "good")).items) == 1


@EVERY
async def test_an_over_long_query_is_cut_at_a_word_and_says_so(
    kind: type[HttpSource], asked: Asker
) -> None:
    if not kind.searches_text:
        pytest.skip("looks up DOIs only")
    words = "contrastive pretraining objectives " * 100
    answer = await asked(text=words)
    assert answer.items
    assert answer.shortening is not None
    assert len(answer.query_sent) <= kind.maximum_characters
    assert len(answer.query_sent.split()) <= (kind.maximum_words or 10_000)
    assert set(answer.query_sent.split()) <= set(words.split())
    assert (await asked(text="sparse attention")).shortening is None


@EVERY
async def test_a_query_of_signs_alone_is_not_sent(kind: type[HttpSource], asked: Asker) -> None:
    if not kind.searches_text:
        pytest.skip("looks up DOIs only")
    answer = await asked(text='"()" | -')
    assert [failure.reason for failure in answer.failures] == ["bad_request"]
    assert asked.calls == []


@EVERY
async def test_the_cutoff_holds_for_what_comes_back(kind: type[HttpSource], asked: Asker) -> None:
    asked.server.finds = (
        Find("Early work", "2019-03-01", 1),
        Find("Later work", "2024-03-01", 2),
        Find("Undated work", None, 3),
    )
    if not kind.searches_text:
        asked.server.finds = asked.server.finds[1:2]
    answer = await asked(published_before=date(2020, 12, 31))
    early, removed, undated = ([], 1, 0) if not kind.searches_text else ([True], 2, 1)
    if kind.name in UNDATED:
        early, removed, undated = [], 3, 3
    assert ["Early work" in item.title for item in answer.items] == early
    assert (answer.inadmissible_count, answer.undated_count, answer.complete) == (
        removed,
        undated,
        True,
    )
    unbounded = await asked()
    assert (len(unbounded.items), unbounded.inadmissible_count) == (len(asked.server.finds), 0)


@EVERY
async def test_no_key_is_seen_anywhere(
    kind: type[HttpSource], asked: Asker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    own = kind.name.partition("_")[0]
    echoed = [key for name, key in KEYS.items() if name.startswith(own)] or [MAIL]
    asked.server.error_body = (
        json.dumps({"message": f"not allowed: {echoed}"}) if kind.name in KEYED else "{}"
    )
    wired = False
    for script in (
        ("good",),
        ("401",),
        ("500",),
        ("dropped",),
        ("moved", "good"),
        ("malformed",),
        ("elsewhere",),
    ):
        answer = await asked(*script)
        shown = f"{answer} {asked.calls} {caplog.text}"
        assert not [
            key
            for key in (*KEYS.values(), MAIL)
            if key in shown or key.replace("+", "%2B").replace("/", "%2F") in shown
        ]
        assert "Basic " not in shown
        wired = wired or any(
            "ecret" in request.everything or "Basic " in request.everything
            for request in asked.server.asked
        )
    assert wired == (kind.name in KEYED)


@EVERY
async def test_without_its_key_a_source_says_so_and_sends_nothing(
    kind: type[HttpSource], server: ShapedServer, tmp_path: Path
) -> None:
    settings = keyless_settings(sources=quick_settings(kind.name, server.url))
    if kind.name in KEYLESS_WORK:
        assert kind.name in configured(settings)
        async with opened(kind, settings, tmp_path) as context:
            assert (await context.source.search(query_for(kind))).items
        return
    async with opened(kind, settings, tmp_path) as context:
        answer = await context.source.search(query_for(kind))
    assert [failure.reason for failure in answer.failures] == ["not_configured"]
    assert "set " in answer.failures[0].detail
    assert context.ledger.api_calls == []


@EVERY
async def test_a_good_answer_is_kept_and_shared_and_a_failed_one_is_not(
    kind: type[HttpSource], server: ShapedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over ideas, tasks and processes: they have nothing in common here but two folders."""
    quick(monkeypatch, attempts=1)
    settings = keyed_settings(kind.name, server.url)

    async def ask() -> tuple[KnowledgeAnswer, list[bool]]:
        store = KeyedStore(tmp_path / "answers.sqlite")
        async with opened(kind, settings, tmp_path / "limits", answers=store) as context:
            return await context.source.search(query_for(kind)), [
                call.cache_hit for call in context.ledger.api_calls
            ]

    server.script = ["500", "malformed", "good"]
    assert [(await ask())[0].complete for _ in range(2)] == [False, False]
    together = await asyncio.gather(*(ask() for _ in range(5)))
    assert len(server.asked) == 3
    assert all(answer.items and answer.complete for answer, _ in together)
    assert sorted(hit for _, hits in together for hit in hits) == [False, True, True, True, True]
    assert not [
        key
        for key in (*KEYS.values(), MAIL)
        if key.encode() in (tmp_path / "answers.sqlite").read_bytes()
    ]


@EVERY
async def test_kept_answers_grow_old(
    kind: type[HttpSource], server: ShapedServer, tmp_path: Path
) -> None:
    settings = keyed_settings(kind.name, server.url)
    kept_seconds = kind.upstream(settings).kept_seconds
    assert kept_seconds <= (
        86_400 if kind.kind is not SourceKind.PAPERS or kind.name == "arxiv" else 7 * 86_400
    )
    for seconds_ago, asked_count in ((0.0, 1), (kept_seconds - 60, 1), (61.0, 2)):
        if seconds_ago:
            with sqlite3.connect(tmp_path / "answers.sqlite") as connection:
                connection.execute("update entries set stored_at = stored_at - ?", (seconds_ago,))
        async with opened(
            kind, settings, tmp_path, answers=KeyedStore(tmp_path / "answers.sqlite")
        ) as context:
            assert (await context.source.search(query_for(kind))).complete
        assert len(server.asked) == asked_count


@ONE
async def test_a_source_that_is_down_for_everybody_is_not_asked_and_says_so(
    kind: type[HttpSource], server: ShapedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        CircuitBreaker,
        "__init__",
        functools.partialmethod(CircuitBreaker.__init__, minimum_seconds=0.0),
    )
    server.script = ["503"]
    quick(monkeypatch, attempts=4)
    settings = keyed_settings(kind.name, server.url)
    reasons = []
    for _ in range(4):
        async with opened(kind, settings, tmp_path) as context:
            answer = await context.source.search(query_for(kind))
        reasons.extend(failure.reason for failure in answer.failures)
        assert not answer.items
        assert not answer.complete
    assert reasons == ["server_error", "server_error", "circuit_open", "circuit_open"]
    assert len(server.asked) == 8


@EVERY
async def test_a_spent_budget_ends_the_look_up(
    kind: type[HttpSource], server: ShapedServer, tmp_path: Path
) -> None:
    def spent() -> None:
        raise BudgetExhaustedError("the run's literature requests are spent")

    async with opened(kind, keyed_settings(kind.name, server.url), tmp_path, spent) as context:
        answer = await context.source.search(query_for(kind))
    assert ([failure.reason for failure in answer.failures], server.asked) == (
        ["budget_exhausted"],
        [],
    )


def test_the_sources_with_and_without_keys_are_told_apart() -> None:
    assert {"arxiv", "openalex", "crossref", "github_repositories"} <= KEYLESS_WORK
    assert not {"arxiv", "searxng"} & KEYED
    assert {"openalex", "unpaywall", "brave", "kaggle_datasets", "github_code"} <= KEYED


async def test_the_list_covers_papers_web_and_code_under_distinct_names(tmp_path: Path) -> None:
    assert {source.kind for source in SOURCES} == set(SourceKind)
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    async with (
        open_client(5.0) as http,
        opened(SOURCES[0], keyless_settings(), tmp_path) as context,
    ):
        sources = open_sources(
            keyless_settings(), SourceContext(http, context.ledger, tmp_path), ["arxiv", "brave"]
        )
    assert [source.name for source in sources] == ["arxiv", "brave"]
