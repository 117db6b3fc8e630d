"""Suite `coverage`: its baselines see what the modules may see, and nothing more; addresses that a
review cites, and what they answer.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judging import Wording
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput
from tasks.benchmarks.steps.judge_preference import cited_links
from tasks.benchmarks.steps.prompted_reviews import (
    PROMPTED_CONTRIBUTION,
    PROMPTED_SOUNDNESS,
    PromptedContributionReply,
    PromptedSoundnessReply,
    ReviewedDimension,
    ReviewedMethod,
)
from tasks.benchmarks.suites.baseline_reviews import (
    WrittenReview,
    _review_from_memory,
    _review_with_search,
    rotate_reviews,
)
from tasks.benchmarks.suites.coverage import SUITE as COVERAGE
from tasks.benchmarks.suites.coverage import LinkStatus, link_status
from tasks.judging.relevance import ShownPaper
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS, ProblemsInput
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput
from tests.support.benchmark_sets import benchmark_request, run_id_of, write_scholarideas
from tests.support.contribution_fakes import FakeEngine, FakeLiterature, WordEmbedder, paper
from tests.support.web_servers import SHAPES, ShapedServer, shaped_server

IDEA = Idea(
    idea_id=IdeaId("bats"),
    title="Listening to bats at night",
    text="We will build a recorder for the echo calls of bats that share a cave in winter.",
)

SAID = "A recorder for the echo calls of bats in a cave."


async def test_the_ideas_own_paper_is_not_shown_to_the_baseline_that_searches() -> None:
    own = replace(paper("own", SAID), title="Listening to Bats at Night")
    literature: Any = FakeLiterature((own, paper("other", SAID)))
    embedder = WordEmbedder()
    engine = FakeEngine(embedder, {"prompted_soundness": lambda _: Reason.REFUSED})
    context = ItemContext(engine, embedder, Ledger(IDEA.idea_id), literature)
    await _review_with_search(IDEA, context)
    ((_, question),) = engine.asked
    assert [shown.title for shown in question.papers] == ["On other"]


async def test_half_a_review_is_none_and_says_why() -> None:
    embedder = WordEmbedder()
    refused = FakeEngine(embedder, {"prompted_contribution": lambda _: Reason.REFUSED})
    review = await _review_from_memory(
        IDEA, ItemContext(refused, embedder, Ledger(IDEA.idea_id), None)
    )
    assert [step for step, _ in refused.asked] == ["prompted_soundness", "prompted_contribution"]
    assert (review.text, review.reason) == ("", Reason.REFUSED)


async def test_soundness_and_contribution_are_asked_apart_and_stand_in_one_review() -> None:
    embedder = WordEmbedder()
    engine = FakeEngine(
        embedder,
        {
            "prompted_soundness": lambda _: PromptedSoundnessReply(
                methods=[ReviewedMethod(method="Record calls", support="It worked before.")]
            ),
            "prompted_contribution": lambda _: PromptedContributionReply(
                dimensions=[ReviewedDimension(dimension="Data", weaknesses="Others have it.")]
            ),
        },
    )
    review = await _review_from_memory(
        IDEA, ItemContext(engine, embedder, Ledger(IDEA.idea_id), None)
    )
    assert "## Method: Record calls\n\nSupport: It worked before." in review.text
    assert "## Contribution: Data\n\nWeaknesses: Others have it." in review.text


def test_from_memory_the_cutoff_is_told_and_beside_papers_only_their_keys_are() -> None:
    steps: tuple[Any, ...] = (PROMPTED_SOUNDNESS, PROMPTED_CONTRIBUTION)
    for step in steps:
        _, alone = step.messages(step.input_model(idea="An idea.", cutoff="2024-05-01"))
        assert "nothing published after 2024-05-01" in alone["content"]
        shown = ShownPaper(key="P1", title="Bats", abstract="They call.")
        _, data = step.messages(step.input_model(idea="An idea.", cutoff="", papers=(shown,)))
        assert "Cite the papers shown by their keys" in data["content"]
        assert "Markdown links" not in data["content"]
        assert "Paper P1:" in data["content"]


def test_a_judge_asked_as_published_is_told_neither_more_nor_less_than_those_judges() -> None:
    asked = {
        wording: [
            JUDGE_COVERAGE.messages(CoverageInput(review="r", statement="s", wording=wording)),
            JUDGE_HIT.messages(
                HitInput(problem="p", location="l", explanation="e", reason="r", wording=wording)
            ),
            FIND_PROBLEMS.messages(
                ProblemsInput(
                    title="t",
                    form="text",
                    text="x",
                    attached=False,
                    maximum_problems=5,
                    wording=wording,
                )
            ),
        ]
        for wording in Wording
    }
    for own, published in zip(asked[Wording.OWN], asked[Wording.PUBLISHED], strict=True):
        assert own[1] == published[1], "the texts to be judged are the same"
        assert own[0] != published[0]
        assert "instructions" in published[0]["content"], "the guard against the texts stays"
    assert "A praise does not cover a criticism" in asked[Wording.OWN][0][0]["content"]
    assert "praise" not in asked[Wording.PUBLISHED][0][0]["content"]
    own, published = (asked[wording][2][0]["content"] for wording in Wording)
    assert "most critical problems" in published
    assert "how sure" in own
    assert "how sure" not in published
    assert all("at most 5 problems" in each for each in (own, published))


def test_another_wording_of_the_judge_is_another_benchmark(tmp_path: Path) -> None:
    folder = write_scholarideas(tmp_path)
    ids = {run_id_of(benchmark_request(folder, COVERAGE, judge=judge)) for judge in Wording}
    assert len(ids) == 2


@pytest.mark.parametrize("seed", range(5))
def test_every_idea_is_passed_the_review_of_another_one(seed: int) -> None:
    reviews = {f"i{number}": WrittenReview(text=f"of i{number}") for number in range(7)}
    passed = rotate_reviews(reviews, seed)
    assert passed == rotate_reviews(dict(reversed(reviews.items())), seed)
    assert sorted(one.text for one in passed.values()) == sorted(
        one.text for one in reviews.values()
    )
    assert all(one.text != f"of {idea_id}" for idea_id, one in passed.items())
    (alone,) = rotate_reviews({"i": WrittenReview(text="of i")}, 0).values()
    assert (alone.text, alone.reason) == ("", Reason.NOTHING_TO_JUDGE)


# Addresses.


@pytest.fixture
def server() -> Iterator[ShapedServer]:
    with shaped_server(next(iter(SHAPES.values()))) as running:
        yield running


def asked(url: str, *, private: bool = True) -> LinkStatus:
    async def run() -> LinkStatus:
        return await link_status(url, 5.0, allow_private_addresses=private)

    return asyncio.run(run())


def test_links_are_found_in_order_with_repetitions_and_round_brackets() -> None:
    text = (
        "As [(Doe, 2020)](https://a.org/x) and [(Roe, 2021)](https://b.org/p_(1)) say"
        " [again](https://a.org/x); see www.c.org."
    )
    assert cited_links(text) == ["https://a.org/x", "https://b.org/p_(1)", "https://a.org/x"]


@pytest.mark.parametrize("status", ["404", "503"])
def test_the_status_is_what_the_server_says(server: ShapedServer, status: str) -> None:
    server.script = [status]
    assert asked(f"http://127.0.0.1:{server.port}/paper").status in (int(status), 501)


def test_a_head_that_drips_is_not_waited_for() -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nx: ")
        with suppress(ConnectionError):
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)

    async def run() -> LinkStatus:
        async with await asyncio.start_server(drip, "127.0.0.1", 0) as server, asyncio.timeout(60):
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            return await link_status(url, 0.2, allow_private_addresses=True)

    assert "no whole answer within 0.2 s" in asyncio.run(run()).detail


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/x",
        "http://[::1]/x",
        "http://10.0.0.1/x",
        "ftp://a.org/x",
        "http:///x",
        "http://%zz/",
    ],
)
def test_an_address_that_may_not_be_asked_has_no_status_and_a_reason(url: str) -> None:
    found = asked(url, private=False)
    assert found.status is None
    assert found.detail
