"""Every page of the dashboard, in a real browser, over a lake that real commands made: the demo's,
and in `make long` one in which more was done.
"""

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import assay, rows
from tests.support.benchmark_lake import publish_benchmark_lake
from tests.support.browser import Reader, dashboard, needs_chromium, reader_of
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.demo_run import DemoRun
from tests.support.evaluations import make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

pytestmark = [
    pytest.mark.end_to_end,
    needs_chromium,
    pytest.mark.timeout(900),
]  # the first one waits for the lake to be made

MARKUP = '<img src=x onerror="window.touched=1"><b id="touched">'
# An idea of which the bundled papers give a score.
IDEA = json.loads(bundled_file("ideas.jsonl").read_text(encoding="utf-8").partition("\n")[0])
TEXT = '# Plan <script>window.touched=1</script><b id="touched">\n\n' + "\n\n".join(
    f"## {part.title()}\n\n{IDEA[part]}" for part in ("problem", "method", "experiment")
)


@pytest.fixture(scope="module")
def lake(
    browser: Browser, demo: DemoRun, env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The demo's run ranked by matches, a run of every module, and a small benchmark."""
    warehouse = Path(shutil.copytree(demo.untouched, tmp_path_factory.mktemp("b") / "warehouse"))
    done = assay("rank", "--warehouse", str(warehouse), env=env)
    assert done.returncode == 0, done.stderr
    land(Warehouse(warehouse), make_full_evaluation(1))
    modules = "soundness,contribution,committee,novelty"
    assert publish(Warehouse(warehouse), RUNS, make_run(modules=modules)).published
    publish_benchmark_lake(Warehouse(warehouse))
    return warehouse


@pytest.fixture(scope="module")
def address(lake: Path, env: dict[str, str]) -> Iterator[str]:
    with dashboard(lake, env, lake.parent / "dashboard.log") as running:
        yield running


@pytest.fixture
def reader_of_demo(
    browser: Browser,
    demo: DemoRun,
    bare_env: dict[str, str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Reader]:
    warehouse = Path(shutil.copytree(demo.untouched, tmp_path / "warehouse"))
    with (
        dashboard(warehouse, bare_env, tmp_path / "log") as address,
        reader_of(browser, address) as here,
    ):
        yield here
        here.keep(request.node.name)


@pytest.fixture
def reader(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Reader]:
    with reader_of(browser, address) as here:
        yield here
        here.keep(request.node.name)


CHARTS = (
    ("cost", {"run": "run-a"}, "Cost by step"),
    ("cost", {"run": "run-a"}, "Latency by step"),
    ("cost", {"run": "run-a"}, "Ideas by cost"),
    ("cost", {"run": "run-a"}, "The same tokens with other models"),
    ("benchmarks", {}, "accuracy"),
    ("quality", {"view": "Unscored"}, "Judgements without a score"),
    ("quality", {"run": "run-a", "view": "Judges"}, "Soundness (0–10)"),
)


@pytest.mark.long
def test_every_chart_is_drawn(reader: Reader, demo: DemoRun) -> None:
    for page, state, title in CHARTS:
        reader.open(f"operate/{page}", **{"run": demo.answer["run"]["run_id"]} | state)
        reader.see_chart(title)
        reader.keep(f"{page}_{state.get('view', '')}")


@pytest.mark.long
def test_the_ranking_moves_with_its_weights_and_its_link_brings_another_reader_to_the_same_view(
    reader: Reader, browser: Browser, demo: DemoRun
) -> None:
    reader.open("ideas", run=demo.answer["run"]["run_id"], group="biochemistry")
    reader.page.get_by_label("Ranks rest on").select_option(label="scores")
    expect(reader.page).to_have_url(re.compile("basis=scores"))
    expect(reader.page.get_by_text("Weights differ from the run's own")).to_have_count(0)
    weight = reader.page.get_by_label("Weight of soundness")
    weight.fill("0")
    weight.press("Tab")
    reader.read("Weights differ from the run's own")
    reader.page.get_by_label("Search").fill("fewshot")
    reader.page.keyboard.press("Enter")
    expect(reader.page.locator("main tbody tr")).to_have_count(1)
    with reader_of(browser, reader.base_url) as other:
        other.page.goto(reader.page.url)
        other.read("Weights differ from the run's own")
        expect(other.page.get_by_label("Group", exact=True)).to_have_value("biochemistry")
        expect(other.page.get_by_label("Weight of soundness")).to_have_value("0")
    reader.page.go_back()
    expect(reader.page.get_by_label("Ranks rest on")).not_to_have_value("scores")


@pytest.mark.long
def test_a_table_is_sorted_by_durations_as_long_as_they_are(reader: Reader) -> None:
    reader.open("operate/cost", run="run-a")
    head = reader.page.get_by_role("button", name="Median")  # then an arrow, once it sorts
    table = reader.page.get_by_role("table").filter(has=head).last
    column = table.locator("thead th").all_inner_texts().index("Median")
    table.evaluate(
        """(table, column) => ["3 min 20 s", "12 s", "2 h", "0.42 s", "–"].forEach((told) => {
          const row = table.tBodies[0].rows[0].cloneNode(true);
          row.cells[column].textContent = told;
          row.className = "made";
          table.tBodies[0].append(row);
        })""",
        column,
    )
    table.get_by_role("button", name="Median").click()
    made = table.locator("tbody tr.made").all()
    told = [row.locator("td").nth(column).inner_text() for row in made]
    assert told == ["0.42 s", "12 s", "3 min 20 s", "2 h", "–"]


@pytest.mark.long
def test_a_citation_shows_beside_it_what_was_read_of_the_paper(reader: Reader, lake: Path) -> None:
    (run,) = rows(lake, "select run_id from runs where engine <> 'extractive'")
    (idea,) = rows(lake, f"select idea_id from ideas where run_id = '{run['run_id']}'")
    reader.open("idea", run=run["run_id"], idea=idea["idea_id"])
    citation = reader.page.locator("main a[rel]:not(#cited a)").first
    citation.click()
    about = reader.page.get_by_label("The cited paper")
    expect(about).to_be_visible()
    expect(about.get_by_role("link", name="publisher")).to_have_attribute(
        "href", citation.get_attribute("href") or ""
    )
    reader.page.keyboard.press("Escape")
    expect(about).to_be_hidden()
    expect(citation).to_be_focused()


def test_an_idea_is_opened_from_the_ranking_and_read_to_the_calls_behind_its_scores(
    reader_of_demo: Reader, demo: DemoRun
) -> None:
    reader = reader_of_demo
    best = next(
        entry
        for entry in demo.answer["rows"]
        if entry["group"] == "biochemistry" and entry["rank"] == 1
    )
    run = demo.answer["run"]["run_id"]
    reader.open("ideas", run=run, basis="scores", group="biochemistry")
    reader.page.get_by_role("link", name=best["title"]).click()
    assert f"idea={best['idea_id']}" in reader.page.url
    expect(reader.page.get_by_role("heading", name=best["title"], level=1)).to_be_visible()
    reader.read("Not judged", "Closest prior work", "Novelty by dimension", "Nothing here counts")
    reader.page.locator("summary").filter(has_text="Model calls").click()
    reader.read("judges without calling a model")
    reader.keep("idea")
    with reader.page.expect_download() as download:
        reader.page.get_by_role("link", name="html", exact=True).click()
    assert best["title"] in download.value.path().read_text()
    reader.page.go_back()
    expect(reader.page.get_by_role("heading", name="Ideas", level=1)).to_be_visible()
    reader.page.get_by_role("button", name="Score", exact=True).click()
    first = reader.page.locator("main tbody tr").first
    expect(first.get_by_role("link", name=best["title"])).to_have_count(0)
    reader.page.get_by_label("Weight of soundness").fill("1")
    reader.page.keyboard.press("Tab")
    reader.read("Weights differ from the run's own")
    assert "weight_soundness=1" in reader.page.url
    assert "search=" not in reader.page.url, "what stands at its default stays out of the address"


@pytest.mark.long
def test_a_question_in_sql_is_answered_and_taken_away_as_csv(reader: Reader, lake: Path) -> None:
    question = (
        'select "group", count(*) as ideas, round(avg(score), 2) as mean_score from idea_scores'
        " group by all order by all"
    )
    reader.open()
    reader.follow("Operate")
    reader.page.get_by_role("navigation", name="Parts").get_by_role("link", name="SQL").click()
    reader.page.get_by_label("One SELECT over tables and marts").fill(question)
    reader.page.keyboard.press("Control+Enter")
    expected = rows(lake, question)
    reader.read(f"{len(expected)} rows, 3 columns")
    reader.keep("sql")
    with reader.page.expect_download() as download:
        reader.page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "idea_scores.csv"
    found = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert found == [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in expected
    ]
    reader.page.get_by_label("One SELECT over tables and marts").fill("drop table runs")
    reader.page.get_by_role("button", name="Run", exact=True).click()
    reader.read("only SELECT")


@pytest.mark.long
def test_an_idea_with_markup_is_evaluated_from_the_page_and_shown_as_text_wherever_it_appears(
    reader: Reader, lake: Path, env: dict[str, str]
) -> None:
    reader.open()
    reader.follow("Submit")
    text = reader.page.get_by_label("or a text")
    text.fill("Three words only")
    reader.page.get_by_role("button", name="Continue").click()
    reader.read("An idea has at least 5 words")
    expect(text).to_have_value("Three words only")
    heading, _, parts = TEXT.partition("\n\n")
    text.fill(f"# {MARKUP} sparse memory\n\n{parts}\n\n{heading.removeprefix('# ')}")
    reader.page.get_by_role("button", name="Continue").click()
    evaluate = reader.page.get_by_role("button", name="Evaluate", exact=True)
    expect(evaluate).to_be_visible(timeout=600_000)
    reader.read("What was found", MARKUP)
    reader.keep("submit_found")
    evaluate.click()
    expect(reader.page.get_by_text("Done after")).to_be_visible(timeout=600_000)
    reader.read(MARKUP)
    shown_as_text(reader)
    reader.keep("job_done")
    reader.page.locator("main a[href^='/idea?']").first.click()
    reader.read("Who judged what", MARKUP)
    shown_as_text(reader)
    (found,) = rows(lake, "select run_id from ideas where title like '%sparse memory'")
    reader.open("ideas", run=found["run_id"])
    reader.read("sparse memory")
    shown_as_text(reader)
    found = rows(lake, "select title from ideas where title like '%sparse memory'")
    assert [row["title"] for row in found] == [f"{MARKUP} sparse memory"]


def shown_as_text(reader: Reader) -> None:
    expect(reader.page.locator('#touched, img[src="x"]')).to_have_count(0)
    assert reader.page.evaluate("window.touched") is None
