"""What `assay evaluate` says of a run: the bound that stopped it and what to do, or that nothing
was to be done.
"""

from pathlib import Path

import pytest

from flows.cli.evaluate.evaluate import run_and_print
from flows.cli.evaluate.run_output import print_run
from flows.cli.output import ended_by_budget, ended_early
from flows.run.requests import request_of
from flows.works.evaluate.request import bundled
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import RunOptions
from schemas.reasons import Reason
from schemas.run import Budget, Run, RunState
from schemas.settings import Settings
from schemas.work import Summary
from tasks.accounting.budgets import SharedBudget
from tasks.evaluation.work import EVALUATE
from tests.support.evaluations import make_run


def request(folder: Path, **bounds: object) -> RunRequest:
    return request_of(
        EVALUATE, (bundled("ideas.jsonl"),), RunOptions(warehouse=folder, **bounds), Settings()
    )


def summary(run: Run, *, unchanged: bool = False) -> Summary[Run]:
    return Summary[Run](
        title="run",
        head=run,
        published=False,
        unchanged=unchanged,
        failed_expectations=(),
        report_paths=(),
    )


def test_the_bound_that_stopped_a_run_is_named_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = request(tmp_path, max_requests=3, max_cost_usd=100.0, max_cost_usd_per_idea=9.0)
    budget = SharedBudget(tmp_path / "state/budgets.sqlite", RunId("run-a"), asked.budget)
    for _ in range(3):
        budget.count_request(IdeaId("a"))
    run = make_run(
        state=RunState.BUDGET_EXHAUSTED, in_order=False, order_reasons=("it ended early",)
    )
    print_run(summary(run), asked, as_json=False)
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "stopped by" in each]
    assert line.startswith("stopped by --max-requests 3: the same command with a higher bound")


@pytest.mark.parametrize(
    ("unit", "flag"),
    [("idea", "--max-cost-usd-per-idea 0.5"), ("paper", "--max-cost-usd-per-paper 0.5")],
)
def test_a_bound_of_each_unit_is_named_as_its_command_calls_it(
    unit: str, flag: str, tmp_path: Path
) -> None:
    bounds = Budget(maximum_cost_usd_per_idea=0.5)
    budget = SharedBudget(tmp_path / "budgets.sqlite", RunId("run-a"), bounds)
    assert ended_by_budget(budget, unit).startswith(f"stopped by {flag}: ")


def test_work_that_a_bound_ended_does_not_go_on_by_the_same_bound(tmp_path: Path) -> None:
    run, bounds = RunId("survey-a"), Budget(maximum_requests=2)
    (line,) = ended_early("the survey", Reason.BUDGET_EXHAUSTED, tmp_path, run, bounds, "question")
    assert line.startswith("stopped by --max-requests 2: the same command with a higher bound")
    (line,) = ended_early("the survey", Reason.SERVER_ERROR, tmp_path, run, bounds)
    assert line == "the survey ended early (server error): the same command goes on from there"
    assert ended_early("the survey", None, tmp_path, run, bounds) == ()


def test_a_rerun_that_did_nothing_says_so_and_not_how_long_the_run_once_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for unchanged, said in ((True, "nothing was to be done: it stands as of"), (False, "600 s")):
        print_run(summary(make_run(), unchanged=unchanged), request(tmp_path), as_json=False)
        told = capsys.readouterr().err
        assert said in told
        assert ("600 s" in told) is not unchanged


@pytest.mark.parametrize(("failed_count", "ranked", "code"), [(1, 0, 1), (0, 3, 3), (0, 0, 0)])
def test_evaluating_and_ranking_exits_with_the_worse_of_both_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failed_count: int, ranked: int, code: int
) -> None:
    run = make_run(ideas=4, in_order=failed_count == 0)
    published = replace(summary(run), published=True)
    monkeypatch.setattr("flows.run.session.Session.evaluate", lambda *_: published)
    monkeypatch.setattr("flows.cli.evaluate.rank.rank_and_print", lambda *_, **__: (None, ranked))
    assert run_and_print(request(tmp_path), rank=True, as_json=True)[1] == code
