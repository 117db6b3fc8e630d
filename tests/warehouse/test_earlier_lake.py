"""A lake that an earlier version published is read as it is,
and grows with the next publication.
"""

import shutil
from pathlib import Path

import duckdb
import pytest

from schemas.identifiers import IdeaId, RunId
from schemas.tables import TABLE
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.earlier_lake import LATER_COLUMNS, make_earlier, make_landing_earlier
from tests.support.evaluations import make_idea, make_run
from warehouse.catalogue.definitions import held_columns
from warehouse.export import export_lake
from warehouse.kinds.runs.landing import RUNS, land, reuse
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.queries import open_queries, run_sql
from warehouse.reading import LakeReading
from warehouse.statements import MARTS
from warehouse.units.publish import publish
from warehouse.verify.verify import verify

pytestmark = pytest.mark.long
EARLIER, NEW = RunId("run-a"), RunId("run-b")
MODULES = "soundness,contribution,committee,novelty"


def publish_idea(layout: Layout, run_id: str) -> None:
    land(layout, make_full_evaluation(0, run_id=run_id))
    assert publish(layout, RUNS, make_run(run_id, modules=MODULES)).published


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Not to be changed."""
    layout = Layout(tmp_path_factory.mktemp("earlier"))
    publish_idea(layout, EARLIER)
    make_earlier(layout)
    return layout


def test_an_earlier_lake_answers_every_question_and_is_left_as_it_was(earlier: Layout) -> None:
    with open_queries(earlier) as queries:
        before = queries.connection.execute("from ducklake_current_snapshot('lake')").fetchall()
        cost = queries.run_cost(EARLIER)
        review = queries.idea_review(EARLIER, IdeaId("idea-00000"))
        assert queries.judge_agreement(EARLIER) == queries.dropped_parameters(EARLIER) == ()
        assert "judge_votes" not in held_columns(queries.connection)
        for mart in MARTS:
            queries.connection.execute(f"from {mart}").fetchall()
    assert (cost.llm_calls, cost.thinking_tokens, cost.unknown_thinking_calls) == (6, None, 6)
    assert (len(review.evaluation.llm_calls), review.evaluation.judge_votes) == (6, ())
    with open_reader(earlier) as connection:
        assert connection.execute("from ducklake_current_snapshot('lake')").fetchall() == before


def test_the_console_shows_what_an_earlier_lake_lacks_as_empty(earlier: Layout) -> None:
    assert run_sql(earlier, "select count(*) as n from judge_votes") == [{"n": 0}]
    assert run_sql(earlier, "select distinct parameters_dropped from llm_calls") == [
        {"parameters_dropped": None}
    ]


def test_a_publication_into_an_earlier_lake_brings_it_in_line_also_for_a_reader_that_stays_open(
    earlier: Layout, tmp_path: Path
) -> None:
    layout = Layout(shutil.copytree(earlier.root, tmp_path / "grown"))
    reading = LakeReading(layout)
    try:
        with reading.queries() as queries:
            assert queries.judge_agreement(EARLIER) == ()
        publish_idea(layout, NEW)
        with reading.queries() as queries:
            assert len(queries.judge_agreement(NEW)) == 4
            assert queries.judge_agreement(EARLIER) == ()
            assert queries.run_cost(EARLIER).llm_calls == 6
    finally:
        reading.close()
    with open_reader(layout) as connection:
        assert "judge_votes" in held_columns(connection)
    votes = run_sql(layout, "select run_id, count(*) as n from judge_votes group by run_id")
    assert votes == [{"run_id": NEW, "n": len(make_full_evaluation().judge_votes)}]


def test_an_earlier_lake_can_be_exported(earlier: Layout, tmp_path: Path) -> None:
    rows = export_lake(earlier, tmp_path / "new" / "assay.duckdb")
    assert (rows["llm_calls"], rows["judge_votes"]) == (6, 0)
    with duckdb.connect(str(tmp_path / "new" / "assay.duckdb"), read_only=True) as connection:
        assert connection.execute(
            "select parameters_dropped from llm_calls limit 1"
        ).fetchall() == [(None,)]
        assert connection.execute("select llm_calls from run_costs").fetchall() == [(6,)]


def test_an_earlier_lake_is_verified_by_what_it_holds(earlier: Layout) -> None:
    (problem,) = verify(earlier).problems
    votes = len(make_full_evaluation().judge_votes)
    assert (
        problem
        == f"run run-a: 0 rows of judge_votes are published, its receipts say {votes}; run it again"
        " to publish it anew"
    )


def test_rows_landed_by_an_earlier_version_are_published_and_reused(layout: Layout) -> None:
    landed = land(layout, make_full_evaluation(0, run_id=EARLIER))
    make_landing_earlier(layout)
    assert publish(layout, RUNS, make_run(EARLIER, modules=MODULES)).published
    reuse(layout, landed.evaluation_key, EARLIER, NEW, make_idea(0))
    assert publish(layout, RUNS, make_run(NEW, modules=MODULES)).published
    with open_queries(layout) as queries:
        papers = queries.idea_review(NEW, IdeaId("idea-00000")).evaluation.papers
    assert {paper.version_urls for paper in papers} == {()}


@pytest.mark.parametrize(("table", "names"), LATER_COLUMNS.items())
def test_later_columns_may_be_null(table: str, names: tuple[str, ...]) -> None:
    columns = {column.name: column for column in TABLE[table].columns}
    assert [name for name in names if not columns[name].nullable] == []
