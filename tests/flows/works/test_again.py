"""`assay evaluate --again`: the ideas of an earlier run, and what its report says has changed."""

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from flows.cli.evaluate.evaluate import evaluate
from flows.cli.works import report_answer
from flows.run.requests import request_of
from flows.works.evaluate.reevaluation import add_earlier_judgements
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import EvaluateOptions
from schemas.settings import Settings
from tasks.evaluation.shard_job import PlannedIdea
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_batch
from tests.support.evaluations import CUTOFF, make_evaluation, make_run
from tests.support.reports import run_report
from tests.support.survey_lake import make_survey, published_surveys
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

BEFORE, AFTER = RunId("run-a"), RunId("run-b")
LATER = date(2030, 1, 1)


def published(warehouse: Warehouse, run_id: RunId, **more: Any) -> None:
    """Two ideas; the later run has found a paper more, and compares it too."""
    papers = 8 if run_id == BEFORE else 9
    for number in range(2):
        compared = papers - 3
        land(warehouse, make_evaluation(number, run_id=run_id, papers=papers, compared=compared))
    report = publish(warehouse, RUNS, make_run(run_id, ideas=2, **more))
    assert report.published, report.failed_expectations


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("again"))
    published(warehouse, BEFORE)
    published(warehouse, AFTER, again_run_id=BEFORE)
    published_surveys(warehouse, make_survey())
    return warehouse


@pytest.fixture(scope="module")
def page(warehouse: Warehouse) -> str:
    """The report of the later run."""
    return run_report(warehouse, AFTER, "md")


def options(warehouse: Warehouse, **said: Any) -> EvaluateOptions:
    return EvaluateOptions(warehouse=warehouse.root, api_base="http://127.0.0.1:9/v1", **said)


def again(name: str, warehouse: Warehouse, **said: Any) -> RunRequest:
    """The request that evaluates the ideas of a run again."""
    asked = options(warehouse, again=name, **said)
    request: RunRequest = request_of(EVALUATE, (None,), asked, Settings())
    return request


def test_the_ideas_come_back_as_they_were_read_and_the_options_are_the_runs(
    warehouse: Warehouse,
) -> None:
    request = again(BEFORE, warehouse)
    ideas = {
        each.idea_id: each for each in read_batch(request.ideas.path, default_cutoff=None).ideas
    }
    for number in range(2):
        own = make_evaluation(number).idea
        assert ideas[own.idea_id].content_sha256 == own.content_sha256
        assert ideas[own.idea_id].group == own.group
    assert (request.parameters.again, request.engine.text) == (BEFORE, "litellm:small")
    # What a model evaluates is assessed too, whatever the earlier run asked for.
    assert ",".join(request.parameters.modules) == f"{make_run().modules},assessment"


def test_a_later_cutoff_holds_for_every_idea_and_an_earlier_one_for_none(
    warehouse: Warehouse,
) -> None:
    def cutoffs(day: date) -> set[date | None]:
        request = again(BEFORE, warehouse, cutoff=day)
        batch = read_batch(request.ideas.path, default_cutoff=None)
        return {each.cutoff_date for each in batch.ideas}

    assert cutoffs(LATER) == {LATER}
    earliest = date(1990, 1, 1)
    own = {make_evaluation(number).idea.cutoff_date for number in range(2)}
    assert cutoffs(earliest) == {each or earliest for each in own}


def test_judgements_of_the_earlier_run_travel_with_its_ideas_unless_another_engine_is_asked(
    warehouse: Warehouse,
) -> None:
    request = again(BEFORE, warehouse)
    planned = [
        PlannedIdea(idea=each.idea, evaluation_key=each.evaluation_key)
        for each in map(make_evaluation, range(2))
    ]
    kept = add_earlier_judgements(planned, request, warehouse)
    for number, each in enumerate(kept):
        contribution = make_evaluation(number).contribution
        assert contribution is not None
        assert each.before is not None
        scored = [row for row in contribution.comparisons if row.score is not None]
        assert len(each.before.comparisons) == len(scored)
    other = replace(request, engine="litellm:other")
    assert all(each.before is None for each in add_earlier_judgements(planned, other, warehouse))


@pytest.mark.parametrize(("name", "told"), [("survey-a", "is a survey"), ("run-z", "run-z")])
def test_what_is_no_run_of_ideas_is_refused_in_one_line(
    warehouse: Warehouse, name: str, told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told) as refused:
        again(name, warehouse)
    assert "\n" not in str(refused.value)


def test_a_run_of_which_no_idea_is_stored_is_refused_in_one_line(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    assert publish(warehouse, RUNS, make_run(BEFORE, ideas=0)).published
    with pytest.raises(ConfigurationError, match="holds no idea of run run-a"):
        again(BEFORE, warehouse)


def test_ideas_and_an_earlier_run_are_one_or_the_other(warehouse: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match="leave out IDEAS"):
        evaluate(options(warehouse, again=BEFORE), Path("ideas.jsonl"))
    with pytest.raises(ConfigurationError, match="--again"):
        evaluate(options(warehouse))


def test_the_report_begins_with_what_changed(warehouse: Warehouse, page: str) -> None:
    assert page.index("## What changed since run-a") < page.index("## Ranking")
    assert "2 ideas changed" in page
    assert "## What changed" not in run_report(warehouse, BEFORE, "md")
    changes = report_answer(warehouse, AFTER).model_dump()["changes"]
    assert [each["new_paper_count"] for each in changes] == [1, 1]


def test_the_report_says_which_cutoff_and_which_literature_are_other_ones(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    warehouse = Warehouse(shutil.copytree(warehouse.root, tmp_path / "w"))
    moved_on = RunId("run-c")
    for number in range(2):
        evaluation = make_evaluation(number, run_id=moved_on)
        idea = replace(evaluation.idea, cutoff_date=LATER if number else None)
        land(warehouse, replace(evaluation, idea=idea))
    moved = {"literature": "live", "literature_name": "", "again_run_id": BEFORE}
    report = publish(warehouse, RUNS, make_run(moved_on, ideas=2, **moved))
    assert report.published, report.failed_expectations
    (told,) = [
        line for line in run_report(warehouse, moved_on, "md").splitlines() if "same ideas" in line
    ]
    assert ", before " in told
    assert f"({CUTOFF} → {LATER}; {CUTOFF} → none)" in told


def test_the_report_of_the_same_literature_and_cutoff_says_so(page: str) -> None:
    assert ", as before. " in page
    assert "another cutoff" not in page


def test_without_the_earlier_run_the_report_says_so(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    published(warehouse, AFTER, again_run_id=BEFORE)
    assert "The earlier run is no longer published" in run_report(warehouse, AFTER, "md")
