"""What `assay evaluate` says of a run: the bound that stopped it and what to do, or that nothing
was to be done.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from dashboards.views.write_ranking import RankedRun
from flows.cli.answer import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import budget_line, early_end_lines
from flows.cli.works import answer_about, exit_code_of, print_published
from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import ranking_budget_scope
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import EvaluateOptions
from schemas.reasons import Reason
from schemas.run import Budget, Run, RunState, WorkHead
from schemas.settings import Settings
from schemas.work import Summary
from tasks.accounting.budgets import SharedBudget
from tasks.evaluation.work import EVALUATE
from tasks.ranking.work import RANK
from tests.support.evaluations import make_evaluation, make_run
from tests.support.rankings import land_group, make_head, make_ranked_group, make_ranking_head
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


def request(folder: Path, **bounds: object) -> RunRequest:
    return request_of(
        EVALUATE,
        (bundled_file("ideas.jsonl"),),
        EvaluateOptions(warehouse=folder, **bounds),
        Settings(),
    )


def published_run(folder: Path, ideas: int = 1, **more: object) -> Run:
    """A run that the lake holds."""
    run, warehouse = make_run(ideas=ideas, **more), Warehouse(folder)
    for number in range(ideas):
        land(warehouse, make_evaluation(number, run_id=run.run_id))
    assert publish(warehouse, RUNS, run).published
    with warehouse.queries() as queries:
        return queries.run(run.run_id)


def summary(run: WorkHead, *, unchanged: bool = False) -> Summary[WorkHead]:
    return Summary[Any](
        name="evaluate",
        title="run",
        head=run,
        published=True,
        unchanged=unchanged,
        failed_expectations=(),
        report_paths=(),
    )


def test_the_bound_that_stopped_a_run_is_named_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = request(tmp_path, max_requests=3, max_cost_usd=100.0, max_cost_usd_per_idea=9.0)
    ended = {"in_order": False, "order_reasons": ("it ended early",)}
    run = replace(published_run(tmp_path), state=RunState.BUDGET_EXHAUSTED, **ended)
    budget = SharedBudget(tmp_path / "state/budgets.sqlite", run.run_id, asked.budget)
    for _ in range(3):
        budget.count_request(IdeaId("a"))
    assert print_published(EVALUATE, asked, summary(run), as_json=False) == EXIT_BUDGET
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "stopped by" in each]
    assert line.startswith("stopped by --max-requests 3: the same command with a higher limit")


def test_the_bound_that_stopped_the_ranking_of_an_evaluation_is_looked_up_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = request(tmp_path, rank=True, max_requests=3, max_tokens=100)
    run, warehouse = published_run(tmp_path, ideas=2), Warehouse(tmp_path)
    group = make_ranked_group([make_evaluation(number).idea.idea_id for number in range(2)])
    land_group(warehouse, group)
    head = replace(
        make_head(warehouse, [group], run_id=run.run_id), incomplete_reason=Reason.BUDGET_EXHAUSTED
    )
    write_head(warehouse, RANKINGS, head)
    assert publish(warehouse, RANKINGS, head).published
    scope = ranking_budget_scope(run.run_id)
    budget = SharedBudget(warehouse.budgets, scope, asked.budget)
    for _ in range(3):
        budget.count_request(IdeaId("a"))
    ranked = replace(summary(head), name="rank", first=summary(run))
    assert print_published(EVALUATE, asked, ranked, as_json=False) == EXIT_BUDGET
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "stopped by" in each]
    assert line.startswith("stopped by --max-requests 3: ")


@pytest.mark.parametrize(
    ("unit", "flag"),
    [("idea", "--max-cost-usd-per-idea 0.5"), ("paper", "--max-cost-usd-per-paper 0.5")],
)
def test_a_bound_of_each_unit_is_named_as_its_command_calls_it(
    unit: str, flag: str, tmp_path: Path
) -> None:
    bounds = Budget(maximum_cost_usd_per_idea=0.5)
    budget = SharedBudget(tmp_path / "budgets.sqlite", RunId("run-a"), bounds)
    assert budget_line(budget, unit).startswith(f"stopped by {flag}: ")


def test_work_that_a_bound_ended_does_not_go_on_by_the_same_bound(tmp_path: Path) -> None:
    run, bounds = RunId("survey-a"), Budget(maximum_requests=2)
    (line,) = early_end_lines(
        "the survey", Reason.BUDGET_EXHAUSTED, tmp_path, run, bounds, "question"
    )
    assert line.startswith("stopped by --max-requests 2: the same command with a higher limit")
    (line,) = early_end_lines("the survey", Reason.SERVER_ERROR, tmp_path, run, bounds)
    assert line == "the survey ended early (server error): the same command resumes it"
    assert early_end_lines("the survey", None, tmp_path, run, bounds) == ()


def test_a_rerun_that_did_nothing_says_so_and_not_how_long_the_run_once_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = published_run(tmp_path)
    for unchanged, said in ((True, "nothing to do: up to date as of"), (False, "600 s")):
        told = summary(run, unchanged=unchanged)
        assert print_published(EVALUATE, request(tmp_path), told, as_json=False) == EXIT_DONE
        printed = capsys.readouterr().err
        assert said in printed
        assert ("600 s" in printed) is not unchanged


@pytest.mark.parametrize(
    ("in_order", "reason", "code"),
    [
        (False, None, EXIT_FAILURES),
        (True, Reason.BUDGET_EXHAUSTED, EXIT_BUDGET),
        (True, None, EXIT_DONE),
    ],
)
def test_evaluating_and_ranking_exits_with_the_worse_of_both_codes(
    tmp_path: Path, in_order: bool, reason: Reason | None, code: int
) -> None:
    head = make_ranking_head(incomplete_reason=reason)
    came_to = {
        "evaluate": summary(make_run(ideas=4, in_order=in_order)),
        "rank": replace(summary(head), name="rank"),
    }
    assert EVALUATE.run is not None
    ranked = EVALUATE.run(request(tmp_path, rank=True), Settings(), lambda name, _: came_to[name])
    assert exit_code_of(ranked, RANK.result(head, ())) == code


@pytest.mark.parametrize(
    ("reason", "state"), [(None, "ranked"), (Reason.BUDGET_EXHAUSTED, "incomplete")]
)
def test_a_ranking_that_ended_early_is_incomplete_in_json(
    tmp_path: Path, reason: Reason | None, state: str
) -> None:
    warehouse = Warehouse(tmp_path)
    published_run(tmp_path)
    page = RankedRun(warehouse, make_ranking_head(incomplete_reason=reason))
    answer = answer_about(page, RANK.result(page.head, ()), rows=())
    assert orjson.loads(answer.document())["state"] == state


@pytest.mark.parametrize("as_json", [False, True])
def test_what_is_not_published_says_why_what_it_noted_and_where_its_log_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    told = replace(
        summary(make_run()),
        published=False,
        failed_expectations=("ideas.idea_id: null in 1 row",),
        remarks=("line 3 is left out",),
        log_path=tmp_path / "logs/run-a.jsonl",
    )
    assert print_published(EVALUATE, request(tmp_path), told, as_json=as_json) == EXIT_FAILURES
    printed = capsys.readouterr()
    wanted = ["line 3 is left out", "not published: ideas.idea_id: null in 1 row"]
    if as_json:
        answer = orjson.loads(printed.out)
        assert (answer["state"], answer["warnings"]) == ("not_published", wanted)
        assert answer["log"] == str(told.log_path)
    else:
        assert [line in printed.err for line in (*wanted, f"log:    {told.log_path}")] == [True] * 3
