"""Where a campaign is carried out: by the command itself, or on a cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.run.campaign import MAXIMUM_ROUNDS, Summary, ThisProcess, carry_out, run_campaign
from flows.run.declared_campaign import DeclaredCampaign
from schemas.errors import ConfigurationError
from schemas.reasons import Reason
from schemas.run import HANDFUL
from schemas.settings import Settings
from schemas.works.check_run import CheckHead, CheckRequest
from tasks.manuscripts.work import CHECK
from tasks.shards.work import ShardWork
from tasks.work.shard import WorkShard
from tests.support.checks import check_request


def asked(folder: Path, count: int, **options: Any) -> CheckRequest:
    """For a check of `count` short manuscripts."""
    papers = folder / "papers"
    papers.mkdir(exist_ok=True)
    for number in range(count):
        (papers / f"{number}.txt").write_text(f"# Paper {number}\n\nTwelve of 40 are 25 %.\n")
    return check_request([papers], warehouse=folder / "warehouse", **options)


class Cluster:
    """Counts what it is given, and carries it out in this process."""

    def __init__(self) -> None:
        self.shards: list[int] = []

    def __call__(self, campaign: Any, plan: Any) -> Summary[CheckHead]:
        self.shards.append(len(plan.shards))
        return carry_out(campaign, plan, ThisProcess())


@pytest.mark.parametrize(
    ("count", "options", "shards"),
    [
        (HANDFUL, {}, []),
        (HANDFUL + 1, {}, [HANDFUL + 1]),
        (1, {"workers": 1}, [1]),
        (1, {"scheduler": "tcp://127.0.0.1:8786"}, [1]),
    ],
    ids=["a handful", "more than that", "workers were asked for", "a scheduler was named"],
)
def test_a_cluster_is_for_more_than_a_handful_or_for_who_asks(
    count: int, options: dict[str, Any], shards: list[int], tmp_path: Path
) -> None:
    cluster = Cluster()
    summary = run_campaign(DeclaredCampaign(CHECK, asked(tmp_path, count, **options)), cluster)
    assert cluster.shards == shards
    assert summary.published
    assert summary.head.manuscript_count == count


def test_what_is_done_needs_no_cluster_even_where_one_was_asked_for(tmp_path: Path) -> None:
    cluster, request = Cluster(), asked(tmp_path, 1, workers=1)
    run_campaign(DeclaredCampaign(CHECK, request), cluster)
    assert run_campaign(DeclaredCampaign(CHECK, request), cluster).unchanged
    assert cluster.shards == [1]


class FailingCheck(DeclaredCampaign):
    """A check whose shards fail with `error`."""

    error: Exception = OSError(28, "No space left on device")
    tries = 0

    def __init__(self, request: CheckRequest) -> None:
        super().__init__(CHECK, request)
        self.work = ShardWork(WorkShard[CheckRequest], self.fail, "check shard", "manuscripts")  # type: ignore[misc]

    @staticmethod
    async def fail(_shard: WorkShard[CheckRequest], _settings: Settings) -> tuple[Any, ...]:
        FailingCheck.tries += 1
        raise FailingCheck.error


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> type[FailingCheck]:
    monkeypatch.setattr(FailingCheck, "tries", 0)
    return FailingCheck


def test_a_shard_that_fails_is_tried_again_and_its_units_count_as_lost(
    failing: type[FailingCheck], tmp_path: Path
) -> None:
    campaign = failing(asked(tmp_path, 1))
    summary = run_campaign(campaign, Cluster())
    assert failing.tries == MAXIMUM_ROUNDS
    assert summary.head.incomplete_reason is Reason.WORKER_LOST


def test_a_shard_that_finds_the_request_impossible_ends_the_campaign_at_once(
    failing: type[FailingCheck],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(failing, "error", ConfigurationError("no such model"))
    with pytest.raises(ConfigurationError, match="no such model"):
        run_campaign(failing(asked(tmp_path, 1)), Cluster())
    assert failing.tries == 1
    assert not [each for each in caplog.records if each.exc_info]  # the command prints one line


def test_a_run_leaves_a_log_that_says_what_was_planned_and_how_it_ended(tmp_path: Path) -> None:
    summary = run_campaign(DeclaredCampaign(CHECK, asked(tmp_path, 1)), Cluster())
    assert summary.log_path is not None
    told = [json.loads(line) for line in summary.log_path.read_text().splitlines()]
    by_message = {line["message"]: line for line in told}
    assert by_message["check planned"]["to_do_count"] == 1
    assert by_message["check shard taken up"]["units"] == ["0"]
    assert by_message["progress"]["done_count"] == by_message["progress"]["total_count"] == 1
    assert (told[-1]["message"], told[-1]["published"]) == ("check ended", True)
