"""Scores, ranks and costs: what is unscored is counted beside, never averaged in."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import combinations, product
from statistics import fmean
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.base import replace
from schemas.identifiers import PaperId, RunId
from schemas.judgement.assessment import Assessment, AssessmentCriterion, AssessmentEvaluation
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.reasons import Reason
from schemas.run import Module
from schemas.tables import TABLE, TABLES
from tasks.metrics.agreement import krippendorff_alpha
from tasks.steps import STEPS
from tests.support.committee_evaluations import make_committee, make_novelty
from tests.support.evaluations import (
    make_api_call,
    make_evaluation,
    make_idea,
    make_judge_votes,
    make_llm_call,
    make_provenance,
    make_run,
    rows_of,
)
from warehouse.catalogue.connection import in_memory
from warehouse.kinds.runs.landing import RUNS
from warehouse.parquet import arrow_table
from warehouse.queries import resources_of_papers
from warehouse.statements import MARTS, names, statement, table_statement
from warehouse.units.publish import head_rows


@pytest.fixture(scope="module")
def marts() -> Iterator[duckdb.DuckDBPyConnection]:
    """Every table and mart, with one run that has no ideas. To be changed by `undone` alone."""
    with in_memory() as connection:
        for table in TABLES:
            connection.execute(table.ddl)
        for name in MARTS:
            connection.execute(f"create view {name} as {statement('marts', name)}")
        add(connection, "runs", head_rows(RUNS, make_run(), "digest").to_pylist())
        yield connection


@contextmanager
def undone(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """A transaction that leaves nothing."""
    connection.begin()
    try:
        yield connection
    finally:
        connection.rollback()


@pytest.fixture
def tables(marts: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    with undone(marts) as connection:
        yield connection


def add(connection: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    connection.register("incoming", arrow_table(TABLE[table], rows))
    connection.execute(table_statement("insert", table=table, source="incoming"))
    connection.unregister("incoming")


def add_evaluation(connection: duckdb.DuckDBPyConnection, evaluation: IdeaEvaluation) -> None:
    for name, rows in rows_of(evaluation).items():
        add(connection, name, rows)


def judged(
    number: int,
    soundness: list[float | None],
    comparisons: list[int | None],
    group: str | None = "one",
    novelty: float | None = None,
) -> IdeaEvaluation:
    """An evaluation with exactly these method scores and, along one dimension, these comparison
    scores.

    `novelty` is that of the dimension; None: 5 * (1 + the mean of `comparisons`).
    """
    known = [score for score in comparisons if score is not None]
    if novelty is None and known:
        novelty = 5 * (1 + sum(known) / len(known))
    base = make_evaluation(
        number,
        methods=max(len(soundness), 1),
        dimensions=1,
        compared=len(comparisons),
        idea=make_idea(number, group=group),
    )
    assert base.soundness is not None
    assert base.contribution is not None
    reviews = tuple(
        replace(
            review,
            score_0_to_10=score,
            unscored_reason=None if score is not None else Reason.REFUSED,
        )
        for review, score in zip(base.soundness.reviews, soundness, strict=False)
    )
    compared = tuple(
        replace(
            comparison,
            score=score,
            unscored_reason=None if score is not None else Reason.REFUSED,
        )
        for comparison, score in zip(base.contribution.comparisons, comparisons, strict=True)
    )
    return replace(
        base,
        soundness=replace(
            base.soundness, reviews=reviews, methods=base.soundness.methods[: len(soundness)]
        ),
        contribution=replace(
            base.contribution,
            comparisons=compared,
            reviews=tuple(
                replace(each, novelty_0_to_10=novelty) for each in base.contribution.reviews
            ),
        ),
    )


def scores(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    answer = connection.execute("from idea_scores order by idea_id")
    columns = [column[0] for column in answer.description or ()]
    (row,) = answer.fetchall()
    return dict(zip(columns, row, strict=True))


def test_marts_of_the_contract_are_the_files_there_are() -> None:
    assert (
        set(MARTS)
        == set(names("marts"))
        == {
            "idea_scores",
            "ranked_ideas",
            "group_rankings",
            "run_costs",
            "module_costs",
            "latency_by_step",
            "source_health",
            "authors",
            "concepts",
            "data_sets",
            "attempt_hits",
            "judge_agreement",
        }
    )


def test_authors_and_concepts_are_those_of_the_papers_and_unknown_is_no_row(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    evaluation = make_evaluation(1)
    add_evaluation(tables, evaluation)
    written = tables.execute(
        "select paper_id, name, author_id from authors order by all"
    ).fetchall()
    assert written == sorted(
        (paper.paper_id, name, identifier or None)
        for paper in evaluation.papers
        for name, identifier in zip(paper.authors, paper.author_ids or ("", ""), strict=True)
    )
    about = tables.execute("select paper_id, kind, concept from concepts").fetchall()
    assert sorted(about) == sorted(
        (paper.paper_id, kind, each)
        for paper in evaluation.papers
        for kind, told in (
            ("concept", paper.concepts),
            ("field", paper.fields_of_study),
            ("key_phrase", paper.key_phrases),
        )
        for each in told or ()
    )


def test_an_idea_whose_dimensions_too_few_works_address_has_no_contribution(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    base = judged(0, [4.0, 8.0], [1, 0, 1, 0])
    assert base.contribution is not None
    reviews = tuple(replace(each, novelty_0_to_10=None) for each in base.contribution.reviews)
    add_evaluation(tables, replace(base, contribution=replace(base.contribution, reviews=reviews)))
    assert scores(tables)["contribution_0_to_10"] is None


def test_the_score_is_the_weighted_mean_of_both_modules(tables: duckdb.DuckDBPyConnection) -> None:
    add_evaluation(tables, judged(0, [4.0, 8.0], [1, 0, 1, 0]))
    row = scores(tables)
    assert (row["soundness_0_to_10"], row["contribution_0_to_10"], row["score"]) == (6.0, 7.5, 6.75)


def test_the_contribution_is_that_of_the_closest_works_and_the_mean_stays_beside_it(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, judged(0, [4.0], [1, 1, 1, -1], novelty=3.0))
    row = scores(tables)
    assert (row["contribution_0_to_10"], row["mean_comparison_score"]) == (3.0, 0.5)


def test_a_score_is_as_sure_as_its_least_sure_module(tables: duckdb.DuckDBPyConnection) -> None:
    evaluation = judged(0, [4.0, 8.0, None], [1, 1])
    assert evaluation.soundness is not None
    assert evaluation.contribution is not None
    sure = [
        replace(review, confidence_0_to_3=confidence)
        for review, confidence in zip(evaluation.soundness.reviews, (3, 2, None), strict=True)
    ]
    dimension = replace(evaluation.contribution.reviews[0], confidence_0_to_3=1)
    changed = replace(
        evaluation,
        soundness=replace(evaluation.soundness, reviews=tuple(sure)),
        contribution=replace(evaluation.contribution, reviews=(dimension,)),
    )
    add_evaluation(tables, changed)
    row = scores(tables)
    assert row["soundness_confidence_0_to_3"] == 2, "the unscored method counts as 0"
    assert row["contribution_confidence_0_to_3"] == 1
    assert row["confidence_0_to_3"] == 1


def test_weights_of_the_run_count(tables: duckdb.DuckDBPyConnection) -> None:
    tables.execute("update runs set soundness_weight = 3")
    add_evaluation(tables, judged(0, [4.0], [1]))
    assert scores(tables)["score"] == pytest.approx((3 * 4 + 10) / 4)


def by_all_modules(
    evaluation: IdeaEvaluation, personas: list[float | None], novelty: int | None
) -> IdeaEvaluation:
    """`evaluation` with exactly these persona scores and this judgement of novelty."""
    committee, judged_novelty = (
        make_committee(0, evaluation.papers),
        make_novelty(0, evaluation.papers),
    )
    reviews = tuple(
        replace(
            committee.reviews[0],
            persona_id=f"p{n}",
            score_0_to_10=score,
            unscored_reason=Reason.REFUSED if score is None else None,
        )
        for n, score in enumerate(personas)
    )
    judgement = replace(
        judged_novelty.judgement,
        score_1_to_5=novelty,
        unscored_reason=Reason.REFUSED if novelty is None else None,
    )
    return replace(
        evaluation,
        committee=replace(committee, reviews=reviews),
        novelty=replace(judged_novelty, judgement=judgement),
    )


def test_all_four_modules_enter_the_score_by_their_weights(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    tables.execute(
        "update runs set soundness_weight = 1, contribution_weight = 2, committee_weight = 3,"
        " novelty_weight = 4"
    )
    add_evaluation(tables, by_all_modules(judged(0, [4.0], [0]), [6.0, 8.0, None], 5))
    row = scores(tables)
    assert (row["committee_0_to_10"], row["novelty_0_to_10"], row["novelty_1_to_5"]) == (
        7.0,
        10.0,
        5.0,
    )
    assert row["score"] == pytest.approx((4 + 2 * 5 + 3 * 7 + 4 * 10) / 10)
    assert (row["persona_review_count"], row["unscored_persona_review_count"]) == (3, 1)
    assert row["committee_unscored_share"] == pytest.approx(1 / 3)


def test_an_unscored_committee_or_novelty_leaves_the_others_alone(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    tables.execute("update runs set committee_weight = 1, novelty_weight = 1")
    add_evaluation(tables, by_all_modules(judged(0, [4.0], [1]), [None], None))
    row = scores(tables)
    assert (row["committee_0_to_10"], row["novelty_0_to_10"], row["score"]) == (None, None, 7.0)
    assert (row["committee_unscored_share"], row["novelty_unscored_share"]) == (1.0, 1.0)


def test_an_idea_that_lacks_a_dimension_does_not_lead_by_it(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """Along `clarity` everybody is generous; the second idea was judged along it alone."""
    for number, along in enumerate(({"clarity": 9.0, "novelty": 5.0}, {"clarity": 8.0})):
        evaluation = by_all_modules(judged(number, [4.0], [1]), [None], 3)
        committee = evaluation.committee
        assert committee is not None
        reviews = tuple(
            replace(
                committee.reviews[0],
                dimension=dimension,
                score_0_to_10=along.get(dimension),
                unscored_reason=None if dimension in along else Reason.REFUSED,
            )
            for dimension in ("clarity", "novelty")
        )
        add_evaluation(tables, replace(evaluation, committee=replace(committee, reviews=reviews)))
    found = tables.execute("select committee_0_to_10 from idea_scores order by idea_id").fetchall()
    assert found == [(7.0,), (None,)], "not 7 against 8"


def test_a_committee_that_never_met_is_wholly_unscored_and_unscored_reviews_are_counted_in_the_ranking(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, by_all_modules(judged(0, [4.0], [1]), [], 3))
    add_evaluation(tables, by_all_modules(judged(1, [4.0], [1]), [5.0, None, None], 3))
    shares = tables.execute(
        "select committee_unscored_share from idea_scores order by idea_id"
    ).fetchall()
    assert shares == [(1.0,), (pytest.approx(2 / 3),)]
    assert tables.execute(
        "select unscored_count from group_rankings order by idea_id"
    ).fetchall() == [(0,), (2,)]


def test_an_unscored_method_is_counted_and_not_averaged(tables: duckdb.DuckDBPyConnection) -> None:
    add_evaluation(tables, judged(0, [8.0, None], [1, None, None]))
    row = scores(tables)
    assert (row["soundness_0_to_10"], row["unscored_method_count"]) == (8.0, 1)
    assert (
        row["contribution_0_to_10"],
        row["unscored_comparison_count"],
        row["scored_comparison_count"],
    ) == (10.0, 2, 1)


def test_a_module_without_a_score_does_not_pull_the_other_down(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, judged(0, [None, None], [1, 1]))
    row = scores(tables)
    assert (row["soundness_0_to_10"], row["score"]) == (None, 10.0)


PLACES = (
    "select idea_id, score, score_lower, score_upper, missing, rank, best_rank, worst_rank"
    " from group_rankings order by idea_id"
)


def test_an_idea_that_a_module_did_not_score_has_bounds_and_a_range_of_ranks(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    for evaluation in (
        judged(0, [6], [None]),
        judged(1, [9], [1, 0]),
        judged(2, [2], [0, 0]),
        judged(3, [1], [-1, -1]),
    ):
        add_evaluation(tables, evaluation)
    assert tables.execute(PLACES).fetchall() == [
        ("idea-00000", None, 3.0, 8.0, "contribution", None, 2, 3),
        ("idea-00001", 8.25, 8.25, 8.25, None, 1, None, None),
        ("idea-00002", 3.5, 3.5, 3.5, None, 2, None, None),
        ("idea-00003", 0.5, 0.5, 0.5, None, 3, None, None),
    ]
    assert tables.execute("select coverage_0_to_1, shrunk_score from idea_scores").fetchone() == (
        0.5,
        None,
    )


@settings(max_examples=settings.default.max_examples // 5)  # each adds up to six evaluations
@given(
    given_scores=st.lists(
        st.tuples(st.none() | st.integers(0, 4), st.none() | st.integers(-1, 1)),
        min_size=2,
        max_size=6,
    )
)
def test_a_range_of_ranks_holds_the_place_of_every_completion(
    marts: duckdb.DuckDBPyConnection, given_scores: list[tuple[int | None, int | None]]
) -> None:
    """Each missing score as 0 and as 10, in all combinations, counting those that are ahead."""
    with undone(marts) as connection:
        for number, (soundness, comparison) in enumerate(given_scores):
            value = None if soundness is None else float(soundness)
            add_evaluation(connection, judged(number, [value], [comparison]))
        rows = connection.execute(PLACES).fetchall()
    modules = [
        column
        for column in (
            [None if s is None else float(s) for s, _ in given_scores],
            [None if c is None else 5.0 * (1 + c) for _, c in given_scores],
        )
        if any(value is not None for value in column)
    ]
    whole = [fmean(column) for column in zip(*modules, strict=True) if None not in column]
    for number, (_, score, _, _, missing, rank, best, worst) in enumerate(rows):
        values = [column[number] for column in modules]
        if not modules or None not in values:
            assert (best, worst, missing) == (None, None, None)
            assert rank == (None if not modules else 1 + sum(x > score + 1e-6 for x in whole))
            continue
        others = [
            [[column[other]] if column[other] is not None else [0.0, 10.0] for column in modules]
            for other in range(len(rows))
            if other != number
        ]
        own = [
            fmean(choice)
            for choice in product(
                *([value] if value is not None else [0.0, 10.0] for value in values)
            )
        ]
        ends = [[fmean(choice) for choice in product(*columns)] for columns in others]
        assert rank is None
        assert best == 1 + sum(min(each) > max(own) + 1e-6 for each in ends)
        assert worst == 1 + sum(max(each) > min(own) + 1e-6 for each in ends)


def assessed(
    number: int, group: str | None = "one", repetitions: int = 3, **probabilities: float | None
) -> IdeaEvaluation:
    """An idea that modules scored 2 and 7.5, assessed by these criteria; None: unscored."""
    rows = tuple(
        Assessment(
            criterion=AssessmentCriterion(name),
            probability_0_to_1=value,
            lowest_0_to_1=None if value is None else value - 0.05,
            highest_0_to_1=None if value is None else value + 0.1,
            repetition_count=0 if value is None else repetitions,
            confidence_0_to_3=None if value is None else 2,
            reasons=() if value is None else ("The test decides.",),
            unscored_reason=Reason.REPLY_UNPARSABLE if value is None else None,
            provenance=make_provenance("judge_novelty"),
        )
        for name, value in probabilities.items()
    )
    evaluation = judged(number, [2.0], [1, 0, 1, 0], group)
    return replace(evaluation, assessment=AssessmentEvaluation(assessments=rows, failures=()))


CRITERIA = {"worth_asking": 0.6, "new": 0.2, "decisive_test": 0.5, "feasible": 0.9}


def test_the_score_of_an_assessed_idea_is_ten_times_its_overall_probability(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, assessed(0, overall=0.7, **CRITERIA))
    row = scores(tables)
    assert (row["score"], row["score_lower"], row["score_upper"]) == (7.0, 7.0, 7.0)
    assert (row["score_basis"], row["assessment_requested"], row["missing"]) == (
        "assessment",
        True,
        None,
    )
    assert {f"{name}_0_to_1": value for name, value in CRITERIA.items()}.items() <= row.items()
    spread = [row[f"overall_{end}0_to_1"] for end in ("", "lowest_", "highest_")]
    assert spread == pytest.approx([0.7, 0.65, 0.8])
    assert (row["confidence_0_to_3"], row["evidence_weight"]) == (2, 3 * (1 + 2) / 4)
    assert (row["coverage_0_to_1"], row["soundness_0_to_10"]) == (1.0, 2.0)


def test_weights_of_criteria_take_the_place_of_the_overall_probability(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    tables.execute("update runs set worth_asking_weight = 3, feasible_weight = 1")
    add_evaluation(tables, assessed(0, overall=0.1, **CRITERIA))
    assert scores(tables)["score"] == pytest.approx(10 * (3 * 0.6 + 0.9) / 4)


def test_a_criterion_that_counts_and_is_unscored_leaves_bounds_and_a_range_of_ranks(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    tables.execute("update runs set worth_asking_weight = 3, new_weight = 1")
    add_evaluation(tables, assessed(0, overall=0.5, **CRITERIA | {"new": None}))
    add_evaluation(tables, assessed(1, overall=0.5, **CRITERIA | {"worth_asking": 0.7}))
    add_evaluation(tables, assessed(2, overall=0.5, **CRITERIA | {"worth_asking": 0.1}))
    found = tables.execute(PLACES).fetchall()
    assert found == [
        ("idea-00000", None, pytest.approx(4.5), pytest.approx(7.0), "new", None, 1, 2),
        (
            "idea-00001",
            pytest.approx(5.75),
            pytest.approx(5.75),
            pytest.approx(5.75),
            None,
            1,
            None,
            None,
        ),
        (
            "idea-00002",
            pytest.approx(1.25),
            pytest.approx(1.25),
            pytest.approx(1.25),
            None,
            2,
            None,
            None,
        ),
    ]


def test_the_ranking_page_gets_intervals_of_the_scores_that_it_shows(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """Of criteria the repetitions, of a contribution the mean of its dimensions' bootstraps."""
    add_evaluation(tables, assessed(0, overall=0.7, **CRITERIA | {"new": None}))
    add_evaluation(tables, make_evaluation(1, dimensions=2, compared=25))
    sql = statement("pages", "leaderboard")
    rows = tables.execute(sql, {"run_id": make_run().run_id}).pl().rows(named=True)
    ends = ("lower", "0_to_10", "upper")
    assert [rows[0][f"overall_{end}"] for end in ends] == pytest.approx([6.5, 7.0, 8.0])
    assert [rows[0][f"new_{end}"] for end in ends] == [None, None, None]
    assert [rows[1][f"overall_{end}"] for end in ends] == [None, None, None]
    reviews = "from contribution_reviews where idea_id = 'idea-00001'"
    figures = "avg(novelty_lower_0_to_10), avg(novelty_0_to_10), avg(novelty_upper_0_to_10)"
    expected = tables.execute(f"select {figures} {reviews}").fetchone()
    assert expected == pytest.approx([rows[1][f"contribution_{end}"] for end in ends])
    assert expected[0] < expected[2]


def test_an_unscored_criterion_without_a_weight_leaves_the_score_alone(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, assessed(0, overall=0.4, **CRITERIA | {"new": None}))
    row = scores(tables)
    assert (row["score"], row["new_0_to_1"], row["missing"]) == (4.0, None, None)


def test_an_assessment_that_failed_is_not_made_up_for_by_modules(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, assessed(0, overall=None, **CRITERIA))
    add_evaluation(tables, assessed(1))
    found = tables.execute(PLACES).fetchall()
    assert found == [
        ("idea-00000", None, 0.0, 10.0, "overall", None, 1, 2),
        ("idea-00001", None, 0.0, 10.0, "overall", None, 1, 2),
    ]


def thin_and_thick(tables: duckdb.DuckDBPyConnection) -> None:
    """Soundness alone counts: a 10 by one unsure judgement, a 9 and a 2 by six sure ones each, and
    an idea alone in its group.
    """
    tables.execute("update runs set contribution_weight = 0")
    for number, soundness, group in (
        (0, [10.0], "one"),
        (1, [9.0] * 6, "one"),
        (2, [2.0] * 6, "one"),
        (3, [8.0], "alone"),
    ):
        add_evaluation(tables, judged(number, list(soundness), [1], group))
    tables.execute("update soundness_reviews set confidence_0_to_3 = 3")
    tables.execute(
        "update soundness_reviews set confidence_0_to_3 = 1 where idea_id = 'idea-00000'"
    )


def test_a_score_that_rests_on_little_is_drawn_toward_its_groups_mean(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    thin_and_thick(tables)
    found = tables.execute(
        "select score, evidence_weight, shrunk_score from idea_scores order by idea_id"
    ).fetchall()
    # The mean of the group is 7; the shares kept are 0.5 / 2.5 and 6 / 8.
    expected = [(10.0, 0.5, 7.6), (9.0, 6.0, 8.5), (2.0, 6.0, 3.25), (8.0, 1.0, 8.0)]
    assert found == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize(("shrink", "ranks"), [(False, [1, 2, 3]), (True, [2, 1, 3])])
def test_thin_evidence_moves_a_rank_only_where_that_is_asked_for(
    shrink: bool, ranks: list[int], tables: duckdb.DuckDBPyConnection
) -> None:
    thin_and_thick(tables)
    rows = tables.execute(
        statement("queries", "ranking_by_scores"), {"run_id": make_run().run_id, "shrink": shrink}
    ).fetchall()
    columns = [column[0] for column in tables.description or ()]
    rank, group, score = (columns.index(name) for name in ("rank", "group", "score"))
    by_idea = sorted((row for row in rows if row[group] == "one"), key=lambda row: -row[score])
    assert [row[rank] for row in by_idea] == ranks
    shown = tables.execute(
        "select rank from group_rankings where \"group\" = 'one' order by idea_id"
    ).fetchall()
    assert shown == [(1,), (2,), (3,)], "the mart ranks by scores as they were measured"


def test_an_idea_with_nothing_scored_has_no_score_rather_than_zero(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, judged(0, [None], [None]))
    assert scores(tables)["score"] is None


def test_a_method_that_was_never_reviewed_counts_as_unscored(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, judged(0, [5.0, 7.0], [1]))
    tables.execute("delete from soundness_reviews where method_id = 'm2'")
    row = scores(tables)
    assert (row["method_count"], row["scored_method_count"], row["unscored_method_count"]) == (
        2,
        1,
        1,
    )


def test_equal_scores_share_a_rank_and_the_unscored_have_none(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    for number, soundness in enumerate([[9.0], [7.0], [7.0], [5.0], [None]]):
        add_evaluation(tables, judged(number, soundness, [None]))
    ranks = tables.execute("select rank from group_rankings order by idea_id").fetchall()
    assert [rank for (rank,) in ranks] == [1, 2, 2, 4, None]


def test_the_order_in_which_scores_are_summed_breaks_no_tie(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    for number, soundness in enumerate([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]):
        add_evaluation(tables, judged(number, soundness, [None]))
    ranks = tables.execute("select rank from group_rankings order by idea_id").fetchall()
    assert ranks == [(1,), (1,)]


def test_ideas_without_a_group_are_ranked_among_themselves(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, judged(0, [9.0], [0], group="one"))
    add_evaluation(tables, judged(1, [8.0], [0], group=None))
    assert tables.execute(
        'select "group", rank from group_rankings order by idea_id'
    ).fetchall() == [("one", 1), (None, 1)]


@settings(max_examples=settings.default.max_examples // 5)  # each adds up to ten evaluations
@given(
    methods=st.lists(
        st.lists(st.none() | st.integers(0, 10), min_size=1, max_size=4), min_size=1, max_size=5
    ),
    random=st.randoms(),
)
def test_ranks_do_not_depend_on_the_order_of_rows(
    marts: duckdb.DuckDBPyConnection, methods: list[list[int | None]], random: Any
) -> None:
    rankings = []
    for _ in range(2):
        with undone(marts) as connection:
            numbered = list(enumerate(methods))
            random.shuffle(numbered)
            for number, given_scores in numbered:
                add_evaluation(
                    connection,
                    judged(
                        number,
                        [None if score is None else float(score) for score in given_scores],
                        [None],
                    ),
                )
            rankings.append(
                connection.execute(
                    "select idea_id, rank, score from group_rankings order by idea_id"
                ).fetchall()
            )
    assert rankings[0] == rankings[1]
    scored = [score for _, _, score in rankings[0] if score is not None]
    assert all(
        rank == 1 + sum(other > score + 1e-6 for other in scored)
        for _, rank, score in rankings[0]
        if score is not None
    )


def test_calls_without_a_price_are_counted_and_not_taken_as_free(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    evaluation = make_evaluation()
    idea_id = evaluation.idea.idea_id
    calls = (
        make_llm_call(idea_id, 0, cost_usd=0.5),
        make_llm_call(idea_id, 1, cost_usd=None),
        make_llm_call(idea_id, 2, cost_usd=0.0, cache_hit=True),
        make_llm_call(
            idea_id, 3, cost_usd=None, prompt_tokens=0, completion_tokens=0, cached_tokens=0
        ),
    )
    add_evaluation(tables, replace(evaluation, llm_calls=calls))
    sql = (
        "select cost_usd, known_price_calls, unknown_price_calls, llm_cache_hits, ideas,"
        " cost_usd_per_idea from run_costs"
    )
    assert tables.execute(sql).fetchall() == [(0.5, 2, 2, 1, 1, 0.5)]


def test_a_run_whose_every_price_is_unknown_has_no_cost_rather_than_none(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    evaluation = make_evaluation()
    add_evaluation(
        tables,
        replace(evaluation, llm_calls=(make_llm_call(evaluation.idea.idea_id, 0, cost_usd=None),)),
    )
    assert tables.execute("select cost_usd, unknown_price_calls from run_costs").fetchall() == [
        (None, 1)
    ]


def test_a_run_without_model_calls_costs_nothing(tables: duckdb.DuckDBPyConnection) -> None:
    add_evaluation(tables, replace(make_evaluation(), llm_calls=()))
    assert tables.execute("select cost_usd, llm_calls from run_costs").fetchall() == [(0.0, 0)]


def test_every_step_that_evaluates_or_ranks_is_on_the_bill_of_its_module(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    evaluation = make_evaluation()
    steps = {step.name: step.package.split(".")[1] for step in STEPS}
    calls = tuple(
        make_llm_call(evaluation.idea.idea_id, n, step=name, cost_usd=0.5)
        for n, name in enumerate(steps)
    )
    add_evaluation(tables, replace(evaluation, llm_calls=calls))
    found = tables.execute(
        "select module, llm_calls, cost_usd_per_idea from module_costs order by module"
    ).fetchall()
    billed = {module: module for module in (*Module, "ranking")}
    billed |= {"judging": "verification", "recommendation": "resources"}
    counted = Counter(billed.get(module, "other") for module in steps.values())
    assert found == [(module, count, 0.5 * count) for module, count in sorted(counted.items())]


def test_costs_per_idea_of_the_modules_add_up_to_that_of_the_run(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    steps = (("extract_methods", "relevance"), ("extract_methods",), ())  # as a bound cut them
    for number, asked in enumerate(steps):
        evaluation = make_evaluation(number)
        calls = tuple(
            make_llm_call(evaluation.idea.idea_id, n, step=step, cost_usd=0.3)
            for n, step in enumerate(asked)
        )
        add_evaluation(tables, replace(evaluation, llm_calls=calls))
    by_module = tables.execute(
        "select module, ideas, llm_calls_per_idea, cost_usd_per_idea from module_costs order by 1"
    ).fetchall()
    assert by_module == [
        ("contribution", 1, 1 / 3, pytest.approx(0.1)),
        ("soundness", 2, 2 / 3, pytest.approx(0.2)),
    ]
    assert tables.execute("select cost_usd_per_idea from run_costs").fetchall() == [
        (pytest.approx(0.3),)
    ]


def test_cached_replies_do_not_flatter_the_latency(tables: duckdb.DuckDBPyConnection) -> None:
    evaluation = make_evaluation()
    idea_id = evaluation.idea.idea_id
    calls = tuple(
        make_llm_call(idea_id, 3 * n, latency_seconds=float(n), cache_hit=n == 0) for n in range(5)
    )
    add_evaluation(tables, replace(evaluation, llm_calls=calls))
    assert tables.execute(
        "select calls, cache_hits, p50_seconds from latency_by_step"
    ).fetchall() == [(4, 1, 2.5)]


def test_source_health_counts_failures_by_endpoint(tables: duckdb.DuckDBPyConnection) -> None:
    evaluation = make_evaluation()
    idea_id = evaluation.idea.idea_id
    calls = (
        make_api_call(idea_id, 0),
        make_api_call(idea_id, 3, status=429, failure_reason=Reason.RATE_LIMITED),
    )
    add_evaluation(tables, replace(evaluation, api_calls=calls))
    sql = (
        "select endpoint, requests, answered, failed, rate_limited, failed_share from source_health"
    )
    assert tables.execute(sql).fetchall() == [("paper/search", 2, 1, 1, 1, 0.5)]


def with_votes(
    asked: Sequence[Sequence[float | None]], step: str = "judge_novelty"
) -> IdeaEvaluation:
    """An evaluation in which the judges of `step` were asked these questions; None: a judge
    refused.
    """
    answers = [[Reason.REFUSED if score is None else score for score in scores] for scores in asked]
    votes = [
        make_judge_votes(make_provenance(step, n), *given_scores)
        for n, given_scores in enumerate(answers)
    ]
    return replace(make_evaluation(), judge_votes=tuple(vote for cast in votes for vote in cast))


def agreements(connection: duckdb.DuckDBPyConnection, columns: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"select {columns} from judge_agreement order by step").fetchall()


def test_votes_of_judges_are_counted_and_only_items_with_two_scores_are_compared(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(
        tables, with_votes([[6, 7, 4.5], [5, 5, None], [8, None, None], [None, None, None]])
    )
    counted = (
        "step, questions, items, judges, votes, scored_votes, unscored_votes, compared_items,"
        " same_score_share"
    )
    assert agreements(tables, counted) == [("judge_novelty", 4, 3, 3, 12, 6, 6, 2, 0.5)]
    (difference,) = agreements(tables, "mean_absolute_difference")[0]
    assert difference == pytest.approx((1 + 1.5 + 2.5 + 0) / 4)


def test_items_of_one_question_are_told_apart_and_steps_too(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    asked = make_provenance("compare_paper")
    votes = (
        *make_judge_votes(asked, 1, 1, item="P1/d1"),
        *make_judge_votes(asked, 1, -1, item="P1/d2"),
        make_judge_votes(asked, 1, 1, Reason.REFUSED)[2],
        *make_judge_votes(make_provenance("judge_novelty"), 3, 3),
    )
    add_evaluation(tables, replace(make_evaluation(), judge_votes=votes))
    found = agreements(
        tables, "step, questions, items, unscored_votes, same_score_share, mean_absolute_difference"
    )
    assert found == [("compare_paper", 1, 2, 1, 0.5, 1.0), ("judge_novelty", 1, 1, 0, 1.0, 0.0)]


def test_without_two_scores_for_anything_nothing_is_compared(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    add_evaluation(tables, with_votes([[6, None], [None, None]]))
    compared = "compared_items, same_score_share, mean_absolute_difference, krippendorff_alpha"
    assert agreements(tables, compared) == [(0, None, None, None)]


def test_a_run_without_several_judges_has_no_agreement(tables: duckdb.DuckDBPyConnection) -> None:
    add_evaluation(tables, make_evaluation())
    assert agreements(tables, "*") == []


SCORES = st.lists(
    st.none() | st.integers(-4, 20).map(lambda halves: halves / 2), min_size=2, max_size=4
)


@given(st.lists(SCORES, min_size=1, max_size=8))
def test_the_agreement_of_judges_is_krippendorffs_alpha(asked: list[list[float | None]]) -> None:
    with in_memory() as connection:
        connection.execute(TABLE["judge_votes"].ddl)
        connection.execute(
            f"create view judge_agreement as {statement('marts', 'judge_agreement')}"
        )
        add(connection, "judge_votes", rows_of(with_votes(asked))["judge_votes"])
        ((alpha, difference),) = agreements(
            connection, "krippendorff_alpha, mean_absolute_difference"
        )
    compared = [
        scores
        for scores in ([score for score in row if score is not None] for row in asked)
        if len(scores) > 1
    ]
    expected = (
        krippendorff_alpha(asked, "interval", resamples=20).value if len(compared) > 1 else math.nan
    )
    assert alpha == (None if math.isnan(expected) else pytest.approx(expected))
    pairs = [
        abs(first - second) for scores in compared for first, second in combinations(scores, 2)
    ]
    assert difference == (pytest.approx(fmean(pairs)) if pairs else None)


def test_a_data_set_stands_once_with_its_own_words_beside_those_of_others(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    evaluation = make_evaluation(1)
    own = evaluation.papers[0]
    unknown = replace(evaluation.resources[0], name="Alp", resource_paper_id=None)
    spelled = replace(unknown, name="ALP", paper_id=evaluation.papers[3].paper_id)
    add_evaluation(tables, replace(evaluation, resources=(*evaluation.resources, unknown, spelled)))
    found = tables.execute(
        "select * exclude (run_id, idea_id) from data_sets order by 1"
    ).fetchall()
    assert [row[:4] for row in found] == [
        (own.paper_id, own.title, "We present a corpus of things.", 2),
        (None, "Alp", None, 2),
    ]
    assert [each["quote"] for each in found[0][4]] == ["We train on things."] * 2


def test_what_papers_used_is_found_by_paper_as_the_latest_evaluation_has_it(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    first = make_evaluation(1)
    later = replace(
        first,
        run_id=RunId("run-b"),
        resources=tuple(replace(row, section="Later") for row in first.resources),
        finished_at=first.finished_at + timedelta(days=1),
    )
    add_evaluation(tables, first)
    add_evaluation(tables, later)
    asked = [first.papers[1].paper_id, PaperId("unknown")]
    found = resources_of_papers(tables, asked)
    assert [(row.kind, row.section) for row in found] == [
        ("data_set", "Later"),
        ("metric", "Later"),
    ]
    assert found[1].provenance is not None
    assert resources_of_papers(tables, []) == ()
