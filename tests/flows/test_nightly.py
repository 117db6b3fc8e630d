"""A bad night: whatever one file of the inbox is, the others are done, and no file fails night
after night.
"""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flows import nightly as flow
from flows.run.campaign import ThisProcess, carry_out
from flows.run.campaign_runs import CampaignRuns
from flows.works.evaluate.request import bundled_file
from schemas.errors import UpstreamError
from schemas.judgement.run_request import RunRequest
from schemas.work import Request
from schemas.works.check_run import CHECKS
from tests.support.check_lake import publish_check_lake
from tests.support.evaluations import make_run
from tests.support.idea_writer import IdeaWriter
from tests.support.ideation_lake import evaluate_versions
from tests.support.openai_server import start_openai_server
from warehouse.units.kind import kind_of
from warehouse.units.later_validation import LaterValidation, unvalidated_works
from warehouse.warehouse import Warehouse

GOOD = json.dumps({"text": "Train a small model on curated data and compare it with a large one."})


@pytest.fixture
def night(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run a night over an inbox; runs themselves are stood in for, and fail as `errors` says, by
    the name of the file.
    """
    (tmp_path / "inbox").mkdir()
    errors: dict[str, Exception] = {}

    def run_batch(request: Any) -> Any:
        if request.ideas.path.name in errors:
            raise errors[request.ideas.path.name]
        head = make_run(f"run-{request.ideas.path.stem}", in_order=True)
        return SimpleNamespace(head=head, published=True, failed_expectations=())

    class Evaluated(CampaignRuns):
        def __call__(self, name: str, request: Request[Any, Any]) -> Any:
            return run_batch(request) if name == "evaluate" else super().__call__(name, request)

    monkeypatch.setattr(flow, "run_batch", run_batch)
    monkeypatch.setattr(flow, "CampaignRuns", Evaluated)
    told: dict[str, str] = {}
    monkeypatch.setattr(flow, "_summarise", lambda warehouse, outcomes, *_: told.update(outcomes))

    def sleep_over(**asked: Any) -> dict[str, str]:
        literature = f"snapshot:{bundled_file('papers.jsonl')}"
        options = {
            "inbox": str(tmp_path / "inbox"),
            "warehouse": str(tmp_path / "w"),
            "literature": literature,
            "settle_seconds": -1.0,
        }
        return flow.nightly.fn(**options, **asked)

    return SimpleNamespace(
        inbox=tmp_path / "inbox",
        rejected=tmp_path / "archive" / "rejected",
        errors=errors,
        told=told,
        run=sleep_over,
    )


def test_a_file_over_which_assay_itself_fails_is_set_aside_with_its_reason_and_the_others_are_done(
    night: Any,
) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        (night.inbox / name).write_text(GOOD)
    night.errors["b.jsonl"] = TypeError("str is not valid UTF-8: surrogates not allowed")
    with pytest.raises(TypeError, match="surrogates"):
        night.run()
    assert list(night.inbox.iterdir()) == []
    assert (
        "TypeError: str is not valid UTF-8" in (night.rejected / "b.jsonl.reason.txt").read_text()
    )
    assert night.run() == {}


@pytest.mark.parametrize(
    "error", [UpstreamError("the server is away"), OSError(28, "No space left on device")]
)
def test_a_file_whose_run_may_succeed_tomorrow_stays_in_the_inbox(
    night: Any, error: Exception
) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (night.inbox / name).write_text(GOOD)
    night.errors["a.jsonl"] = error
    with pytest.raises(type(error)):
        night.run()
    assert [path.name for path in night.inbox.iterdir()] == ["a.jsonl"]


def test_links_and_pipes_in_the_inbox_are_rejected_and_never_opened(
    night: Any, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("The secret of this machine lies in this very file.")
    (night.inbox / "passwd.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(night.inbox / "pipe.jsonl")
    (night.inbox / "good.jsonl").write_text(GOOD)
    outcomes = night.run()
    assert {name: outcome.split(":")[0] for name, outcome in outcomes.items()} == {
        "passwd.txt": "rejected",
        "pipe.jsonl": "rejected",
        "good.jsonl": "published as run-good",
    }
    assert list(night.inbox.iterdir()) == []
    assert (tmp_path / "secret").exists()
    assert "link" in (night.rejected / "passwd.txt.reason.txt").read_text()


def test_a_name_that_is_no_text_is_told_in_characters_that_can_be_written(
    night: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half a character in a captured log would end the worker of the tests that reports it.
    monkeypatch.setattr(flow.logger, "disabled", True)
    (night.inbox / os.fsdecode(b"caf\xe9.jsonl")).write_text(GOOD)
    night.errors[os.fsdecode(b"caf\xe9.jsonl")] = ValueError("\ud800")
    with pytest.raises(ValueError, match="\ud800"):
        night.run()
    (note,) = night.rejected.glob("*.reason.txt")
    assert "ValueError: ?" in note.read_text()


def test_an_archive_that_cannot_be_written_costs_no_other_file_its_night(
    night: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (night.inbox / name).write_text(GOOD)
    night.errors["a.jsonl"] = TypeError("poison")

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(flow.shutil, "move", refuse)
    with pytest.raises(TypeError):
        night.run()
    assert "TypeError: poison" in night.told["a.jsonl"]
    assert "Read-only file system" in night.told["b.jsonl"]
    assert len(list(night.inbox.iterdir())) == 2


def test_a_file_with_nothing_usable_is_rejected_rather_than_published(
    night: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(flow, "_summarise", lambda *_: None)
    (night.inbox / "empty.jsonl").write_text('{"text": "too short"}\n{"text": ""}\n')
    outcomes = night.run()
    assert outcomes["empty.jsonl"].startswith(
        "rejected: empty.jsonl: none of 2 entries can be evaluated, so nothing is published; "
        "empty.jsonl line 1: "
    )
    assert (night.rejected / "empty.jsonl.reason.txt").exists()


def test_an_inbox_that_is_not_there_is_made(night: Any, caplog: pytest.LogCaptureFixture) -> None:
    night.inbox.rmdir()
    assert night.run() == {}
    assert night.inbox.is_dir()
    assert f"there was no folder {night.inbox}" in caplog.text


@pytest.mark.parametrize("name", ["a.json", "a.JSONL", "a.ndjson", "a.tsv", "a.yaml", "folder"])
def test_whatever_a_plan_reads_is_evaluated_at_night(name: str, night: Any) -> None:
    path = night.inbox / name
    if name == "folder":
        path.mkdir()
        (path / "idea.md").write_text(GOOD)
    else:
        path.write_text(GOOD)
    assert night.run()[name].startswith("published as run-")
    assert list(night.inbox.iterdir()) == []


def test_what_is_no_idea_file_waits_to_be_rejected_and_what_is_half_written_for_its_end(
    night: Any, tmp_path: Path
) -> None:
    for name in ("notes.docx", "arriving.jsonl.part", ".hidden.jsonl"):
        (night.inbox / name).write_text(GOOD)
    waiting = flow.inbox_entries(night.inbox, tmp_path / "archive", -1.0)
    assert {path.name: bool(reason) for path, reason in waiting.items()} == {
        "notes.docx": False,
        "arriving.jsonl.part": True,
    }


def test_a_file_from_a_clock_ahead_is_named_and_lock_files_are_passed_over(night: Any) -> None:
    for name in ("good.jsonl", "ahead.jsonl", "~$ideas.xlsx", "Thumbs.db", "desktop.ini"):
        (night.inbox / name).write_text(GOOD)
    later = time.time() + 9 * 3600
    os.utime(night.inbox / "ahead.jsonl", (later, later))
    outcomes = night.run()
    assert set(outcomes) == {"good.jsonl", "ahead.jsonl"}
    assert "9 h ahead of this machine's clock" in outcomes["ahead.jsonl"]
    assert (night.inbox / "ahead.jsonl").exists()


def test_an_archive_inside_the_inbox_is_no_idea_folder(night: Any, tmp_path: Path) -> None:
    archive = night.inbox / "done"
    archive.mkdir()
    assert flow.inbox_entries(night.inbox, archive / "2026", -1.0) == {}


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    folder = tmp_path / "seeds"
    folder.mkdir()
    (folder / "topics.jsonl").write_text(
        json.dumps({"text": "Graph neural networks for protein interaction."}) + "\n"
    )
    return folder


def test_ideas_made_of_seeds_are_evaluated_in_the_same_night(
    night: Any, seeds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    # What a night validates is tried below, on one small work.
    monkeypatch.setattr(flow, "validate_published", lambda *_, **__: LaterValidation())
    evaluated: list[RunRequest] = []

    def run_batch(request: RunRequest) -> Any:
        evaluated.append(request)
        return evaluate_versions(request)

    class Evaluated(CampaignRuns):
        def __call__(self, name: str, request: Request[Any, Any]) -> Any:
            return run_batch(request) if name == "evaluate" else super().__call__(name, request)

    monkeypatch.setattr(flow, "run_batch", run_batch)
    monkeypatch.setattr(flow, "CampaignRuns", Evaluated)
    monkeypatch.setattr(flow, "carry_out_on_cluster", lambda *work: carry_out(*work, ThisProcess()))
    with start_openai_server(answer=IdeaWriter()) as server:
        asked = {"engine": "litellm:openai/x", "api_base": server.url}
        told = night.run(seeds=str(seeds), rounds=1, per_seed=1, **asked)
    (of_seeds, of_ideas) = told
    assert of_seeds == "seeds/topics.jsonl"
    assert told[of_seeds].startswith("1 ideas, published as ideate-")
    assert told[of_ideas].startswith("published as run-")
    assert len(evaluated) == 2
    assert evaluated[-1].ideas.path.name == of_ideas
    assert list(seeds.iterdir()) == list(night.inbox.iterdir()) == []
    kept = {path.name for path in (tmp_path / "archive").rglob("*.jsonl")}
    assert kept == {"topics.jsonl", of_ideas}


@pytest.mark.long
def test_leads_are_no_ideas(night: Any, seeds: Path) -> None:
    told = night.run(seeds=str(seeds), per_seed=1)
    assert told["seeds/topics.jsonl"].startswith("leads, and no ideas, published as ideate-")
    assert list(seeds.iterdir()) == []


def test_seeds_that_cannot_be_read_fail_for_one_night(night: Any, seeds: Path) -> None:
    (seeds / "topics.jsonl").unlink()
    (seeds / "broken.jsonl").write_text("no json\n")
    told = night.run(seeds=str(seeds), per_seed=1)
    assert told["seeds/broken.jsonl"].startswith("rejected: ")
    assert "broken.jsonl line 1 is no seed" in told["seeds/broken.jsonl"]
    assert list(seeds.iterdir()) == []
    assert (night.rejected / "broken.jsonl.reason.txt").exists()
    assert night.run(seeds=str(seeds), per_seed=1) == {}


def test_seeds_whose_ideas_cannot_be_made_tonight_wait_and_the_inbox_is_done(
    night: Any, seeds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise UpstreamError("the server is away")

    monkeypatch.setattr(flow, "ideate_batch", fails)
    (night.inbox / "a.jsonl").write_text(GOOD)
    with pytest.raises(UpstreamError):
        night.run(seeds=str(seeds))
    assert night.told["seeds/topics.jsonl"] == "failed: the server is away"
    assert night.told["a.jsonl"].startswith("published as run-a")
    assert [path.name for path in seeds.iterdir()] == ["topics.jsonl"]


def test_a_night_validates_what_was_published_by_the_handful(night: Any) -> None:
    warehouse = Warehouse(night.inbox.parent / "w")
    publish_check_lake(warehouse)
    assert night.run() == {}
    with warehouse.reader() as connection:
        assert unvalidated_works(connection, kind_of(CHECKS)) == []
