"""`assay runs show` says of an unpublished run what it has spent, and of nothing else."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from flows.cli.command_line import application, run_command
from flows.cli.exit_codes import EXIT_DONE, EXIT_USAGE
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget
from tests.support.evaluations import make_llm_call
from tests.support.work_of_every_kind import WORKS
from warehouse.layout import Layout
from warehouse.units.landing import write_head
from warehouse.units.publish import publish


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return Layout(tmp_path / "warehouse")


def spend(layout: Layout, run: str) -> None:
    async def call() -> None:
        budget = SharedBudget(layout.budgets, RunId(run), Budget())
        budget.settle(await budget.reserve(IdeaId("i1")), cost_usd=0.25, tokens=7)

    asyncio.run(call())


def send(layout: Layout, run: str, *, is_answered: bool) -> None:
    """Send a call of an estimated 0.03 USD, which costs 0.01 USD if it is answered."""

    async def sent() -> None:
        budget = SharedBudget(layout.budgets, RunId(run), Budget())
        reservation = await budget.reserve(IdeaId("i1"), cost_usd=0.03, tokens=5)
        call = make_llm_call(IdeaId("i1"), 0, call_id=reservation.reservation_id, cost_usd=None)
        budget.send(reservation, f"runs/run_id={run}/shard=0", call)
        if is_answered:
            known = replace(call, cost_usd=0.01)
            budget.settle(reservation, cost_usd=0.01, tokens=5, call=known)

    asyncio.run(sent())


def show(monkeypatch: pytest.MonkeyPatch, layout: Layout, run: str) -> int:
    return ask(monkeypatch, layout, "show", run)


def ask(monkeypatch: pytest.MonkeyPatch, layout: Layout, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["assay", "runs", *words, "--warehouse", str(layout.root)])
    return run_command(lambda: application()(prog_name="assay", standalone_mode=False))


def test_the_spending_of_a_stopped_run_is_shown_with_and_without_a_lake(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spend(layout, "stopped")
    for _ in range(2):
        assert show(monkeypatch, layout, "stopped") == EXIT_DONE
        out, err = capsys.readouterr()
        assert "0.25" in out
        assert "is not published: run the same command again to resume it" in err
        work = WORKS[0]
        work.land(layout, 0, "call-0")
        publish(layout, work.kind, work.head(layout))


def test_the_cost_of_a_stopped_run_says_how_much_of_it_is_estimated_for_how_many_calls(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spend(layout, "stopped")
    for is_answered in (False, True):
        send(layout, "stopped", is_answered=is_answered)
    assert show(monkeypatch, layout, "stopped") == EXIT_DONE
    assert "0.0300 USD of its cost are estimates for 1 call" in capsys.readouterr().err
    assert ask(monkeypatch, layout, "show", "stopped", "--json") == EXIT_DONE
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["estimated_usd"], row["estimated_calls"]) == (0.03, 1)
    assert row["cost_usd"] == pytest.approx(0.25 + 0.03 + 0.01)


def test_without_a_lake_the_list_names_the_runs_that_have_spent(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layout.root.mkdir()
    assert ask(monkeypatch, layout, "list") == EXIT_USAGE
    assert "no lake in" in capsys.readouterr().err
    spend(layout, "stopped")
    assert ask(monkeypatch, layout, "list") == EXIT_DONE
    out, err = capsys.readouterr()
    assert "stopped │ not published" in " ".join(out.split())
    assert "`assay runs show RUN`" in err
    assert ask(monkeypatch, layout, "list", "--json") == EXIT_DONE
    answer = json.loads(capsys.readouterr().out)
    assert answer["rows"] == []
    assert "stopped" in answer["warnings"][0]


@pytest.mark.parametrize(
    "word",
    ["survey", *(pytest.param(each, marks=pytest.mark.long) for each in ("curation", "check"))],
)
def test_published_work_of_another_kind_is_not_called_unpublished(
    word: str, layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (work,) = [work for work in WORKS if work.kind.word == word]
    work.prepare(layout)
    for number in range(2):
        work.land(layout, number, f"call-{number}")
    if work.kind.has_head_file:
        write_head(layout, work.kind, work.head(layout))
    assert publish(layout, work.kind, work.head(layout)).published
    (name,) = work.names
    spend(layout, name)
    assert show(monkeypatch, layout, name) == EXIT_USAGE
    out, err = capsys.readouterr()
    assert (out, "is no run of ideas" in err) == ("", True), err


def test_a_catalogue_that_was_moved_is_an_error(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spend(layout, "stopped")
    layout.moved_catalogue.parent.mkdir(parents=True, exist_ok=True)
    layout.moved_catalogue.touch()
    assert show(monkeypatch, layout, "stopped") == EXIT_USAGE
    assert "was moved to PostgreSQL" in capsys.readouterr().err
