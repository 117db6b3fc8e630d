"""Plans of experiments for leading ideas: from what works near them used, with the runs they take."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from flows.run.requests import request_of
from flows.works.experiment import experiment_plans
from flows.works.experiment.experiment_plans import (
    ExperimentPlan,
    plan_experiments,
    write_plans,
)
from schemas.literature.recommendation import ResourceKind
from schemas.options.commands import RecommendOptions
from schemas.settings import Settings
from schemas.works.ideation_run import IdeateOptions, IdeationRequest
from tasks.ideation.work import IDEATE
from tasks.recommendation.recommend import Recommended
from tests.support.ideation_lake import make_ideation_head, make_version, publish_ideation_lake
from tests.support.recommendations import make_recommendation
from tests.support.reports import Page
from warehouse.warehouse import Warehouse

HOSTILE = "<script>alert(1)</script> | [x](javascript:alert(1))"


def planned(*named: tuple[ResourceKind, str]) -> ExperimentPlan:
    found = tuple(make_recommendation(*each) for each in named)
    return ExperimentPlan(make_version(), found, ())


def test_runs_are_counted_over_every_baseline_and_data_set() -> None:
    alone = planned()
    assert alone.comparisons == 1
    assert [*alone.runs][1] == (1.0, 10, 20)
    many = planned(
        (ResourceKind.BASELINE, "Loud calls"),
        (ResourceKind.BASELINE, "No calls"),
        (ResourceKind.DATA_SET, "Moths of Ohio"),
        (ResourceKind.DATA_SET, "Moths of Java"),
        (ResourceKind.METRIC, "Escapes"),
    )
    assert many.comparisons == 4
    for (size, pairs, runs), (_, fewer, _) in zip(many.runs, alone.runs, strict=True):
        assert pairs > fewer, size
        assert runs == pairs * 3 * 2


def test_a_checklist_has_what_is_known_and_says_what_is_not(tmp_path: Path) -> None:
    plan = planned((ResourceKind.DATA_SET, "Moths of Ohio"), (ResourceKind.BASELINE, HOSTILE))
    html, markdown = write_plans(tmp_path, [plan])
    text = markdown.read_text()
    assert "- [ ] **Moths of Ohio**" in text
    assert "“We use it.”" in text
    assert "None is known from works near the idea: what a person who uses it would count" in text
    assert "All flee." in text
    assert "Twenty moths." in text
    page = Page(html.read_text())
    assert "script" not in page.elements
    assert page.addresses == []


@pytest.fixture(scope="module")
def request_of_a_lake(tmp_path_factory: pytest.TempPathFactory) -> IdeationRequest:
    folder = tmp_path_factory.mktemp("ideas")
    seeds = folder / "seeds.jsonl"
    seeds.write_text('{"idea_id": "bats", "text": "Graph neural networks for proteins."}\n')
    publish_ideation_lake(Warehouse(folder / "w"))
    return request_of(IDEATE, (seeds,), IdeateOptions(warehouse=folder / "w"), Settings())


def test_the_leading_ideas_get_plans_from_works_near_them(
    monkeypatch: pytest.MonkeyPatch, request_of_a_lake: IdeationRequest
) -> None:
    looked_up: list[str] = []

    def found(text: str, cutoff: date | None, asked: RecommendOptions, _: Settings) -> Recommended:
        assert asked.literature == request_of_a_lake.literature
        looked_up.append(text)
        near = make_recommendation(ResourceKind.DATA_SET, "Moths of Ohio")
        return Recommended((near,), near_works=1, citations=0, known_contexts=0, failures=())

    monkeypatch.setattr(experiment_plans, "recommend_about", found)
    html, markdown = plan_experiments(request_of_a_lake, make_ideation_head(), 3, Settings())
    assert html.parent == Warehouse(request_of_a_lake.warehouse).reports / "ideation-a"
    text = markdown.read_text()
    assert text.count("### Before the first run") == 1, "one of the two ideas was dropped"
    assert "bats-1-r2: Calls that moths do not hear, 2" in text
    assert len(looked_up) == 1
    assert "- [ ] **Moths of Ohio**" in text


def test_without_an_idea_there_is_no_plan_and_nothing_is_looked_up(
    monkeypatch: pytest.MonkeyPatch, request_of_a_lake: IdeationRequest
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("nothing is to be looked up")

    monkeypatch.setattr(experiment_plans, "recommend_about", never)
    assert plan_experiments(request_of_a_lake, make_ideation_head(), 0, Settings()) == ()
