"""Scores, ranks and costs: what is unscored is counted beside, never averaged in."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import combinations, product
from statistics import fmean
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.base import Noun, replace
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
from warehouse.catalogue.connection import Connection, in_memory
from warehouse.kinds.runs.landing import RUNS
from warehouse.lake import rows_in
from warehouse.parquet import arrow_table
from warehouse.queries import resources_of_papers
from warehouse.statements import MARTS, names, statement, table_statement
from warehouse.units.publish import head_rows

NounT = TypeVar("NounT", bound=Noun)


@pytest.fixture(scope="module")
def marts() -> Iterator[Connection]:
    """Every table and mart, with one run that has no ideas. To be changed by `undone` alone."""
    with in_memory() as connection:
        for table in TABLES:
            connection.execute(table.ddl)
        for name in MARTS:
            connection.execute(f"create view {name} as {statement('marts', name)}")
        add(connection, "runs", head_rows(RUNS, make_run(), "digest").to_pylist())
        yield connection


@contextmanager
def undone(connection: Connection) -> Iterator[Connection]:
    """A transaction that leaves nothing."""
    connection.begin()
    try:
        yield connection
    finally:
        connection.rollback()


@pytest.fixture
def tables(marts: Connection) -> Iterator[Connection]:
    with undone(marts) as connection:
        yield connection


def add(connection: Connection, table: str, rows: list[dict[str, Any]]) -> None:
    connection.register("incoming", arrow_table(TABLE[table], rows))
    connection.execute(table_statement("insert", table=table, source="incoming"))
    connection.unregister("incoming")


def add_evaluation(connection: Connection, evaluation: IdeaEvaluation) -> None:
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
    sizes = {"methods": max(len(soundness), 1), "dimensions": 1, "compared": len(comparisons)}
    base = make_evaluation(number, idea=make_idea(number, group=group), **sizes)
    assert base.soundness is not None
    assert base.contribution is not None
    reviewed = zip(base.soundness.reviews, soundness, strict=False)
    compared = zip(base.contribution.comparisons, comparisons, strict=True)
    return replace(
        base,
        soundness=replace(
            base.soundness,
            reviews=tuple(scored(each, "score_0_to_10", score) for each, score in reviewed),
            methods=base.soundness.methods[: len(soundness)],
        ),
        contribution=replace(
            base.contribution,
            comparisons=tuple(scored(each, "score", score) for each, score in compared),
            reviews=tuple(
                replace(each, novelty_0_to_10=novelty) for each in base.contribution.reviews
            ),
        ),
    )


def scored(noun: NounT, column: str, score: float | None) -> NounT:
    """The noun with this score; None: a judge refused."""
    return replace(
        noun, **{column: score}, unscored_reason=Reason.REFUSED if score is None else None
    )


def test_marts_of_the_contract_are_the_files_there_are() -> None:
    assert set(MARTS) == set(names("marts"))


def test_authors_and_concepts_are_those_of_the_papers_and_unknown_is_no_row(
    tables: Connection,
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


def by_all_modules(
    evaluation: IdeaEvaluation, personas: list[float | None], novelty: int | None
) -> IdeaEvaluation:
    """`evaluation` with exactly these persona scores and this judgement of novelty."""
    committee = make_committee(0, evaluation.papers)
    judged_novelty = make_novelty(0, evaluation.papers)
    reviews = tuple(
        scored(replace(committee.reviews[0], persona_id=f"p{n}"), "score_0_to_10", score)
        for n, score in enumerate(personas)
    )
    judgement = scored(judged_novelty.judgement, "score_1_to_5", novelty)
    return replace(
        evaluation,
        committee=replace(committee, reviews=reviews),
        novelty=replace(judged_novelty, judgement=judgement),
    )


def test_an_idea_that_lacks_a_dimension_does_not_lead_by_it(tables: Connection) -> None:
    """Along `clarity` everybody is generous; the second idea was judged along it alone."""
    for number, along in enumerate(({"clarity": 9.0, "novelty": 5.0}, {"clarity": 8.0})):
        evaluation = by_all_modules(judged(number, [4.0], [1]), [None], 3)
        committee = evaluation.committee
        assert committee is not None
        reviews = tuple(
            scored(replace(committee.reviews[0], dimension=name), "score_0_to_10", along.get(name))
            for name in ("clarity", "novelty")
        )
        add_evaluation(tables, replace(evaluation, committee=replace(committee, reviews=reviews)))
    found = tables.execute("select committee_0_to_10 from idea_scores order by idea_id").fetchall()
    assert found == [(7.0,), (None,)], "not 7 against 8"


def test_a_committee_that_never_met_is_wholly_unscored_and_unscored_reviews_are_counted_in_the_ranking(
    tables: Connection,
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


PLACES = (
    "select idea_id, score, round(score_lower, 6), round(score_upper, 6), missing, rank, best_rank,"
    " worst_rank from group_rankings order by idea_id"
)


def test_an_idea_that_a_module_did_not_score_has_bounds_and_a_range_of_ranks(
    tables: Connection,
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
    marts: Connection, given_scores: list[tuple[int | None, int | None]]
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


def test_a_criterion_that_counts_and_is_unscored_leaves_bounds_and_a_range_of_ranks(
    tables: Connection,
) -> None:
    tables.execute("update runs set worth_asking_weight = 3, new_weight = 1")
    add_evaluation(tables, assessed(0, overall=0.5, **CRITERIA | {"new": None}))
    add_evaluation(tables, assessed(1, overall=0.5, **CRITERIA | {"worth_asking": 0.7}))
    add_evaluation(tables, assessed(2, overall=0.5, **CRITERIA | {"worth_asking": 0.1}))
    assert tables.execute(PLACES).fetchall() == [
        ("idea-00000", None, 4.5, 7.0, "new", None, 1, 2),
        ("idea-00001", pytest.approx(5.75), 5.75, 5.75, None, 1, None, None),
        ("idea-00002", pytest.approx(1.25), 1.25, 1.25, None, 2, None, None),
    ]


SCORES: dict[str, tuple[str, IdeaEvaluation, dict[str, object]]] = {
    "a score is the weighted mean of both modules": (
        "",
        judged(0, [4.0, 8.0], [1, 0, 1, 0]),
        {"soundness_0_to_10": 6.0, "contribution_0_to_10": 7.5, "score": 6.75},
    ),
    "weights of the run count": (
        "update runs set soundness_weight = 3",
        judged(0, [4.0], [1]),
        {"score": (3 * 4 + 10) / 4},
    ),
    "the contribution is that of the closest works, and the mean stays beside it": (
        "",
        judged(0, [4.0], [1, 1, 1, -1], novelty=3.0),
        {"contribution_0_to_10": 3.0, "mean_comparison_score": 0.5},
    ),
    "dimensions that too few works address give no contribution": (
        "update contribution_reviews set novelty_0_to_10 = null",
        judged(0, [4.0, 8.0], [1, 0, 1, 0]),
        {"contribution_0_to_10": None},
    ),
    "a score is as sure as its least sure module, and an unscored method counts as 0": (
        "update soundness_reviews set confidence_0_to_3 = case method_id when 'm1' then 3 when 'm2'"
        " then 2 end; update contribution_reviews set confidence_0_to_3 = 1",
        judged(0, [4.0, 8.0, None], [1, 1]),
        {
            "soundness_confidence_0_to_3": 2,
            "contribution_confidence_0_to_3": 1,
            "confidence_0_to_3": 1,
        },
    ),
    "all four modules enter the score by their weights": (
        "update runs set soundness_weight = 1, contribution_weight = 2, committee_weight = 3,"
        " novelty_weight = 4",
        by_all_modules(judged(0, [4.0], [0]), [6.0, 8.0, None], 5),
        {
            "committee_0_to_10": 7.0,
            "novelty_0_to_10": 10.0,
            "novelty_1_to_5": 5.0,
            "score": (4 + 2 * 5 + 3 * 7 + 4 * 10) / 10,
            "persona_review_count": 3,
            "unscored_persona_review_count": 1,
            "committee_unscored_share": 1 / 3,
        },
    ),
    "an unscored committee or novelty leaves the others alone": (
        "update runs set committee_weight = 1, novelty_weight = 1",
        by_all_modules(judged(0, [4.0], [1]), [None], None),
        {
            "committee_0_to_10": None,
            "novelty_0_to_10": None,
            "score": 7.0,
            "committee_unscored_share": 1.0,
            "novelty_unscored_share": 1.0,
        },
    ),
    "an unscored method or comparison is counted and not averaged": (
        "",
        judged(0, [8.0, None], [1, None, None]),
        {
            "soundness_0_to_10": 8.0,
            "unscored_method_count": 1,
            "contribution_0_to_10": 10.0,
            "unscored_comparison_count": 2,
            "scored_comparison_count": 1,
        },
    ),
    "a module without a score does not pull the other down": (
        "",
        judged(0, [None, None], [1, 1]),
        {"soundness_0_to_10": None, "score": 10.0},
    ),
    "an idea with nothing scored has no score rather than zero": (
        "",
        judged(0, [None], [None]),
        {"score": None},
    ),
    "a method that was never reviewed counts as unscored": (
        "delete from soundness_reviews where method_id = 'm2'",
        judged(0, [5.0, 7.0], [1]),
        {"method_count": 2, "scored_method_count": 1, "unscored_method_count": 1},
    ),
    "the score of an assessed idea is ten times its overall probability": (
        "",
        assessed(0, overall=0.7, **CRITERIA),
        {f"{name}_0_to_1": value for name, value in CRITERIA.items()}
        | dict.fromkeys(("score", "score_lower", "score_upper"), 7.0)
        | {"score_basis": "assessment", "assessment_requested": True, "missing": None}
        | {"overall_0_to_1": 0.7, "overall_lowest_0_to_1": 0.65, "overall_highest_0_to_1": 0.8}
        | {"confidence_0_to_3": 2, "evidence_weight": 3 * (1 + 2) / 4}
        | {"coverage_0_to_1": 1.0, "soundness_0_to_10": 2.0},
    ),
    "weights of criteria take the place of the overall probability": (
        "update runs set worth_asking_weight = 3, feasible_weight = 1",
        assessed(0, overall=0.1, **CRITERIA),
        {"score": 10 * (3 * 0.6 + 0.9) / 4},
    ),
    "an unscored criterion without a weight leaves the score alone": (
        "",
        assessed(0, overall=0.4, **CRITERIA | {"new": None}),
        {"score": 4.0, "new_0_to_1": None, "missing": None},
    ),
}


@pytest.mark.parametrize(("sql", "evaluation", "expected"), SCORES.values(), ids=SCORES)
def test_scores_are_made_of_what_was_judged(
    sql: str, evaluation: IdeaEvaluation, expected: dict[str, object], tables: Connection
) -> None:
    add_evaluation(tables, evaluation)
    tables.execute(sql)
    (row,) = rows_in(tables, "from idea_scores")
    assert {name: row[name] for name in expected} == {
        name: pytest.approx(value) if isinstance(value, float) else value
        for name, value in expected.items()
    }


RANKS = {
    "equal scores share a rank, and the unscored have none": (
        [judged(n, [score], [None]) for n, score in enumerate([9.0, 7.0, 7.0, 5.0, None])],
        [("one", 1), ("one", 2), ("one", 2), ("one", 4), ("one", None)],
    ),
    "the order in which scores are summed breaks no tie": (
        [judged(0, [0.1, 0.2, 0.3], [None]), judged(1, [0.3, 0.2, 0.1], [None])],
        [("one", 1), ("one", 1)],
    ),
    "ideas without a group are ranked among themselves": (
        [judged(0, [9.0], [0], group="one"), judged(1, [8.0], [0], group=None)],
        [("one", 1), (None, 1)],
    ),
}


@pytest.mark.parametrize(("evaluations", "expected"), RANKS.values(), ids=RANKS)
def test_ideas_are_ranked_within_their_group(
    evaluations: list[IdeaEvaluation], expected: list[object], tables: Connection
) -> None:
    for evaluation in evaluations:
        add_evaluation(tables, evaluation)
    found = tables.execute('select "group", rank from group_rankings order by idea_id').fetchall()
    assert found == expected


def test_the_ranking_page_gets_intervals_of_the_scores_that_it_shows(tables: Connection) -> None:
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


def test_an_assessment_that_failed_is_not_made_up_for_by_modules(tables: Connection) -> None:
    add_evaluation(tables, assessed(0, overall=None, **CRITERIA))
    add_evaluation(tables, assessed(1))
    found = tables.execute(PLACES).fetchall()
    assert found == [
        ("idea-00000", None, 0.0, 10.0, "overall", None, 1, 2),
        ("idea-00001", None, 0.0, 10.0, "overall", None, 1, 2),
    ]


def thin_and_thick(tables: Connection) -> None:
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


def test_a_score_that_rests_on_little_is_drawn_toward_its_groups_mean(tables: Connection) -> None:
    thin_and_thick(tables)
    found = tables.execute(
        "select score, evidence_weight, shrunk_score from idea_scores order by idea_id"
    ).fetchall()
    # The mean of the group is 7; the shares kept are 0.5 / 2.5 and 6 / 8.
    expected = [(10.0, 0.5, 7.6), (9.0, 6.0, 8.5), (2.0, 6.0, 3.25), (8.0, 1.0, 8.0)]
    assert found == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize(("shrink", "ranks"), [(False, [1, 2, 3]), (True, [2, 1, 3])])
def test_thin_evidence_moves_a_rank_only_where_that_is_asked_for(
    shrink: bool, ranks: list[int], tables: Connection
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


@settings(max_examples=settings.default.max_examples // 5)  # each adds up to ten evaluations
@given(
    methods=st.lists(
        st.lists(st.none() | st.integers(0, 10), min_size=1, max_size=4), min_size=1, max_size=5
    ),
    random=st.randoms(),
)
def test_ranks_do_not_depend_on_the_order_of_rows(
    marts: Connection, methods: list[list[int | None]], random: Any
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


NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0}
PRICES: dict[str, tuple[list[dict[str, Any]], tuple[object, ...]]] = {
    "calls without a price are counted and not taken as free": (
        [
            {"cost_usd": 0.5},
            {"cost_usd": None},
            {"cost_usd": 0.0, "cache_hit": True},
            {"cost_usd": None, **NO_TOKENS},
        ],
        (0.5, 2, 2, 1, 1, 0.5),
    ),
    "a run whose every price is unknown has no cost rather than none": (
        [{"cost_usd": None}],
        (None, 0, 1, 0, 1, None),
    ),
    "a run without model calls costs nothing": ([], (0.0, 0, 0, 0, 1, 0.0)),
}


@pytest.mark.parametrize(("calls", "expected"), PRICES.values(), ids=PRICES)
def test_the_bill_of_a_run_tells_known_from_unknown_prices(
    calls: list[dict[str, Any]], expected: tuple[object, ...], tables: Connection
) -> None:
    evaluation = make_evaluation()
    made = (make_llm_call(evaluation.idea.idea_id, n, **call) for n, call in enumerate(calls))
    add_evaluation(tables, replace(evaluation, llm_calls=tuple(made)))
    sql = (
        "select cost_usd, known_price_calls, unknown_price_calls, llm_cache_hits, ideas,"
        " cost_usd_per_idea from run_costs"
    )
    assert tables.execute(sql).fetchall() == [expected]


def test_every_step_that_evaluates_or_ranks_is_on_the_bill_of_its_module(
    tables: Connection,
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


def test_costs_per_idea_of_the_modules_add_up_to_that_of_the_run(tables: Connection) -> None:
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


def test_cached_replies_do_not_flatter_the_latency(tables: Connection) -> None:
    evaluation = make_evaluation()
    idea_id = evaluation.idea.idea_id
    calls = tuple(
        make_llm_call(idea_id, 3 * n, latency_seconds=float(n), cache_hit=n == 0) for n in range(5)
    )
    add_evaluation(tables, replace(evaluation, llm_calls=calls))
    assert tables.execute(
        "select calls, cache_hits, p50_seconds from latency_by_step"
    ).fetchall() == [(4, 1, 2.5)]


def test_source_health_counts_failures_by_endpoint(tables: Connection) -> None:
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


def agreements(connection: Connection, columns: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"select {columns} from judge_agreement order by step").fetchall()


SCORES_OF_ONE_ITEM = st.lists(
    st.none() | st.integers(-4, 20).map(lambda halves: halves / 2), min_size=2, max_size=4
)


ASKED = make_provenance("compare_paper")
OF_TWO_STEPS = (
    *make_judge_votes(ASKED, 1, 1, item="P1/d1"),
    *make_judge_votes(ASKED, 1, -1, item="P1/d2"),
    make_judge_votes(ASKED, 1, 1, Reason.REFUSED)[2],
    *make_judge_votes(make_provenance("judge_novelty"), 3, 3),
)
AGREEMENTS: dict[str, tuple[IdeaEvaluation, str, list[tuple[object, ...]]]] = {
    "votes are counted, and only items with two scores are compared": (
        with_votes([[6, 7, 4.5], [5, 5, None], [8, None, None], [None, None, None]]),
        "step, questions, items, judges, votes, scored_votes, unscored_votes, compared_items,"
        " same_score_share, mean_absolute_difference",
        [("judge_novelty", 4, 3, 3, 12, 6, 6, 2, 0.5, (1 + 1.5 + 2.5 + 0) / 4)],
    ),
    "items of one question are told apart, and steps too": (
        replace(make_evaluation(), judge_votes=OF_TWO_STEPS),
        "step, questions, items, unscored_votes, same_score_share, mean_absolute_difference",
        [("compare_paper", 1, 2, 1, 0.5, 1.0), ("judge_novelty", 1, 1, 0, 1.0, 0.0)],
    ),
    "without two scores for anything nothing is compared": (
        with_votes([[6, None], [None, None]]),
        "compared_items, same_score_share, mean_absolute_difference, krippendorff_alpha",
        [(0, None, None, None)],
    ),
    "a run without several judges has no agreement": (make_evaluation(), "*", []),
}


@pytest.mark.parametrize(("evaluation", "columns", "expected"), AGREEMENTS.values(), ids=AGREEMENTS)
def test_agreement_is_of_what_several_judges_scored(
    evaluation: IdeaEvaluation, columns: str, expected: list[tuple[object, ...]], tables: Connection
) -> None:
    add_evaluation(tables, evaluation)
    assert agreements(tables, columns) == expected


@given(st.lists(SCORES_OF_ONE_ITEM, min_size=1, max_size=8))
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
    tables: Connection,
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
    tables: Connection,
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
