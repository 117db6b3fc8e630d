"""Ideas made in rounds: stacks that grow by findings, what is dropped, kills, budgets, leads."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, EXIT_WAITING
from flows.cli.works import print_published
from flows.run.campaign import run_campaign
from flows.run.campaign_runs import CampaignRuns
from flows.run.declared_campaign import run_id
from flows.run.estimate import estimate
from flows.run.requests import request_of
from schemas.base import replace
from schemas.errors import ConfigurationError, IdeaFileError, UnknownNameError
from schemas.judgement.run_request import RunRequest
from schemas.people.decisions import GivenAnswer, Request, Verdict
from schemas.run import RunState
from schemas.settings import Settings
from schemas.works.ideation_run import IdeateOptions, IdeationRequest, Slot
from tasks.ideas.read import read_ideas
from tasks.ideation import rounds
from tasks.ideation.course import ANOTHER_CONCEPT, REVISE, STAND, IdeationSummary, make_in_rounds
from tasks.ideation.versions import VersionResult, VersionTools
from tasks.ideation.work import IDEATE
from tests.support.idea_writer import IdeaWriter
from tests.support.ideation_lake import evaluate_versions
from tests.support.openai_server import OpenAIServer, start_openai_server
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decide_and_fold, open_requests
from warehouse.app.people import add_participant
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

SEEDS = (
    {"idea_id": "proteins", "text": "Graph neural networks for protein interaction."},
    {"idea_id": "agents", "text": "LLM agents that need few-shot learning."},
)


@pytest.fixture
def writer() -> IdeaWriter:
    return IdeaWriter()


@pytest.fixture
def server(writer: IdeaWriter, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with start_openai_server(answer=writer) as running:
        yield running


def asked(folder: Path, server: OpenAIServer | None = None, **more: Any) -> IdeationRequest:
    path = folder / "seeds.jsonl"
    path.write_text("".join(json.dumps(seed) + "\n" for seed in SEEDS))
    engine = {} if server is None else {"engine": "litellm:openai/x", "api_base": server.url}
    given = {"warehouse": folder / "warehouse", "rounds": 2, "per_seed": 1, **engine, **more}
    return resolved(path, IdeateOptions(**given))


def resolved(path: Path, options: IdeateOptions) -> IdeationRequest:
    return request_of(IDEATE, (path,), options, Settings())


def test_too_many_ideas_of_the_seeds_are_refused_in_one_line_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "seeds.jsonl"
    seeds = ({"idea_id": f"i{n}", "text": f"Graph drawing with {n} layers"} for n in range(81))
    path.write_text("\n".join(map(json.dumps, seeds)))
    options = IdeateOptions(warehouse=tmp_path / "warehouse", per_seed=50)
    with pytest.raises(ConfigurationError, match=r"4,050 ideas, and 4,000 are the most: take"):
        resolved(path, options)
    assert estimate(IDEATE, asked(tmp_path), Settings()).counts["ideas"] == len(SEEDS)


def never_a_cluster(*_: object) -> Any:
    raise AssertionError("a handful is worked on here")


def made(
    request: IdeationRequest, evaluate: Callable[[RunRequest], Any] = evaluate_versions
) -> IdeationSummary:
    class Runs(CampaignRuns):
        def __call__(self, name: str, request: Any) -> Any:
            if isinstance(request, RunRequest):
                return evaluate(request)
            return super().__call__(name, request)

    runs = Runs(lambda campaign: run_campaign(campaign, never_a_cluster))
    return make_in_rounds(request, Settings(), runs)


def printed(request: IdeationRequest, summary: IdeationSummary) -> int:
    return print_published(IDEATE, request, summary, as_json=False)


def rows(request: IdeationRequest, sql: str) -> list[tuple[Any, ...]]:
    with Warehouse(request.warehouse).reader() as connection:
        return connection.execute(sql).fetchall()


VERSIONS = (
    "select seed_id, slot, round, parent_id, dropped_reason, unscored_reason from idea_versions"
    " order by all"
)


@dataclass(frozen=True)
class Ideation:
    """A finished one, and what its evaluations were given to spend."""

    server: OpenAIServer
    request: IdeationRequest
    summary: IdeationSummary
    budgets: list[int | None]
    asked_count: int


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ideation]:
    budgets: list[int | None] = []

    def noted(request: RunRequest) -> Any:
        budgets.append(request.budget.maximum_tokens)
        return evaluate_versions(request)

    with pytest.MonkeyPatch.context() as patch, start_openai_server(answer=IdeaWriter()) as server:
        patch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        request = asked(tmp_path_factory.mktemp("whole"), server, max_tokens=1_000_000)
        summary = made(request, noted)
        yield Ideation(server, request, summary, budgets, len(server.requests))


def test_every_idea_is_revised_by_a_finding_of_its_evaluation(
    whole: Ideation, capsys: pytest.CaptureFixture[str]
) -> None:
    request, summary = whole.request, whole.summary
    assert summary.published
    assert (summary.head.round_count, len(summary.head.evaluated_run_ids)) == (2, 2)
    kept = [row for row in rows(request, VERSIONS) if row[4] is None and row[5] is None]
    assert {row[2] for row in kept} == {1, 2}
    second = "select parent_id from idea_versions where round = 2"
    assert all(parent is not None for (parent,) in rows(request, second))
    answers = rows(request, "select answered, finding from finding_answers")
    assert answers
    assert all(held and finding for held, finding in answers)
    assert rows(request, "select count(*) from keyword_relations where chosen")[0][0] == len(
        rows(request, "select 1 from idea_versions where added_keyword is not null")
    )
    (path,) = [path for path in summary.report_paths if path.suffix == ".jsonl"]
    written = read_ideas(path, default_cutoff=None)
    assert not written.rejected
    assert {idea.group for idea in written.ideas} == {seed["idea_id"] for seed in SEEDS}
    assert printed(request, summary) == EXIT_DONE
    assert "not outcomes" in capsys.readouterr().out
    report = summary.report_paths[1].read_text()
    assert "lineage.svg" in report
    assert "Judged scores are not outcomes" in report
    assert (summary.report_paths[0].parent / "lineage.svg").read_text().startswith("<svg")


def test_the_same_command_again_asks_nothing_and_changes_nothing(whole: Ideation) -> None:
    again = made(whole.request)
    assert len(whole.server.requests) == whole.asked_count
    assert (again.unchanged, again.head) == (True, whole.summary.head)


def test_the_budget_left_is_what_rounds_and_evaluations_have_not_spent(whole: Ideation) -> None:
    first, second = whole.budgets
    assert first is not None
    assert second is not None
    assert second < first < 1_000_000


def test_a_model_may_choose_none_of_the_concepts(
    tmp_path: Path, server: OpenAIServer, writer: IdeaWriter
) -> None:
    writer.chooses = False
    request = asked(tmp_path, server)
    summary = made(request)
    assert summary.published
    moves = "select distinct round, move, added_keyword, reason from idea_versions order by all"
    assert rows(request, moves) == [
        (1, "begin", None, "None is new."),
        (2, "revise", None, "None is new."),
    ]
    assert rows(request, "select count(*) from keyword_relations")[0][0]
    assert not rows(request, "select 1 from keyword_relations where chosen")
    assert "None was added: None is new." in summary.report_paths[1].read_text()


class KilledError(BaseException):
    """The machine went down."""


@pytest.mark.long
def test_a_kill_in_the_middle_pays_nothing_twice(
    tmp_path: Path, whole: Ideation, server: OpenAIServer
) -> None:
    request = asked(tmp_path, server)
    runs: list[RunRequest] = []

    def killed_in_the_second(asked_for: RunRequest) -> Any:
        runs.append(asked_for)
        if len(runs) == 2:
            raise KilledError
        return evaluate_versions(asked_for)

    with pytest.raises(KilledError):
        made(request, killed_in_the_second)
    summary = made(request)
    assert len(server.requests) == whole.asked_count
    assert summary.published
    assert summary.head.round_count == whole.summary.head.round_count == 2


def test_of_ideas_that_say_the_same_the_first_goes_on(
    tmp_path: Path, server: OpenAIServer, writer: IdeaWriter
) -> None:
    writer.alike = True
    request = asked(tmp_path, server, rounds=1, per_seed=2)
    made(request)
    dropped = [row[4] for row in rows(request, VERSIONS)]
    assert dropped.count(None) == 1
    assert set(dropped) == {None, "near_duplicate"}


def test_an_evaluation_that_spent_the_budget_ends_the_rounds(
    tmp_path: Path, server: OpenAIServer
) -> None:
    def spent(request: RunRequest) -> Any:
        found = evaluate_versions(request)
        head = replace(found.head, state=RunState.BUDGET_EXHAUSTED)
        return SimpleNamespace(published=True, head=head)

    summary = made(asked(tmp_path, server), spent)
    assert (summary.head.round_count, summary.head.incomplete_reason) == (1, "budget_exhausted")


def test_offline_there_are_leads_with_their_evidence_and_no_ideas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = asked(tmp_path)
    summary = made(request, never_a_cluster)
    assert printed(request, summary) == EXIT_DONE
    said = capsys.readouterr()
    assert "leads, not ideas" in said.out
    assert not (Warehouse(request.warehouse).reports / summary.head.run_id / "ideas.jsonl").exists()
    assert rows(request, "select distinct move from idea_versions where text is not null") == [
        ("lead",)
    ]
    assert rows(request, "select count(*) from llm_calls")[0][0] == 0
    assert "leads, not ideas" in summary.report_paths[1].read_text()


def test_a_seed_that_names_no_concept_says_so(tmp_path: Path) -> None:
    path = tmp_path / "seeds.jsonl"
    path.write_text(json.dumps({"text": "Why is it so that we are what we are?"}) + "\n")
    options = IdeateOptions(warehouse=tmp_path / "w", per_seed=1)
    request = resolved(path, options)
    summary = made(request, never_a_cluster)
    assert rows(request, "select unscored_reason from idea_versions") == [("nothing_to_judge",)]
    assert printed(request, summary) == EXIT_FAILURES


def test_a_failure_of_our_own_is_the_failure_of_one_idea(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by, failed = rounds.make_version, []

    async def fails_once(slot: Slot, tools: VersionTools) -> VersionResult:
        if not failed:
            failed.append(slot)
            raise ZeroDivisionError
        return await made_by(slot, tools)

    monkeypatch.setattr(rounds, "make_version", fails_once)
    request = asked(tmp_path, server, rounds=1, per_seed=2)
    summary = made(request)
    assert summary.published, summary.failed_expectations
    found = rows(request, VERSIONS)
    assert len(found) == 4
    assert sum(row[5] is not None for row in found) == 1


def test_what_cannot_be_meant_is_one_line(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.jsonl"
    seeds.write_text("not json\n")
    with pytest.raises(IdeaFileError, match=r"seeds.jsonl line 1 is no seed"):
        resolved(seeds, IdeateOptions(warehouse=tmp_path / "w"))
    with pytest.raises(ConfigurationError, match="concepts are read from a snapshot"):
        resolved(seeds, IdeateOptions(warehouse=tmp_path / "w", literature="live"))


def test_an_estimate_counts_versions_and_asks_nothing(tmp_path: Path, server: OpenAIServer) -> None:
    found = estimate(IDEATE, asked(tmp_path, server, per_seed=2), Settings())
    versions = 2 * 2 * 2
    assert (found.counts["versions"], found.counts["rounds"]) == (versions, 2)
    assert found.counts["literature_requests"] > versions
    assert found.model_calls >= 2 * versions
    assert {step.step for step in found.steps} >= {"ideate_keyword", "ideate_proposal"}
    assert server.requests == []
    offline = estimate(IDEATE, asked(tmp_path, per_seed=2), Settings())
    assert (offline.model_calls, offline.counts["versions"]) == (0, 4)


def waiting(request: IdeationRequest) -> tuple[Request, ...]:
    with ServiceDatabase(Warehouse(request.warehouse)) as database:
        return tuple(open_requests(database))


def answer(request: IdeationRequest, branch: Request, choice: int | None) -> None:
    warehouse, verdict = (
        Warehouse(request.warehouse),
        Verdict.CHOSEN if choice else Verdict.SENT_BACK,
    )
    with ServiceDatabase(warehouse) as database:
        given = GivenAnswer(verdict=verdict, choice=choice)
        decide_and_fold(warehouse, database, branch.request_id, branch.asked_of[0], given)


@pytest.fixture
def asked_of(tmp_path: Path) -> str:
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.root.mkdir()
    with ServiceDatabase(warehouse) as database:
        return add_participant(database, "Ada Lovelace").participant_id


@pytest.mark.long
def test_at_a_branch_people_are_asked_and_the_same_command_goes_on_with_their_answers(
    tmp_path: Path, server: OpenAIServer, asked_of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    request = asked(tmp_path, server, ask=(asked_of,), per_seed=2)
    first = made(request)
    assert printed(request, first) == EXIT_WAITING
    assert "waits for 4 decisions" in capsys.readouterr().err
    assert (first.head.round_count, first.head.incomplete_reason) == (1, "undecided")
    told = {each.unit_id: each for each in waiting(request)}
    assert set(told) == {"proteins-1-r1", "proteins-2-r1", "agents-1-r1", "agents-2-r1"}
    assert "F1 (" in told["agents-1-r1"].criteria
    assert "By rule a concept would be added" in told["agents-1-r1"].criteria

    before = len(server.requests)
    answer(request, told["proteins-1-r1"], ANOTHER_CONCEPT)
    answer(request, told["proteins-2-r1"], REVISE)
    answer(request, told["agents-1-r1"], STAND)
    assert made(request).head.incomplete_reason == "undecided"
    assert [each.unit_id for each in waiting(request)] == ["agents-2-r1"]
    assert len(server.requests) == before

    answer(request, told["agents-2-r1"], None)
    whole = made(request)
    assert (whole.head.round_count, whole.head.incomplete_reason) == (2, None)
    assert printed(request, whole) == EXIT_DONE
    moves = "select seed_id, slot, move from idea_versions where round = 2 order by all"
    assert rows(request, moves) == [("proteins", 1, "add_keyword"), ("proteins", 2, "revise")]
    assert waiting(request) == ()
    assert made(request).head == whole.head
    assert not verify(Warehouse(request.warehouse)).problems


def test_a_revision_that_answers_nothing_is_dropped_and_its_branch_is_asked_about_once(
    tmp_path: Path, server: OpenAIServer, writer: IdeaWriter, asked_of: str
) -> None:
    request = asked(tmp_path, server, ask=(asked_of,), rounds=3)
    first = made(request)
    assert first.head.incomplete_reason == "undecided"
    assert printed(request, first) == EXIT_WAITING
    writer.answers = False
    for each in waiting(request):
        answer(request, each, REVISE)
    summary = made(request)
    assert summary.head.round_count == 2
    assert len(summary.head.evaluated_run_ids) == 1
    assert {row[4] for row in rows(request, VERSIONS) if row[2] == 2} == {"finding_unanswered"}
    details = rows(request, "select distinct detail from finding_answers")
    assert details == [("the quote is not in the new text",)]
    assert waiting(request) == (), "a version that was decided on is not asked about again"


def test_who_is_asked_has_to_take_part(tmp_path: Path, server: OpenAIServer, asked_of: str) -> None:
    with pytest.raises(UnknownNameError, match="p-000000000000"):
        asked(tmp_path, server, ask=(asked_of, "p-000000000000"))


def test_an_ideation_that_people_decide_on_is_another_one(
    tmp_path: Path, server: OpenAIServer, asked_of: str
) -> None:
    by_rule, by_people = (asked(tmp_path, server, ask=ask) for ask in ((), (asked_of,)))
    names = {run_id(IDEATE, each, "snapshot", Settings()) for each in (by_rule, by_people)}
    assert len(names) == 2
