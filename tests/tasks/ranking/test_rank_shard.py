"""A shard of groups: landed group by group, killed at any moment,
and never asking the same twice.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import AssayError, ConfigurationError, PublicationError
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import GroupReceipt, Match, RankedGroup
from schemas.outcome import Outcome
from schemas.run import Budget
from schemas.settings import LanguageModelSettings, Settings
from schemas.tables import TABLE
from tasks.accounting.ledger import Ledger
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools, Engine, Step
from tasks.ranking import rank
from tasks.ranking import rank_shard as shard
from tasks.ranking.dimensions import DIMENSIONS
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank_shard import GroupJob, Journal, RankJob, rank_job, rank_shard
from tasks.shards import work as unit_work
from tests.support.assay_command import wait_until
from tests.support.openai_server import Messages, OpenAIServer, Recorded, start_openai_server
from tests.support.ranking_fakes import FakeJudge, dossier
from tests.support.rankings import make_ranked_group
from tests.support.requests import rank_request
from warehouse.kinds.rankings.landing import RANKINGS, failed_groups, landed_matches
from warehouse.parquet import read_rows
from warehouse.units.landing import iterate_receipts
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
IDS = tuple(IdeaId(f"idea-{letter}") for letter in "abcd")
SPAWN = multiprocessing.get_context("spawn")
PRICED = LanguageModelSettings(
    prompt_price_usd_per_million_tokens=2.0, completion_price_usd_per_million_tokens=8.0
)


def answer(messages: Messages, schema: object) -> dict[str, object]:
    """Whoever is shown first wins along every dimension: the worst of judges."""
    names = [dimension.name for dimension in DIMENSIONS] + ["overall"]
    return {
        "verdicts": [
            {"dimension": name, "reason": "It says more.", "a_better_percent": 90} for name in names
        ]
    }


def make_job(warehouse: Path, server: OpenAIServer | None, budget: Budget | None = None) -> RankJob:
    dossiers = tuple(
        Dossier(
            idea_id=one, group="one", title=one, text=f"We test {one} on held-out data of ten labs."
        )
        for one in IDS
    )
    request = rank_request(
        run_id=RUN,
        warehouse=warehouse,
        profile=load_profile("economy"),
        engine="litellm:openai/judge" if server else "extractive",
        api_base=server.url if server else None,
        budget=budget or Budget(),
    )
    return RankJob(
        run_id=RUN,
        ranking_id="ranking-a",
        request=request,
        dimensions=DIMENSIONS,
        groups=(GroupJob(group="one", dossiers=dossiers),),
    )


def run_in_child(job: str) -> None:
    os.environ["OPENAI_API_KEY"] = "sk-test"
    asyncio.run(
        rank_job(
            RankJob.model_validate_json(job),
            Settings(language_model=replace(PRICED, maximum_concurrency=2)),
        )
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def questions(server: OpenAIServer) -> Counter[str]:
    return Counter(json.dumps(request.messages) for request in server.requests)


@pytest.mark.long
def test_a_killed_shard_goes_on_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    killed = threading.Event()

    def behaviour(request: Recorded) -> str:
        return "good" if killed.is_set() or request.number <= 3 else "hangs"

    with start_openai_server(behaviour, answer) as server:
        settings = Settings(language_model=replace(PRICED, maximum_concurrency=2))
        job = make_job(tmp_path, server)
        child = SPAWN.Process(target=run_in_child, args=(job.model_dump_json(),))
        child.start()
        wait_until(lambda: len(server.requests) >= 4, 300, "a request that hangs")
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        killed.set()
        warehouse = Warehouse(tmp_path)
        assert list(iterate_receipts(warehouse, RANKINGS, RUN, "ranking-a")) == []
        (receipt,) = asyncio.run(rank_job(job, settings))
        asked = questions(server)
    assert len(asked) == 12, "six pairs in both orders"
    assert sum(asked.values()) <= 12 + 2
    assert receipt.rows["matches"] == 72
    calls = read_rows(
        TABLE["llm_calls"],
        RANKINGS.unit_folder(warehouse, RUN, "ranking-a", "one") / "llm_calls.parquet",
    )
    paid = [call for call in calls if call["cost_usd"]]
    assert len(paid) == 12, "what was paid before the kill is on the bill"
    unanswered = [call for call in calls if call["cost_usd"] is None]
    assert len(unanswered) == sum(asked.values()) - 12
    assert all("ended before the answer came" in call["error"] for call in unanswered)
    assert {call["ranking_id"] for call in calls} == {"ranking-a"}
    assert {call["idea_id"] for call in calls} == set(IDS)


def test_what_a_budget_ended_is_taken_up_again(tmp_path: Path) -> None:
    settings, warehouse = (
        Settings(language_model=replace(PRICED, maximum_concurrency=1)),
        Warehouse(tmp_path),
    )
    with start_openai_server("good", answer) as server:
        (poor,) = asyncio.run(
            rank_job(make_job(tmp_path, server, Budget(maximum_tokens=3000)), settings)
        )
        assert poor.incomplete_reason == "budget_exhausted"
        paid = questions(server)
        (rich,) = asyncio.run(rank_job(make_job(tmp_path, server), settings))
        asked = questions(server)
    assert 0 < len(paid) < 12
    assert rich.incomplete_reason is None
    assert set(asked.values()) == {1}
    calls = read_rows(
        TABLE["llm_calls"],
        RANKINGS.unit_folder(warehouse, RUN, "ranking-a", "one") / "llm_calls.parquet",
    )
    assert len({call["call_id"] for call in calls if call["cost_usd"] > 0}) == 12
    assert {
        match.unscored_reason for match in landed_matches(warehouse, RUN, "ranking-a", "one")
    } == {None}


async def test_the_extractive_engine_gives_the_same_ranking_again(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        warehouse = Warehouse(tmp_path / name)
        job = make_job(warehouse.root, None)
        await rank_shard(
            job,
            warehouse,
            lambda _: ExtractiveEngine(BaselineTools(embedder=None), 7),
            concurrency=4,
        )  # type: ignore[arg-type]
        matches = landed_matches(warehouse, RUN, "ranking-a", "one")
        ratings = read_rows(
            TABLE["ratings"],
            RANKINGS.unit_folder(warehouse, RUN, "ranking-a", "one") / "ratings.parquet",
        )
        found.append(
            ([(match.match_id, match.winner, match.rationale) for match in matches], ratings)
        )
    assert found[0] == found[1]


def test_a_journal_leaves_out_a_torn_line_and_keeps_what_follows(tmp_path: Path) -> None:
    group: RankedGroup = make_ranked_group(IDS[:2])
    journal = Journal(tmp_path / "group.jsonl")
    journal.write(group.matches[:2])
    with journal.path.open("ab") as file:
        file.write(b'{"match": {"match_id": "to')
    journal.write(group.matches[2:])
    again = Journal(journal.path)
    again.read()
    kept: list[Match] = again.matches
    assert tuple(kept) == group.matches


POISONS = [
    ZeroDivisionError("a bug"),
    PublicationError("no row"),
    RecursionError("too deep"),
    ValueError("half a \ud800"),
]
STAGES = ["what was judged before", "engine", "question", "delivery", "ratings", "landing"]


def break_group(
    monkeypatch: pytest.MonkeyPatch, stage: str, error: Exception, broken: str
) -> Callable[[Ledger], Engine]:
    """Raise `error` at one stage of the group called `broken`;
    returns the engines of all groups.
    """

    def failing(named: Callable[..., str], then: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            if named(*values) == broken:
                raise error
            return then(*values, **options)

        return call

    class Judge(FakeJudge):
        async def run(self, step: Step[Any, Any], inputs: Any) -> Outcome[Any]:
            if stage == "question" and inputs.first.title.startswith(broken):
                raise error
            return await super().run(step, inputs)

    def engine_of(ledger: Ledger) -> Engine:
        if stage == "engine" and ledger.idea_id.startswith(broken):
            raise error
        return Judge(name="extractive")

    if stage == "what was judged before":
        monkeypatch.setattr(
            shard,
            "landed_matches",
            failing(lambda *given: given[-1], shard.landed_matches),
        )
    if stage == "delivery":
        write = Journal.write
        found = failing(lambda _, matches: matches[0].group, write)
        monkeypatch.setattr(Journal, "write", found)
    if stage == "ratings":
        monkeypatch.setattr(rank, "rate", failing(lambda name, *_: name, rank.rate))
    if stage == "landing":
        named = lambda *given: given[3].group if given[3].ratings else ""  # noqa: E731
        monkeypatch.setattr(shard, "land_unit", failing(named, shard.land_unit))
    return engine_of


def three_groups(warehouse: Path) -> RankJob:
    groups = tuple(
        GroupJob(group=name, dossiers=tuple(dossier(f"{name}-{letter}", name) for letter in "ab"))
        for name in ("one", "two", "three")
    )
    return replace(make_job(warehouse, None), groups=groups)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("error", POISONS, ids=lambda error: type(error).__name__)
async def test_whatever_stage_of_a_group_fails_it_is_that_groups_failure_until_the_next_run(
    stage: str, error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Half a character in a captured log would end the worker of the tests that reports it.
    monkeypatch.setattr(unit_work.logger, "disabled", True)
    warehouse, job = Warehouse(tmp_path), three_groups(tmp_path)
    with monkeypatch.context() as broken:
        receipts = await rank_shard(
            job, warehouse, break_group(broken, stage, error, "two"), concurrency=4
        )
    reason = error.reason if isinstance(error, AssayError) else "internal_error"
    assert [receipt.incomplete_reason for receipt in receipts] == [None, reason, None]
    (failed,) = failed_groups(warehouse, RUN, "ranking-a")
    assert failed.group == "two"
    assert str(error).encode("utf-8", "replace").decode() in failed.ended_because
    again = await rank_shard(job, warehouse, lambda _: FakeJudge(name="extractive"), concurrency=4)
    assert [receipt.incomplete_reason for receipt in again] == [None, None, None]
    assert list(failed_groups(warehouse, RUN, "ranking-a")) == []
    assert (again[0], again[2]) == (receipts[0], receipts[2])


async def test_what_a_failed_group_had_asked_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job, judge = three_groups(tmp_path), FakeJudge(name="extractive")
    with monkeypatch.context() as broken:
        break_group(broken, "ratings", ZeroDivisionError("a bug"), "two")
        await rank_shard(job, Warehouse(tmp_path), lambda _: judge, concurrency=4)
    await rank_shard(job, Warehouse(tmp_path), lambda _: judge, concurrency=4)
    assert set(Counter(judge.asked).values()) == {1}


async def test_a_group_that_cannot_even_land_as_failed_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def landing(*given: Any) -> GroupReceipt:
        if given[3].group == "two":
            raise PublicationError("no such row")
        return land_unit(*given)

    monkeypatch.setattr(shard, "land_unit", landing)
    receipts = await rank_shard(
        three_groups(tmp_path),
        Warehouse(tmp_path),
        lambda _: FakeJudge(name="extractive"),
        concurrency=4,
    )
    assert [receipt.unit for receipt in receipts] == ["one", "three"]
    assert (
        "the failure of group 'two' cannot be landed: PublicationError: no such row" in caplog.text
    )


@pytest.mark.parametrize(
    "error", [ConfigurationError("no key is set"), MemoryError()], ids=["settings", "memory"]
)
async def test_what_concerns_every_group_ends_the_shard(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine_of = break_group(monkeypatch, "engine", error, "two")
    with pytest.raises((ConfigurationError, ExceptionGroup)) as raised:
        await rank_shard(three_groups(tmp_path), Warehouse(tmp_path), engine_of, concurrency=4)
    assert raised.value is error or raised.group_contains(MemoryError)
