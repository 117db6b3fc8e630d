"""A run waits for the decisions of people, in no process, and goes on where it stopped."""

import shutil
import subprocess
from pathlib import Path

import orjson
import pytest

from flows.cli.answer import EXIT_DONE, EXIT_USAGE, EXIT_WAITING
from flows.cli.people.request import request as ask_for
from schemas.base import replace
from schemas.errors import ConfigurationError, ConflictError, UnknownNameError
from schemas.identifiers import RunId
from schemas.people.decisions import GivenAnswer, Project, RequestOptions, Stage, Verdict
from schemas.people.job import JobState
from schemas.people.ledger import Participant
from schemas.settings import DashboardSettings, Settings
from tests.support.answers import read_answer
from tests.support.assay_command import environment
from tests.support.assay_here import assay_here
from tests.support.evaluations import make_evaluation, make_idea, make_run, with_other_words
from tests.support.jobs import known, rank_job, run_to_the_end, run_until
from warehouse.app.approvals import Admission, admit, load_project
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decide, open_requests
from warehouse.app.jobs import jobs, submit
from warehouse.app.people import add_participant
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import rows_in
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
IDEAS = ("idea-00000", "idea-00001", "idea-00002")


@pytest.fixture
def warehouse(one_group: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(one_group.root, tmp_path / "w"))


@pytest.fixture
def ada(warehouse: Warehouse) -> Participant:
    with ServiceDatabase(warehouse) as database:
        return add_participant(database, "Ada Lovelace")


def project_file(folder: Path, ada: Participant, *lines: str) -> Path:
    path = folder / "project.toml"
    participants = f"[participants]\n{ada.participant_id} = ['approved', 'rejected']\n"
    path.write_text("\n".join(('name = "night"', participants, "[stages.rank]", *lines)))
    return path


def admitted(warehouse: Warehouse, project: Path) -> Admission:
    return admit(warehouse, load_project(project), Stage.RANK, RUN)


def answer(
    warehouse: Warehouse, request: str, ada: Participant, verdict: Verdict, why: str
) -> None:
    with warehouse.reader() as connection, ServiceDatabase(warehouse) as database:
        told = GivenAnswer(verdict=verdict, reason=why)
        decide(database, connection, request, ada.participant_id, told)


def test_ideas_wait_in_the_lake_until_they_are_decided_on(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    project = project_file(tmp_path, ada, "criteria = 'is it safe?'")
    waiting = admitted(warehouse, project).waiting
    assert [each.unit_id for each in waiting] == list(IDEAS)
    assert {each.asked_of for each in waiting} == {(ada.participant_id,)}
    with warehouse.reader() as connection:
        asked = rows_in(connection, "select unit_id, criteria from requests order by unit_id")
    assert asked == [{"unit_id": idea, "criteria": "is it safe?"} for idea in IDEAS]
    assert admitted(warehouse, project).waiting == waiting
    answer(warehouse, waiting[0].request_id, ada, Verdict.REJECTED, "not safe")
    admission = admitted(warehouse, project)
    assert [each.unit_id for each in admission.waiting] == list(IDEAS[1:])
    assert admission.left_out == {IDEAS[0]: f"rejected by {ada.participant_id}: not safe"}


def test_nothing_is_asked_of_a_participant_who_does_not_exist(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    project = project_file(tmp_path, replace(ada, participant_id="p-mistyped"))
    with pytest.raises(UnknownNameError, match="no participant 'p-mistyped'"):
        admitted(warehouse, project)
    with ServiceDatabase(warehouse) as database:
        assert list(open_requests(database)) == []
    project = project_file(tmp_path, ada)
    assert {each.asked_of for each in admitted(warehouse, project).waiting} == {
        (ada.participant_id,)
    }


def evaluated_anew(warehouse: Warehouse) -> None:
    """The second idea, which is then published with other words."""
    land(warehouse, with_other_words(make_evaluation(1, idea=make_idea(1, group="one"))))
    publish(warehouse, RUNS, make_run(ideas=3))


def test_an_idea_that_was_evaluated_anew_is_asked_about_anew(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    project = project_file(tmp_path, ada)
    for request in admitted(warehouse, project).waiting:
        answer(warehouse, request.request_id, ada, Verdict.APPROVED, "fine")
    assert admitted(warehouse, project).waiting == ()
    evaluated_anew(warehouse)
    (anew,) = admitted(warehouse, project).waiting
    assert anew.unit_id == IDEAS[1]


def test_who_may_decide_is_who_the_project_names_now(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    with ServiceDatabase(warehouse) as database:
        bob = add_participant(database, "Bob")
    first, second, third = admitted(warehouse, project_file(tmp_path, ada)).waiting
    answer(warehouse, first.request_id, ada, Verdict.APPROVED, "fine")
    waiting = admitted(warehouse, project_file(tmp_path, bob)).waiting
    assert [each.unit_id for each in waiting] == list(IDEAS[1:])
    assert {each.asked_of for each in waiting} == {(bob.participant_id,)}
    with ServiceDatabase(warehouse) as database:
        assert list(open_requests(database, ada.participant_id)) == []
        assert [each.unit_id for each in open_requests(database)] == list(IDEAS[1:])
    with pytest.raises(ConflictError, match=f"was replaced: answer {waiting[0].request_id}"):
        answer(warehouse, second.request_id, ada, Verdict.APPROVED, "fine")
    answer(warehouse, waiting[0].request_id, bob, Verdict.APPROVED, "fine")
    (again,) = admitted(warehouse, project_file(tmp_path, ada)).waiting
    assert again.unit_id == third.unit_id
    assert again.request_id not in {third.request_id, waiting[1].request_id}
    answer(warehouse, again.request_id, ada, Verdict.APPROVED, "fine")
    assert admitted(warehouse, project_file(tmp_path, bob)) == Admission((), {})


def test_thresholds_decide_without_a_person_and_say_so(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    with warehouse.queries() as queries:
        scores = {each.idea_id: each.score for each in queries.idea_scores(RUN)}
    best = max(score for score in scores.values() if score is not None)
    rules = (f"approve_from = {best}", f"reject_below = {best}")
    admission = admitted(warehouse, project_file(tmp_path, ada, *rules))
    below = {idea for idea, score in scores.items() if score is not None and score < best}
    assert admission.left_out.keys() == below
    assert all("by rule: score" in why for why in admission.left_out.values())
    unscored = {idea for idea, score in scores.items() if score is None}
    assert {each.unit_id for each in admission.waiting} == unscored
    with warehouse.reader() as connection:
        told = rows_in(connection, "select participant_id, rule from decisions")
    assert len(told) == len(scores) - len(unscored) > 0
    assert {row["participant_id"] for row in told} == {None}
    assert all(row["rule"].startswith("score ") for row in told)


def test_a_project_without_a_rule_for_the_stage_asks_nobody(warehouse: Warehouse) -> None:
    assert admit(warehouse, Project(name="n", participants={}), Stage.RANK, RUN) == Admission(
        (), {}
    )


@pytest.mark.parametrize(
    "text",
    [
        "name = 'n'\n[participants]\n[stages.rank]\n",
        "name = 'n'\n[participants]\n'p-1' = ['commented']\n[stages.rank]\n",
        "name = 'n'\n[participants]\n'p-1' = ['bribed']\n",
        "name = 'n'\n[participants]\n[stages.launch]\n",
        "name = 'n'\nsecret = 1\n[participants]\n",
        "name = ",
    ],
)
def test_a_project_that_cannot_be_kept_to_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "project.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"project\.toml"):
        load_project(path)


def test_who_the_project_lets_only_comment_is_not_asked(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    with ServiceDatabase(warehouse) as database:
        other = add_participant(database, "Mallory").participant_id
    path = project_file(tmp_path, ada)
    path.write_text(path.read_text().replace("[stages", f"{other} = ['commented']\n[stages"))
    assert {each.asked_of for each in admitted(warehouse, path).waiting} == {(ada.participant_id,)}


def test_a_ranking_waits_and_leaves_out_what_was_rejected(
    warehouse: Warehouse, ada: Participant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command waits, and the job runner goes on by itself once people have decided."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    project = project_file(tmp_path, ada)
    settings = Settings(dashboard=DashboardSettings(projects={"night": project}))
    offered = orjson.dumps({"night": str(project)}).decode()
    env = environment(tmp_path / "home", ASSAY_DASHBOARD__PROJECTS=offered)

    def run(*words: str) -> tuple[int, dict]:
        ended = assay_here(*words, "--warehouse", str(warehouse.root), "--json", env=env)
        return ended.returncode, read_answer(ended.stdout)

    rank = ("rank", RUN, "--engine", "extractive", "--project", str(project))
    for _ in range(2):  # asked twice is one job
        code, told = run(*rank)
        assert (code, told["state"], len(told["rows"])) == (EXIT_WAITING, "waiting", 3)
        assert "waits for 3 decisions" in told["warnings"][0]
    (job,) = jobs(warehouse)

    def waits() -> bool:
        return known(warehouse, job.job_id).status.state is JobState.WAITING

    run_until(warehouse, waits, settings)
    assert known(warehouse, job.job_id).status.exit_code == EXIT_WAITING
    names = {row["unit_id"]: row["request_id"] for row in run("inbox")[1]["rows"]}
    assert run("decide", names[IDEAS[0]], "reject", "--reason", "not safe")[0] == EXIT_DONE
    assert run("decide", names[IDEAS[0]], "approve")[0] == EXIT_USAGE
    looked = iter(range(5))
    run_until(warehouse, lambda: next(looked, None) is None, settings)
    assert waits()
    assert known(warehouse, job.job_id).status.attempt_count == 0
    for idea in IDEAS[1:]:
        assert run("decide", names[idea], "approve")[0] == EXIT_DONE
    run_to_the_end(warehouse, settings)
    done = known(warehouse, job.job_id)
    assert (done.status.state, done.status.exit_code) == (JobState.DONE, 0), done.log.read_text()
    with warehouse.reader() as connection:
        rated = rows_in(connection, "select distinct idea_id from ratings order by idea_id")
    assert [row["idea_id"] for row in rated] == list(IDEAS[1:])
    code, told = run(*rank)
    assert code == EXIT_DONE, told
    assert any("left out: idea-00000" in line and "not safe" in line for line in told["warnings"])


def test_a_review_of_an_idea_that_the_run_does_not_have_is_not_asked_for(
    warehouse: Warehouse, ada: Participant
) -> None:
    options = RequestOptions(warehouse=warehouse.root, of=(ada.participant_id,), idea="idea-9")
    with pytest.raises(
        UnknownNameError, match="run run-a has no idea 'idea-9': `assay report run-a` lists"
    ):
        ask_for(RUN, options)


def test_a_job_follows_no_project_but_those_that_are_offered(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    job_id = submit(warehouse, rank_job(RUN, project=project_file(tmp_path, ada)))
    run_to_the_end(warehouse)
    status = known(warehouse, job_id).status
    assert (status.state, status.exit_code) == (JobState.FAILED, EXIT_USAGE)
    assert "ASSAY_DASHBOARD__PROJECTS" in status.last_word


def test_a_report_waits_for_the_run_as_it_stands_and_says_why_it_was_rejected(
    warehouse: Warehouse, ada: Participant, tmp_path: Path
) -> None:
    project, env = tmp_path / "project.toml", environment(tmp_path / "home")
    project.write_text(
        f"name = 'n'\n[participants]\n{ada.participant_id} = ['approved', 'rejected']\n"
        "[stages.report]\ncriteria = 'may it be read?'\n"
    )

    def report() -> "subprocess.CompletedProcess[str]":
        words = ("report", RUN, "--project", str(project), "--warehouse", str(warehouse.root))
        return assay_here(*words, env=env)

    waits = report()
    assert (waits.returncode, waits.stdout) == (EXIT_WAITING, "")
    assert "waits for 1 decision:" in waits.stderr
    with ServiceDatabase(warehouse) as database:
        (asked,) = open_requests(database)
    assert (asked.stage, asked.unit_id) == (Stage.REPORT, "")
    answer(warehouse, asked.request_id, ada, Verdict.APPROVED, "fine")
    assert report().stdout.startswith("# ")
    evaluated_anew(warehouse)
    assert report().returncode == EXIT_WAITING  # it would tell something else now
    with ServiceDatabase(warehouse) as database:
        (anew,) = open_requests(database)
    answer(warehouse, anew.request_id, ada, Verdict.REJECTED, "not yet")
    refused = report()
    assert (refused.returncode, refused.stdout) == (EXIT_USAGE, "")
    assert f"was rejected by {ada.participant_id}: not yet" in refused.stderr


def test_no_threshold_lets_a_run_into_a_report(ada: Participant, tmp_path: Path) -> None:
    path = project_file(tmp_path, ada, "approve_from = 5.0")
    path.write_text(path.read_text().replace("stages.rank", "stages.report"))
    with pytest.raises(ConfigurationError, match="which have no score"):
        load_project(path)
