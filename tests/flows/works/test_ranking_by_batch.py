"""A ranking by batch: one wave, paid by half, put down while it waits, and nothing asked twice."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.profiles import load_profile
from flows.run.batch_waves import BatchWaves
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import GroupReceipt
from schemas.run import BatchFailures
from schemas.settings import BatchSettings, Settings
from schemas.tables import TABLE
from tasks.ranking.dimensions import DIMENSIONS
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank_shard import GroupJob, RankJob, rank_job
from tests.support.providers.batches import OpenAIBatchServer
from tests.support.requests import rank_request
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.parquet import read_rows
from warehouse.warehouse import Warehouse

RUN, RANKING, KEY = RunId("run-a"), "ranking-a", "loopback-key"
GROUPS = {"one": "abcd", "two": "efg"}
PAIRS = 6 + 3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIBatchServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def verdicts(messages: object, schema: object) -> dict[str, object]:
        names = [dimension.name for dimension in DIMENSIONS] + ["overall"]
        said = [{"dimension": name, "reason": "So.", "a_better_percent": 90} for name in names]
        return {"verdicts": said}

    with OpenAIBatchServer(key=KEY, answer=verdicts) as running:
        yield running


class Night:
    def __init__(self, root: Path, server: OpenAIBatchServer, failures: BatchFailures) -> None:
        self.warehouse = Warehouse(root)
        self.settings = Settings(batches=BatchSettings(poll_seconds=0.01))
        request = rank_request(
            run_id=RUN,
            warehouse=root,
            profile=load_profile("economy"),
            engine="litellm:openai/gpt-4.1",
            api_base=server.api_base,
            batch=True,
            batch_failures=failures,
        )
        groups = tuple(
            GroupJob(group=group, dossiers=tuple(dossier(name, group) for name in ideas))
            for group, ideas in GROUPS.items()
        )
        self.job = RankJob(
            run_id=RUN,
            ranking_id=RANKING,
            request=request,
            dimensions=DIMENSIONS,
            groups=groups,
        )

    def work(self) -> tuple[GroupReceipt, ...]:
        return asyncio.run(rank_job(self.job, self.settings))

    def waves(self) -> BatchWaves:
        """As a command that was started anew sees them."""
        names, request = (RUN, RANKING), self.job.request
        return BatchWaves(
            request,
            names,
            request.spends_as(request.run_id),
            Warehouse(self.warehouse.root, self.settings),
        )

    def calls(self, group: str) -> list[dict[str, object]]:
        folder = RANKINGS.unit_folder(self.warehouse, RUN, RANKING, group)
        return read_rows(TABLE["llm_calls"], folder / "llm_calls.parquet")


def dossier(name: str, group: str) -> Dossier:
    text = f"We test {name} on held-out data of ten labs."
    return Dossier(idea_id=IdeaId(name), group=group, title=name, text=text)


def test_all_pairs_of_all_groups_travel_in_one_wave_at_half_the_price(
    tmp_path: Path, server: OpenAIBatchServer
) -> None:
    night = Night(tmp_path, server, BatchFailures.UNSCORED)
    waves = night.waves()
    assert night.work() == ()
    assert all(waves.is_waiting(group) for group in GROUPS)
    assert waves.next()
    assert not any(waves.is_waiting(group) for group in GROUPS)
    receipts = night.work()
    assert [receipt.incomplete_reason for receipt in receipts] == [None, None]
    assert not waves.next()
    assert [len(batch.entries) for batch in server.batches] == [2 * PAIRS]
    calls = [*night.calls("one"), *night.calls("two")]
    assert len(calls) == 2 * PAIRS
    for call in calls:
        full = call["prompt_tokens"] * 2e-6 + call["completion_tokens"] * 8e-6
        assert call["batch"]
        assert call["cost_usd"] == pytest.approx(full / 2)


def test_a_ranking_killed_while_it_waits_or_is_worked_on_again_submits_nothing_twice(
    tmp_path: Path, server: OpenAIBatchServer
) -> None:
    night = Night(tmp_path, server, BatchFailures.UNSCORED)
    night.work()  # and here it is killed
    assert night.waves().next()  # and here again
    night.waves()
    first = replace(night.job, groups=night.job.groups[:1])
    asyncio.run(rank_job(first, night.settings))  # and here again, one group landed
    assert not night.waves().next()
    assert len(night.work()) == len(GROUPS)
    assert len(set(server.submitted_bodies)) == len(server.submitted_bodies) == 2 * PAIRS


@pytest.mark.parametrize("failures", BatchFailures)
def test_matches_whose_questions_expired_are_asked_by_calls_or_unscored(
    tmp_path: Path, server: OpenAIBatchServer, failures: BatchFailures
) -> None:
    night = Night(tmp_path, server, failures)
    server.expires = lambda custom_id: custom_id[0] in "01234567"
    night.work()
    waves = night.waves()
    while waves.next():
        receipts = night.work()
    expired = sum(entry.ended == "expired" for entry in server.batches[0].entries)
    assert 0 < expired < 2 * PAIRS
    assert len(server.batches) == 1
    if failures is BatchFailures.CALL:
        assert len(server.asked) == 2 * PAIRS  # answered in the batch, or by a call
        assert [receipt.incomplete_reason for receipt in receipts] == [None, None]
    else:
        calls = [*night.calls("one"), *night.calls("two")]
        assert sum(call["status"] == "server_error" for call in calls) == expired
