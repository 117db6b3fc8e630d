"""What the pages about cost, sources, quality and SQL say."""

from pathlib import Path

import pytest

from schemas.identifiers import RunId
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.dashboard import open_page, words
from tests.support.evaluations import make_run
from tests.support.report_lake import publish_validated_report_lake
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.mark.parametrize("view", ["By step", "Over time", "Latency", "Per idea", "Another model"])
def test_every_part_of_cost_opens_by_its_address(view: str, warehouse: Warehouse) -> None:
    page = open_page("cost", warehouse, run="run-a", view=view)
    assert not page.error
    assert page.radio(key="choose_view").value == view
    assert page.query_params["view"] == [view] or page.query_params["view"] == view


def test_ideas_with_unknown_price_are_counted_beside_the_distribution(warehouse: Warehouse) -> None:
    assert "In no column: 1 idea with a call of unknown price." in words(
        open_page("cost", warehouse, view="Per idea")
    )


def test_costs_of_ideas_stand_in_bins_of_which_none_is_left_out(warehouse: Warehouse) -> None:
    with warehouse.queries() as queries:
        bins = queries.page_frame("cost_per_idea", run_id="run-a", bins=30)
        ideas = len(queries.idea_scores(RunId("run-a")))
    known = bins.drop_nulls("bin")
    assert known["bin"].to_list() == list(range(30))
    assert (known["ideas"] == 0).any()
    assert bins["ideas"].sum() == ideas


def test_hostile_titles_stay_text(warehouse: Warehouse) -> None:
    page = open_page("cost", warehouse, view="Per idea")
    assert any("<script>" in table.value.to_csv() for table in page.dataframe)
    assert not any("<script>" in part.value for part in [*page.markdown, *page.caption])


def test_own_prices_tell_what_the_run_would_have_cost(warehouse: Warehouse) -> None:
    page = open_page(
        "cost",
        warehouse,
        view="Another model",
        prompt_price="10",
        completion_price="20",
        cached_price="0",
    )
    rows = page.dataframe[0].value.set_index("model")["cost_usd"]
    assert rows["Your prices"] == pytest.approx(24 * ((1200 - 200) * 10 + 300 * 20) / 1e6)
    assert any(name.startswith("this run (6 calls without a price)") for name in rows.index)


def test_sources_tell_requests_waiting_and_what_stayed_unanswered(warehouse: Warehouse) -> None:
    page = open_page("sources", warehouse)
    told = {metric.label: metric.value for metric in page.metric}
    assert told["Requests sent"] == "20"
    assert told["From a cache"] == "10"
    assert "the source took too long" in words(page)


@pytest.mark.parametrize("view", ["Checks", "Unscored", "Drift", "Judges"])
def test_every_part_of_quality_opens_by_its_address(view: str, warehouse: Warehouse) -> None:
    page = open_page("quality", warehouse, view=view)
    assert page.radio(key="choose_view").value == view


def test_quality_offers_the_data_docs_of_a_run_once_they_are_there(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    page = open_page("quality", warehouse, view="Checks")
    assert not page.get("download_button")
    assert any("assay warehouse validate" in code.value for code in page.code)
    validated = publish_validated_report_lake(tmp_path / "lake")
    page = open_page("quality", validated, view="Checks")
    assert [button.proto.label for button in page.get("download_button")] == ["Download Data Docs"]


def test_an_address_that_names_a_view_that_is_gone_shows_the_first_one(
    warehouse: Warehouse,
) -> None:
    page = open_page("quality", warehouse, view="<script>")
    assert page.selectbox(key="choose_run").value == "run-a"


def test_sql_answers_the_address_and_offers_the_answer(warehouse: Warehouse) -> None:
    page = open_page("sql", warehouse, sql='select idea_id, title from ideas where "group" is null')
    answer = page.dataframe[-1].value
    assert list(answer["idea_id"]) == ["nothing-scored"]
    assert "1 row, 2 columns" in words(page)


@pytest.mark.parametrize(
    "sql",
    ["drop table ideas", "select * from read_csv('/etc/passwd')", "select", "select 1; select 2"],
)
def test_sql_refuses_in_one_line(sql: str, warehouse: Warehouse) -> None:
    page = open_page("sql", warehouse, sql=sql)
    assert len(page.error) == 1


def test_sql_marks_the_wrong_place_and_writes_the_name_that_was_meant(warehouse: Warehouse) -> None:
    page = open_page("sql", warehouse, sql="select idea_id,\n  'ü', titel from ideas")
    assert "titel" in page.error[0].value
    assert page.code[0].value == "  'ü', titel from ideas\n       ^^^^^"
    assert "Line 2, column 8." in words(page)
    page.button(key="mend_0").click().run()
    assert not page.error
    assert page.text_area(key="sql").value == "select idea_id,\n  'ü', title from ideas"


def test_sql_shows_the_columns_of_an_answer_without_rows(warehouse: Warehouse) -> None:
    page = open_page("sql", warehouse, sql="select idea_id, title from ideas where false")
    assert list(page.dataframe[-1].value.columns) == ["idea_id", "title"]
    assert "0 rows, 2 columns" in words(page)


def test_sql_writes_names_of_tables_and_columns(warehouse: Warehouse) -> None:
    page = open_page("sql", warehouse, sql="select title from")
    names = page.selectbox(key="name")
    assert any(option.startswith("ideas.title: ") for option in names.options)
    names.set_value("ideas").run()
    assert page.text_area(key="sql").value == "select title from ideas"
    assert not page.error


def test_every_saved_example_is_answered(warehouse: Warehouse) -> None:
    page = open_page("sql", warehouse)
    for name in page.selectbox(key="example").options:
        page.selectbox(key="example").set_value(name).run()
        assert not page.exception
        assert not page.error, name


def test_the_judges_page_shows_agreement_and_the_cost_page_unknown_thinking(tmp_path) -> None:
    full = Warehouse(tmp_path)
    land(full, make_full_evaluation(1))
    modules = "soundness,contribution,committee,novelty"
    assert publish(full, RUNS, make_run(modules=modules)).published
    page = open_page("quality", full, run="run-a", view="Judges")
    assert not page.exception
    agreement = page.dataframe[0].value.set_index("step")
    votes = agreement.loc["judge_novelty", ["judges", "votes", "unscored_votes"]].tolist()
    assert votes == [3, 3, 0]
    assert "of them thinking: not told" in words(open_page("cost", full, run="run-a"))


@pytest.mark.parametrize("name", ["cost", "quality", "sources"])
def test_a_link_to_a_run_that_is_not_there_says_so(name: str, warehouse: Warehouse) -> None:
    page = open_page(name, warehouse, run="no-such-run")
    assert page.error[0].value.startswith("There is no published run “no-such-run”")
