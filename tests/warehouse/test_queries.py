"""What dashboards and reports are told."""

import pytest

from schemas.base import replace
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import IdeaId, RunId
from tests.support.evaluations import make_evaluation, make_run
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")


def test_a_published_run_comes_back_as_it_was(published: Warehouse) -> None:
    with published.queries() as queries:
        told = make_run("run-a", ideas=5, rejected_count=1)
        counted = {"partly_scored_count": 5, "scored_count": 0, "unscored_count": 0}
        assert queries.latest_run() == replace(
            told, **counted, in_order=False, order_reasons=("1 of 6 entries rejected",)
        )
        assert [run.run_id for run in queries.list_runs()] == [RUN]


def test_an_unpublished_run_is_named_beside_the_published_ones(published: Warehouse) -> None:
    with (
        published.queries() as queries,
        pytest.raises(ConfigurationError, match="no published run nope; the newest are: run-a"),
    ):
        queries.ranking(RunId("nope"))


def test_an_idea_review_holds_the_whole_evaluation(published: Warehouse) -> None:
    expected = make_evaluation(1)
    with published.queries() as queries:
        review = queries.idea_review(RUN, IdeaId("idea-00001"))
    assert review.evaluation == expected
    assert [paper.paper_id for paper in review.bibliography] == [
        citation.paper_id for citation in expected.citations
    ]
    assert review.score.unscored_method_count == 1
    assert review.cost_usd == pytest.approx(0.006)
    assert (review.unknown_price_calls, review.group_size) == (0, 2)
    assert review.rank in (1, 2)


def test_all_reviews_of_a_run_come_in_ranking_order(published: Warehouse) -> None:
    with published.queries() as queries:
        order = [row.idea_id for row in queries.ranking(RUN)]
        assert [review.evaluation.idea.idea_id for review in queries.idea_reviews(RUN)] == order


def test_an_idea_the_run_does_not_have_is_a_clear_error(published: Warehouse) -> None:
    with (
        published.queries() as queries,
        pytest.raises(ConfigurationError, match="no evaluation of idea nope"),
    ):
        queries.idea_review(RUN, IdeaId("nope"))


def test_a_name_with_a_nul_is_one_that_nothing_has(published: Warehouse) -> None:
    """DuckLake's own statements end at it."""
    with published.queries() as queries:
        for ask in (
            lambda: queries.idea_review(RunId("run\0a"), IdeaId("nope")),
            lambda: queries.rows("idea_scores_of", run_id=RUN, idea_ids=["idea\0"]),
            lambda: queries.page_frame("leaderboard", run_id="run-a\0"),
        ):
            with pytest.raises(UnknownNameError, match="nothing has such a name"):
                ask()


def test_rejected_entries_are_failures_of_the_run_but_not_of_the_idea_they_copied(
    published: Warehouse,
) -> None:
    with published.queries() as queries:
        failures = queries.failures(RUN)
        review = queries.idea_review(RUN, IdeaId("idea-00001"))
    assert failures[0].stage == "read_ideas"
    assert failures[0].reason == "duplicate_id"
    assert len(failures) == 6
    assert review.evaluation.failures == ()
