"""Operate: what its parts say of cost, sources, quality and benchmarks, and the SQL console."""

import csv
import io
import json
from pathlib import Path

import polars
import pytest
from starlette.testclient import TestClient

from dashboards.app import site as site_module
from tests.support.benchmark_lake import BENCHMARK
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import START, make_run
from tests.support.report_lake import RUN, publish_validated_report_lake
from tests.support.site import opened, site_of
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.statements import names
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def site(ranked: Warehouse) -> TestClient:
    return site_of(ranked)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Two comparable runs of every module."""
    warehouse = Warehouse(tmp_path_factory.mktemp("full"))
    for number, run in enumerate(("run-a", "run-b")):
        land(warehouse, make_full_evaluation(1, run_id=run))
        at = START.replace(day=1 + number)
        modules = "soundness,contribution,committee,novelty"
        head = make_run(run, modules=modules, started_at=at, finished_at=at,
                        requests_per_second=2.0, maximum_requests=50)  # fmt: skip
        assert publish(warehouse, RUNS, head).published
    return site_of(warehouse)


def test_every_part_opens_lists_the_others_and_keeps_hostile_text_as_text(
    site: TestClient,
) -> None:
    for part in ("", "/cost", "/sources", "/quality", "/sql", "/benchmarks"):
        page = opened(site, f"/operate{part}", {"run": RUN})
        assert (page.status, page.unsafe) == (200, []), part
        assert page.links("Cost")[0] == f"/operate/cost?run={RUN}"
        assert page.links("Rated ideas") == [], "what has no rows takes no room"


def test_cost_says_what_each_step_and_idea_cost_and_how_calls_ended(site: TestClient) -> None:
    page = opened(site, "/operate/cost")
    assert "In no bar: 1 idea with a call of unknown price." in page.words
    steps = {row["Step"]: row for row in page.table("99 % within")}
    assert steps["method evidence"]["Model"] == "small"
    ended = [row for row in page.table("Ended") if row["Step"] == "comparison"]
    assert [row["Ended"] for row in ended] == ["answered"]
    ideas = page.table("Time in calls")
    assert sum(int(row["Calls"]) for row in ideas) == 32


def test_the_tokens_of_a_run_are_priced_with_five_models_a_named_one_and_own_prices(
    ranked: Warehouse, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.json"
    known = {"mode": "chat", "input_cost_per_token": 1e-5, "output_cost_per_token": 2e-5}
    prices.write_text(json.dumps({
        "gpt-5": known | {"output_cost_per_token_batches": 1e-5},
        "deepseek-chat": known, "openai/o3": known, "unasked": known,
    }))  # fmt: skip
    site = site_of(ranked, prices=prices)
    asked = {"model": "openai/o3", "prompt_price": "10", "completion_price": "20"}
    rows = {row["Model"]: row for row in opened(site, "/operate/cost", asked).table("An idea")}
    assert set(rows) == {"this run (6 calls without a price)", "gpt-5", "deepseek-chat",
                         "openai/o3", "your prices"}  # fmt: skip
    whole = (29_600 * 10 + 7_280 * 20) / 1e6
    assert rows["your prices"]["Cost"] == f"{whole:.4f} USD"
    assert rows["gpt-5"]["By the provider's batch"] == f"{whole / 2:.4f} USD"
    assert rows["deepseek-chat"]["By the provider's batch"] == "–"
    misspelt = opened(site, "/operate/cost", {"model": "gpt5"})
    assert "has no model “gpt5”: perhaps gpt-5" in misspelt.words
    refused = opened(site, "/operate/cost", {"prompt_price": "x", "completion_price": "1"})
    assert (refused.status, "write dollars as a number" in refused.words) == (400, True)


def test_sources_say_what_was_sent_cached_and_left_unanswered(
    site: TestClient, full: TestClient
) -> None:
    a_second, in_all = opened(full, "/operate/sources").table("Might send")
    assert (a_second["Might send"], in_all["Might send"]) == ("2", "50")
    assert int(in_all["Sent"]) > 0
    page = opened(site, "/operate/sources")
    assert "Allowance" not in page.words, "a snapshot has none"
    rows = page.table("Requests sent")
    assert sum(int(row["Requests sent"]) for row in rows) == 20
    assert {row["From a cache"] for row in rows} == {"0 %", "50 %"}
    assert "the source took too long" in page.words
    ended = {(row["Source or model"], row["Ended"]): row["Calls"] for row in page.table("Ended")}
    assert ended["semantic scholar", "answered by a cache"] == "10"


@pytest.mark.parametrize(
    ("view", "shown", "hidden"),
    [("Unscored", "Judgements without a score", "Position bias"),
     ("Checks", "expectations held", "Judgements without a score"),
     ("Judges", "How judges score", "expectations held"),
     ("<script>", "Judgements without a score", "This page cannot be shown")],
)  # fmt: skip
def test_the_address_chooses_a_view_of_quality(
    view: str, shown: str, hidden: str, site: TestClient
) -> None:
    words = opened(site, "/operate/quality", {"view": view}).words
    assert shown in words
    assert hidden not in words


def test_judges_are_shown_with_their_agreement_scores_and_drift(full: TestClient) -> None:
    page = opened(full, "/operate/quality", {"what": "soundness"})
    agreed = {row["Step"]: row for row in page.table("Krippendorff's alpha")}
    novelty = agreed["judge novelty"]
    assert [novelty[each] for each in ("Judges", "Votes", "Unscored votes")] == ["3", "3", "0"]
    assert "Soundness (0–10)" in page.words
    assert len(page.table("Moved")) == 2


def test_quality_offers_the_data_docs_of_a_run_once_they_are_there(
    site: TestClient, tmp_path: Path
) -> None:
    page = opened(site, "/operate/quality")
    assert page.links("Download Data Docs") == []
    assert "assay warehouse validate" in page.words
    validated = site_of(publish_validated_report_lake(tmp_path / "lake"))
    (link,) = opened(validated, "/operate/quality").links("Download Data Docs")
    answer = validated.get(link)
    assert answer.headers["content-disposition"] == 'attachment; filename="data-docs-run-a.html"'


def test_benchmarks_stand_with_intervals_beside_published_figures(site: TestClient) -> None:
    page = opened(site, "/operate/benchmarks")
    rows = {row["System"]: row for row in page.table("Origin")}
    assert (rows["assay"]["Value"], rows["assay"]["95 % interval"]) == ("0.67", "0.4 to 0.9")
    assert rows["assay"]["Unscored"] == "1"
    assert "nothing was answered" in rows["baseline"]["Origin"]
    assert "Higher is better." in page.words
    assert "4 items, 1 unscored" in page.words
    answers = {row["Right answer"]: row for row in page.table("Right answer")}
    assert answers["reject"] == {"Right answer": "reject", "accept": "0 (0 %)",
                                 "reject": "1 (50 %)", "Unscored": "1 (50 %)"}  # fmt: skip


def test_reliability_is_taken_over_probabilities_alone(ranked: Warehouse) -> None:
    with ranked.queries() as queries:
        bins = queries.page_frame("benchmark_reliability", run_id=BENCHMARK)
    assert set(bins["task"]) == {"holds"}
    assert bins["item_count"].sum() == 10
    assert bins["share_held"].to_list() == [0.0] * 5 + [1.0] * 5


def test_sql_answers_the_address_and_offers_the_answer(site: TestClient) -> None:
    page = opened(
        site, "/operate/sql", {"sql": 'select idea_id, title from ideas where "group" is null'}
    )
    (row,) = page.table("idea_id")
    assert row["idea_id"] == "nothing-scored"
    assert "1 row, 2 columns" in page.words
    (text,) = page.tree.xpath("//textarea")
    assert "is null" in text.text
    file = site.get(page.links("Parquet")[0])
    assert file.headers["cache-control"] == "private, no-cache"
    assert polars.read_parquet(io.BytesIO(file.content))["idea_id"].to_list() == ["nothing-scored"]


@pytest.mark.parametrize(
    "sql",
    ["drop table ideas", "select * from read_csv('/etc/passwd')", "select", "select 1; select 2"],
)
def test_sql_refuses_in_one_line(sql: str, site: TestClient) -> None:
    page = opened(site, "/operate/sql", {"sql": sql})
    assert len(page.tree.xpath("//main//blockquote")) == 1
    assert page.links("CSV") == []
    assert site.get("/operate/sql/file", params={"sql": sql, "format": "csv"}).status_code == 400


def test_few_long_answers_are_made_at_once_and_other_pages_open(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_module, "_SLOW_OF_A_READER", 1)
    for sql in ("select", "select 1", "select 2"):  # each frees its place, a wrong one too
        assert site.get("/operate/sql", params={"sql": sql}).status_code == 200
    monkeypatch.setattr(site_module, "_SLOW_OF_A_READER", 0)
    refused = site.get("/operate/sql")
    assert (refused.status_code, "try again in a minute" in refused.text) == (429, True)
    assert site.get("/operate/quality").status_code == 200


def test_sql_marks_the_wrong_place_and_writes_the_name_that_was_meant(site: TestClient) -> None:
    page = opened(site, "/operate/sql", {"sql": "select idea_id,\n  'ü', titel from ideas"})
    (code,) = page.tree.xpath("//main/pre/code")
    assert code.text == "  'ü', titel from ideas\n       ^^^^^\n"
    assert "Line 2, column 8." in page.words
    mended = opened(site, page.links("Write title instead")[0])
    (text,) = mended.tree.xpath("//textarea")
    assert text.text == "select idea_id,\n  'ü', title from ideas"
    assert mended.tree.xpath("//main//blockquote") == []


def test_sql_says_what_tables_and_columns_mean_beside_the_question(site: TestClient) -> None:
    page = opened(site, "/operate/sql", {"sql": "select 1"})
    (link,) = page.links("benchmark_items")
    columns = opened(site, link)
    assert "task" in {row["Column"] for row in columns.table("Unit")}
    assert columns.tree.xpath("//textarea")[0].text == "select 1"


def test_every_saved_example_is_answered(site: TestClient) -> None:
    page = opened(site, "/operate/sql")
    links = [str(each) for each in page.tree.xpath("//form//details//a/@href")]
    assert len(links) == len(names("examples"))
    for link in links:
        answered = opened(site, link)
        assert answered.tree.xpath("//main//blockquote") == [], link


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_an_answer_as_csv_holds_no_formula_however_it_is_split(
    separator: str, site: TestClient
) -> None:
    sql = "select 'x;=1+1' as \"a;=1\", true as yes, -1.5 as n, 'p\t=1' as text, [1, 2] as list"
    file = site.get("/operate/sql/file", params={"sql": sql, "format": "csv"})
    assert file.headers["content-disposition"] == 'attachment; filename="answer.csv"'
    assert file.text == '"a;\'=1",yes,n,text,list\n"x;\'=1+1",true,-1.5,"p\t\'=1","[1,2]"\n'
    rows = csv.reader(io.StringIO(file.text, newline=""), delimiter=separator)
    assert not [cell for row in rows for cell in row if cell.startswith("=")]
