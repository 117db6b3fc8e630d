"""`assay vote`: both answers come from real jobs, offline; a kill between them loses nothing."""

import json
import os
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, EXIT_USAGE
from flows.jobs import job_process
from schemas.people.job import JobState
from schemas.people.ledger import Participant
from schemas.people.live_question import QuestionKind, estimates_for, sides_offered
from schemas.settings import DashboardSettings, ModelChoice, Settings
from tests.flows.conftest import Assay
from tests.support.answers import read_answer
from tests.support.assay_command import assay as run_assay
from tests.support.assay_command import environment, kill_hard, start_assay, wait_until
from tests.support.jobs import known
from tests.support.questions import ENDED
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import jobs, submit, take_result
from warehouse.app.people import add_participant
from warehouse.warehouse import Warehouse

QUESTION = "How well do language models find relevant papers?"
WAIT_SECONDS = 300.0
MODEL = ModelChoice(model="openai/gpt-4.1", api_base="http://127.0.0.1:9/v1")
OFFERED = Settings(dashboard=DashboardSettings(models={"Ours": MODEL}))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse")


@pytest.fixture
def ada(warehouse: Warehouse) -> Participant:
    with ServiceDatabase(warehouse) as database:
        return add_participant(database, "Ada Lovelace")


@pytest.mark.long
def test_a_question_is_answered_twice_over_a_kill_and_voted_on_once(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    env = environment(tmp_path / "home")

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        who = ("--by", ada.participant_id, "--warehouse", str(warehouse.root), "--json")
        return run_assay("vote", *words, *who, env=env, cwd=tmp_path)

    killed = start_assay(
        *("vote", QUESTION, "--by", ada.participant_id, "--warehouse", str(warehouse.root)),
        env=env,
        log=tmp_path / "log",
    )

    def one_has_ended() -> bool:
        return any(not job.at_work for job in jobs(warehouse))

    wait_until(one_has_ended, WAIT_SECONDS, "the first answer")
    kill_hard(killed)
    killed.wait()
    done = run(QUESTION)
    assert done.returncode == EXIT_DONE, done.stderr
    told = read_answer(done.stdout)
    assert [row["side"] for row in told["rows"]] == ["a", "b"]
    assert all(row["parts"] for row in told["rows"])
    names = ("extractive", "economy", "faithful", "ask-")
    assert not any(name in done.stdout + done.stderr for name in names)
    found = list(jobs(warehouse))
    assert [job.status.state for job in found] == [JobState.DONE] * 2
    assert len({job.status.run_id for job in found}) == 2
    assert run("--choice", "first").returncode == EXIT_USAGE
    voted = run("--choice", "a", "--reason", "it is shorter")
    assert voted.returncode == EXIT_DONE, voted.stderr
    assert run("--choice", "b").returncode == EXIT_USAGE
    board = run_assay(
        *("votes", "--by", "profiles", "--warehouse", str(warehouse.root), "--json"), env=env
    )
    document = json.loads(board.stdout)
    assert document["vote_count"] == 1
    assert {row["name"] for row in document["rows"]} == {"economy", "faithful"}
    again = run(QUESTION)
    assert again.returncode == EXIT_USAGE
    assert "ask something else" in again.stderr


def test_what_cannot_be_answered_takes_no_vote(
    warehouse: Warehouse, ada: Participant, assay: Assay
) -> None:
    who = ("--by", ada.participant_id, "--warehouse", warehouse.root)
    done = assay("vote", "and or the?", *who)
    assert done.returncode == EXIT_FAILURES, done.stderr
    assert "gave no answer, so there is nothing to vote on" in done.stderr
    assert assay("vote", "--choice", "a", *who).returncode == EXIT_USAGE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("x" * 100_000,), "4,000 are the most"),
        ((), "say TEXT to ask, or --choice"),
        (("why?", "--choice", "a"), "say TEXT to ask, or --choice"),
        (("bats", "--kind", "topic"), "ASSAY_DASHBOARD__MODELS"),
    ],
    ids=["too long", "nothing", "both", "no model"],
)
def test_bad_input_is_one_line_and_asks_nothing(
    warehouse: Warehouse, ada: Participant, assay: Assay, words: tuple[str, ...], said: str
) -> None:
    done = assay("vote", *words, "--by", ada.participant_id, "--warehouse", warehouse.root)
    assert done.returncode == EXIT_USAGE
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(jobs(warehouse)) == []


@pytest.mark.parametrize("asked", list(QuestionKind))
def test_what_it_takes_is_known_before_anything_is_asked(
    warehouse: Warehouse, asked: QuestionKind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    sides = sides_offered(asked, OFFERED.dashboard)[:2]
    text = "We train a small model on proofs and compare it with the best published one."
    requests = estimates_for(asked, text, (sides[0], sides[1]), ENDED, key="one")
    assert all(request.asks_nothing for request in requests)
    name = submit(warehouse, requests[0])
    with patch.dict(os.environ):  # without the seconds that a process takes to start
        job_process._do(warehouse, name)
    assert known(warehouse, name).status.exit_code == EXIT_DONE, known(
        warehouse, name
    ).status.last_word
    expected = take_result(warehouse, name)
    assert isinstance(expected["model_calls"], int)
    assert expected["model_calls"] > 0
    assert isinstance(expected["cost_usd"], float)
    assert list(jobs(warehouse)) == []
    assert not warehouse.catalogue.exists()
