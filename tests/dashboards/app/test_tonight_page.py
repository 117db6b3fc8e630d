"""The first page: the verdict, who leads and why, what it cost, what was rejected."""

import shutil
from datetime import timedelta

import pytest

from dashboards.app.state import default_run
from dashboards.app.tonight.reasons import why_it_leads
from dashboards.views.nightly_page import night_run
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.profile import ScoreWeights
from tests.support.dashboard import open_page, words
from tests.support.evaluations import START, make_evaluation, make_idea, make_run
from tests.support.report_lake import RUN
from warehouse.answers import ScoreBasis
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def with_a_trial(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The lake, and one idea that somebody tried after the night."""
    copy = Warehouse(
        shutil.copytree(warehouse.root, tmp_path_factory.mktemp("trial") / "warehouse")
    )
    land(copy, make_evaluation(40, run_id="run-trial", idea=make_idea(40)))
    later = START + timedelta(days=3)
    publish(copy, RUNS, make_run("run-trial", started_at=later, finished_at=later))
    return copy


def test_a_night_that_is_not_in_order_says_so_first(warehouse: Warehouse) -> None:
    page = open_page("tonight", warehouse)
    assert page.error[0].value.startswith("**Not in order:** the budget was spent")
    said = words(page)
    assert "0 scored, 4 partly scored, 1 unscored, 1 rejected" in said
    assert "the text is too short" in said


def test_one_idea_that_somebody_tried_is_neither_the_night_nor_the_night_before(
    with_a_trial: Warehouse,
) -> None:
    with with_a_trial.queries() as queries:
        newest, *_ = runs = queries.list_runs()
    assert newest.run_id == "run-trial"
    assert default_run(runs).run_id == RUN
    assert not default_run(runs).compares_with(newest)
    assert RUN in open_page("tonight", with_a_trial).selectbox[0].value


def test_an_alarm_leads_to_its_figures(warehouse: Warehouse) -> None:
    page = open_page("tonight", warehouse)
    assert any("Unscored: " in each.value for each in page.warning)


def test_why_an_idea_leads_is_told_by_its_scores(warehouse: Warehouse) -> None:
    with warehouse.queries() as queries:
        scores = queries.idea_scores(RunId(RUN))
    of = {score.idea_id: score for score in scores}
    assert why_it_leads(
        of[IdeaId("idea-00003")], scores, ScoreWeights(soundness=0.5, contribution=0.5)
    ).startswith(("Leads by soundness", "Leads by contribution"))


def test_an_assessed_idea_without_weights_leads_by_overall_alone(warehouse: Warehouse) -> None:
    with warehouse.queries() as queries:
        known, *_ = queries.idea_scores(RunId(RUN))
    assessed = replace(
        known, score_basis=ScoreBasis.ASSESSMENT, overall_0_to_1=0.7, feasible_0_to_1=0.9
    )
    lower = replace(assessed, overall_0_to_1=0.5)
    weights = ScoreWeights(soundness=0.5, contribution=0.5)
    assert why_it_leads(assessed, [assessed, lower], weights).startswith(
        "Leads by overall 7.0 (mean 6.0)"
    )
    other, new = replace(assessed, new_0_to_1=0.4), replace(assessed, new_0_to_1=None)
    weighed = replace(weights, new=1.0)
    assert "`new` is unscored" in why_it_leads(new, [new, other], weighed)


def test_where_matches_rank_the_ideas_they_lead_the_first_page_too_and_it_says_so(
    ranked: Warehouse,
) -> None:
    """Idea 3 has the higher score, and idea 0 beat it."""
    page = open_page("tonight", ranked)
    told = [each.value for each in page.caption if each.value.startswith("Rank 1")]
    with ranked.queries() as queries:
        by_rank = {idea.idea_id: idea for idea in queries.ranking(RunId(RUN))}
        top = night_run(queries, RunId(RUN)).top
    first, third = by_rank[IdeaId("idea-00000")], by_rank[IdeaId("idea-00003")]
    assert (first.rank, third.rank) == (1, 2)
    assert (first.score or 0) < (third.score or 0)
    order = [idea.idea_id for idea in top]
    assert order.index(first.idea_id) < order.index(third.idea_id)
    assert [idea.rank for idea in top] == sorted(idea.rank or 0 for idea in top)
    assert "Ranks rest on matches and lead" in words(page)
    assert all("overall verdicts" in each for each in told)


@pytest.mark.parametrize("name", ["tonight", "ranking", "cost", "quality", "sources", "idea"])
def test_a_link_to_a_run_that_is_not_there_says_so(name: str, warehouse: Warehouse) -> None:
    page = open_page(name, warehouse, run="no-such-run")
    assert page.error[0].value.startswith("There is no published run “no-such-run”")


def test_a_link_to_an_idea_that_is_not_there_says_so(warehouse: Warehouse) -> None:
    page = open_page("idea", warehouse, run=RUN, idea="no-such-idea")
    assert "This run has no idea no-such-idea." in page.error[0].value
