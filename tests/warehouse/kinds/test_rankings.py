"""Rankings land group by group, are published whole, and never mix with each other or outlive what
they rank.
"""

import shutil
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.errors import PublicationError
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import RankedGroup, RatingMethod
from schemas.profile import ScoreWeights
from schemas.reasons import Reason
from tests.support.evaluations import make_evaluation, make_run
from tests.support.rankings import land_group, make_head, make_ranked_group
from tests.support.reports import ranking_report, run_report
from tests.warehouse.conftest import publish_group
from warehouse.kinds.rankings.landing import RANKINGS, landed_matches
from warehouse.kinds.rankings.queries import (
    default_ranking,
    group_summaries,
    ideas_by_scores,
    matches_of,
    rankings_of,
    ratings_of,
)
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.row_models import Publication
from warehouse.units.landing import read_head, read_receipt, write_head
from warehouse.units.publish import publish
from warehouse.units.unit_rows import landed_unit
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")


@pytest.fixture
def warehouse(one_group: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(one_group.root, tmp_path / "warehouse"))


@pytest.fixture
def ideas() -> list[IdeaId]:
    return [make_evaluation(number).idea.idea_id for number in range(3)]


def rank(
    warehouse: Warehouse, *groups: RankedGroup, method: RatingMethod = RatingMethod.BRADLEY_TERRY
) -> Publication:
    for group in groups:
        land_group(warehouse, group)
    head = make_head(warehouse, groups, method=method)
    write_head(warehouse, RANKINGS, head)
    return publish(warehouse, RANKINGS, head)


def ranks(warehouse: Warehouse) -> list[tuple[object, ...]]:
    with warehouse.reader() as connection:
        return connection.execute(
            'select idea_id, rank, basis, ranking_id from group_rankings order by "group", rank,'
            " idea_id"
        ).fetchall()


def test_a_ranked_group_comes_back_as_it_was_landed(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    group = make_ranked_group(ideas, group="one", refused=1)
    land_group(warehouse, group)
    assert landed_unit(warehouse, RANKINGS, RUN, "ranking-a", "one") == replace(group, llm_calls=())
    assert landed_matches(warehouse, RUN, "ranking-a", "one") == group.matches
    receipt = read_receipt(warehouse, RANKINGS, RUN, "ranking-a", "one")
    assert receipt is not None
    assert receipt.rows == {
        "ranking_groups": 1,
        "matches": 12,
        "ratings": 12,
        "ratings_across_groups": 0,
        "llm_calls": 6,
    }
    assert read_head(warehouse, RANKINGS, RUN, "ranking-a") is None, (
        "a ranking exists only once its head has landed"
    )


def test_the_ranks_of_a_run_rest_on_matches_once_it_is_ranked(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    assert {row[2] for row in ranks(warehouse)} == {"scores"}
    backwards = ideas[::-1]
    assert rank(warehouse, make_ranked_group(backwards, group="one")).published
    assert ranks(warehouse) == [
        (idea, place, "matches", "ranking-a") for place, idea in enumerate(backwards, start=1)
    ]
    with warehouse.queries() as queries:
        entry = queries.ranking(RUN)[0]
        assert (entry.best_rank, entry.worst_rank, entry.wins, entry.losses) == (1, 2, 4.0, 0.0)
        assert entry.strength is not None
    with warehouse.reader() as connection:
        found = connection.execute(
            "select idea_id, sum(cost_usd) from llm_calls where step = 'compare_ideas' group by all"
            " order by all"
        ).fetchall()
    assert [(idea, pytest.approx(cost)) for idea, cost in found] == [
        (idea, 0.02) for idea in sorted(ideas)
    ]
    again = rank(warehouse, make_ranked_group(backwards, group="one"))
    assert (again.published, again.unchanged) == (True, True)


def test_rankings_of_two_engines_stand_beside_each_other_and_the_runs_own_is_shown(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    own = make_run().engine
    other = make_ranked_group(
        ideas[::-1],
        ranking_id="ranking-b",
        group="one",
        engine="extractive" if own != "extractive" else "litellm:x",
    )
    assert rank(warehouse, make_ranked_group(ideas, group="one", engine=own)).published
    assert rank(warehouse, other).published
    with warehouse.queries() as queries:
        assert {head.ranking_id for head in rankings_of(queries, RUN)} == {"ranking-a", "ranking-b"}
        shown = default_ranking(queries, RUN)
        assert shown is not None
        assert shown.ranking_id == "ranking-a"
        assert {match.judge for match in matches_of(queries, shown, ["one"])} == {own}
        assert len(ratings_of(queries, shown, RatingMethod.ELO)) == 6
        assert [summary.group for summary in group_summaries(queries, shown)] == ["one"]
    assert [row[0] for row in ranks(warehouse)] == ideas


def test_two_engines_in_one_ranking_or_a_winner_with_a_reason_keep_it_out_of_the_lake(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    group = make_ranked_group(ideas, group="one")
    # No noun can be built so; a file that another program wrote may hold it.
    both = group.matches[1].model_copy(update={"unscored_reason": Reason.REFUSED})
    other = replace(group.matches[0], judge="extractive")
    mixed = group.model_copy(update={"matches": (other, both, *group.matches[2:])})
    report = rank(warehouse, mixed)
    assert not report.published
    assert report.validation is not None
    broken = {row.expectation for row in report.validation.broken}
    assert {"one_engine_judges_one_ranking", "a_match_has_a_winner_or_a_reason"} <= broken
    assert {row[2] for row in ranks(warehouse)} == {"scores"}


def test_a_match_along_an_unrated_dimension_or_an_idea_rated_along_others_keeps_a_ranking_out(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    group = make_ranked_group(ideas, group="one")
    stray = replace(
        group, matches=(replace(group.matches[0], dimension="beauty"), *group.matches[1:])
    )
    lacking = replace(
        group,
        ratings=tuple(
            one for one in group.ratings if (one.idea_id, one.dimension) != (ideas[0], "novelty")
        ),
    )
    for broken in (stray, lacking):
        report = rank(warehouse, broken)
        assert not report.published
        assert report.validation is not None
        assert "one_ranking_has_one_set_of_dimensions" in {
            row.expectation for row in report.validation.broken
        }


def test_a_ranking_with_votes_of_people_is_published_with_them(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    group = make_ranked_group(ideas, group="one")
    vote = replace(group.matches[1], match_id="vote-1", judge="human:ada", provenance=None)
    assert rank(
        warehouse, replace(group, matches=(*group.matches, vote)), method=RatingMethod.ELO
    ).published
    with warehouse.queries() as queries:
        shown = default_ranking(queries, RUN)
        assert shown is not None
        assert [match.judge for match in matches_of(queries, shown, ["one"])].count(
            "human:ada"
        ) == 1


def test_a_run_that_changed_loses_its_ranking_but_not_what_it_cost(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    late = make_ranked_group(ideas, ranking_id="ranking-late", group="one")
    head = make_head(warehouse, [late])
    land_group(warehouse, late)
    assert rank(warehouse, make_ranked_group(ideas, group="one")).published
    with warehouse.reader() as connection:
        before = connection.execute("select llm_calls, cost_usd from run_costs").fetchall()[0]
    publish_group(warehouse, range(4))
    assert {row[2] for row in ranks(warehouse)} == {"scores"}
    with warehouse.reader() as connection:
        left = [
            connection.execute(f"select count(*) from {name}").fetchall()[0][0]
            for name in ("rankings", "matches", "ratings")
        ]
        after = connection.execute("select llm_calls, cost_usd from run_costs").fetchall()[0]
    assert left == [0, 0, 0]
    assert after[1] > before[1]
    with pytest.raises(PublicationError, match="rank it again"):
        publish(warehouse, RANKINGS, head)


def test_a_run_published_again_as_it_was_keeps_its_ranking(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    assert rank(warehouse, make_ranked_group(ideas, group="one")).published
    again = publish(warehouse, RUNS, make_run(ideas=3, label="another label"))
    assert (again.published, again.unchanged) == (True, False)
    assert {row[2] for row in ranks(warehouse)} == {"matches"}


def test_a_group_without_matches_is_ranked_by_scores_beside_groups_with_them(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    for number in range(3):
        evaluation = make_evaluation(number)
        land(
            warehouse,
            replace(
                evaluation, idea=replace(evaluation.idea, group="one" if number < 2 else "alone")
            ),
        )
    assert publish(warehouse, RUNS, make_run(ideas=3)).published
    ideas = [make_evaluation(number).idea.idea_id for number in range(2)]
    assert rank(warehouse, make_ranked_group(ideas, group="one")).published
    with warehouse.reader() as connection:
        found = connection.execute(
            'select "group", basis, rank from group_rankings order by "group", rank'
        ).fetchall()
    assert found == [("alone", "scores", 1), ("one", "matches", 1), ("one", "matches", 2)]


def test_matches_that_tell_no_ideas_apart_leave_the_order_by_scores(
    warehouse: Warehouse, ideas: list[IdeaId]
) -> None:
    with warehouse.queries() as queries:
        by_scores = {idea.idea_id: idea.rank for idea in queries.ranking(RUN)}
    group = make_ranked_group(ideas, group="one")
    alike = [replace(each, rank=1, best_rank=1, worst_rank=3) for each in group.ratings]
    assert rank(warehouse, replace(group, ratings=tuple(alike))).published
    with warehouse.queries() as queries:
        shown = queries.ranking(RUN)
    assert len(set(by_scores.values())) > 1
    assert {idea.idea_id: idea.rank for idea in shown} == by_scores
    assert {(idea.basis, idea.ranking_id, idea.worst_rank) for idea in shown} == {
        ("scores", "ranking-a", 3)
    }
    for report in (run_report(warehouse, RUN, "md"), ranking_report(warehouse, RUN, "md")):
        assert "The matches tell no ideas apart: ranks rest on scores." in report
        assert "Why an idea beats another" not in report


@pytest.mark.parametrize("module", ["soundness", "contribution"])
def test_a_ranking_by_scores_follows_the_weights_it_is_asked_for(
    module: str, one_group: Warehouse
) -> None:
    weights = ScoreWeights(**{"soundness": 0.0, "contribution": 0.0, module: 1.0})
    with one_group.queries() as queries:
        own = {idea.idea_id: idea for idea in ideas_by_scores(queries, RUN)}
        ranked = ideas_by_scores(queries, RUN, weights)
        scores = {score.idea_id: score.score for score in queries.idea_scores(RUN)}
    column = f"{module}_0_to_10"
    assert [idea.score for idea in ranked] == [getattr(idea, column) for idea in ranked]
    ahead = [[other.score > idea.score for other in ranked] for idea in ranked]
    assert [idea.rank for idea in ranked] == [1 + sum(each) for each in ahead]
    assert {idea_id: idea.score for idea_id, idea in own.items()} == pytest.approx(scores)
