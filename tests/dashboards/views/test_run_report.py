"""The report on a run, and the files written for it."""

import re
import shutil
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.render.charts.score_chart import ranked_groups, score_chart
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.write_run import write_reports
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from tests.support import reports
from tests.support.evaluations import make_evaluation, make_run, with_papers_left_out
from tests.support.report_lake import HOSTILE, RUN
from tests.support.reports import Page, marks
from warehouse.console.console import run_sql
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.layout import file_name
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

run_report = cache(reports.run_report)  # several tests read the same page


def test_ideas_are_ranked_by_group_and_unscored_ones_have_no_rank(warehouse):
    markdown = run_report(warehouse, RUN, "md")
    biology = markdown.split("### biology")[1].split("###")[0]
    assert re.search(
        r"\| 1 \| Idea 3 \| \d\.\d\d \| – \| 100 % \| \d\.\d\d \| \d\.\d\d \| 1 of 3 methods \| 1 \|",
        biology,
    )
    assert re.search(r"\| 2 \| Idea 0 \|", biology)
    ungrouped = markdown.split("### Ideas without a group")[1].split("##")[0]
    assert (
        "| – | Nothing scored – not ranked: soundness and contribution unscored, place 1; ended early:"
        " the budget was spent; 2 dimensions without a review |" in ungrouped
    )
    assert (
        "| unscored | 0.00 to 10.00 | 0 % | unscored | unscored | 3 of 3 methods, 10 of 10 comparisons |"
        in ungrouped
    )
    assert "| not asked for |" in markdown


def test_counts_costs_and_rejections_are_told(warehouse):
    markdown = run_report(warehouse, RUN, "md")
    assert markdown.splitlines()[2] == (
        "**Not in order: the budget was spent before 1 idea had ended; 1 of 5 ideas without any"
        " score: the budget was spent (1); 1 of 6 entries rejected.**"
    )
    assert "5 ideas, 0 scored, 4 partly scored, 1 unscored, 1 rejected; 1 ended early." in markdown
    assert "and 6 calls of unknown price" in markdown
    assert "| without an identifier | ideas.jsonl line 7 | the text is too short |" in markdown
    assert re.search(r"All \d+ expectations held\.", markdown)
    assert "| method evidence | small |" in markdown
    assert "| semantic scholar | paper/search |" in markdown


def test_the_sql_it_suggests_works(warehouse):
    queries = re.findall(r'assay sql "(.+)"', run_report(warehouse, RUN, "md"))
    assert len(queries) == 3
    for query in queries:
        assert len(run_sql(warehouse, query)) > 0


def test_the_chart_is_in_the_page_and_not_in_markdown(warehouse):
    assert not re.search("^```chart", run_report(warehouse, RUN, "md"), re.MULTILINE)
    html = run_report(warehouse, RUN, "html")
    assert html.count("<figure") == 2
    assert '<title id="chart-title">Scores by group</title>' in html
    assert "Score, points of 10" in html


def test_the_chart_draws_scored_ideas_only_and_its_size_does_not_grow_with_the_run(warehouse):
    with warehouse.queries() as queries:
        groups = ranked_groups(queries.ranking(RUN))
    chart = score_chart(groups)
    assert len(marks(chart, "circle")) == 3
    assert "Ideas without a group: 0 scored, 1 unscored" in chart.description
    assert score_chart([group for group in groups if not group.scores]) is None


def test_hostile_text_changes_nothing_but_the_words(warehouse):
    page = Page(run_report(warehouse, RUN, "html"))
    assert not page.elements & {"script", "img", "i", "b"}
    assert not any(name.startswith("on") for name in page.attributes)
    assert all(address.startswith("#section-") for address in page.addresses)


def test_a_run_that_is_not_published_is_one_clear_line(warehouse, tmp_path):
    with pytest.raises(ConfigurationError, match="no-such-run"):
        run_report(warehouse, RunId("no-such-run"), "md")
    with pytest.raises(ConfigurationError, match="no-such-run"):
        write_reports(warehouse, RunId("no-such-run"))
    assert not list(warehouse.reports.glob("*no-such*"))


@pytest.fixture(scope="module")
def written(warehouse):
    """The files of the run, of the page and in Markdown."""
    return write_reports(warehouse, RUN)


def test_every_idea_gets_its_files_and_every_link_leads_to_one(warehouse, written):
    html, markdown = written
    assert html == warehouse.reports / "run-a" / "index.html"
    assert markdown == warehouse.reports / "run-a" / "index.md"
    files = {
        path.relative_to(html.parent).as_posix()
        for path in html.parent.rglob("*")
        if path.is_file()
    }
    assert len(files) == 2 + 2 * 2 * 5, "of each idea the first page and the full report"
    for page in ("ideas", "full"):
        (back, *to_full) = [
            (html.parent / page / address).resolve().relative_to(html.parent.resolve()).as_posix()
            for address in Page(
                (html.parent / page / "idea-00003.html").read_text("utf-8")
            ).addresses
            if address.startswith("../")
        ][::-1]
        assert back == "index.html"
        assert to_full == (["full/idea-00003.html"] if page == "ideas" else [])
    links = [
        address
        for address in Page(html.read_text("utf-8")).addresses
        if not address.startswith("#")
    ]
    assert len(links) == 5
    assert set(links) <= files
    assert set(re.findall(r"(?<!\\)\]\((ideas/[^)]+)\)", markdown.read_text("utf-8"))) <= files
    assert f"ideas/{file_name(HOSTILE)}.html" in files


def test_writing_again_gives_the_same_bytes_and_leaves_nothing_behind(warehouse, written):
    html, _ = written
    before = {path: path.read_bytes() for path in html.parent.rglob("*") if path.is_file()}
    (html.parent / "ideas" / "stale.html").write_text("of an idea that left the run")
    write_reports(warehouse, RUN)
    assert {path: path.read_bytes() for path in html.parent.rglob("*") if path.is_file()} == before
    assert [path.name for path in warehouse.reports.iterdir()] == ["run-a"]


def test_a_report_that_could_not_be_finished_leaves_the_old_one(warehouse, written, monkeypatch):
    html, _ = written
    before = html.read_bytes()

    def broken(*_):
        raise duckdb.IOException("disk full")

    monkeypatch.setattr("dashboards.views.write_run.run_view", broken)
    with pytest.raises(duckdb.IOException):
        write_reports(warehouse, RUN)
    assert html.read_bytes() == before
    assert [path.name for path in warehouse.reports.iterdir()] == ["run-a"]


@given(st.text(min_size=1, max_size=200))
def test_any_idea_id_gives_a_safe_file_name(idea_id):
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,79}", file_name(IdeaId(idea_id)))


def test_ideas_with_similar_ids_get_different_files():
    ids = [
        "idea-1",
        "IDEA-1",
        "Idea-1",
        "idea 1",
        "idea/1",
        "../idea-1",
        "..",
        "con",
        "index",
        "é",
        "è",
        file_name(IdeaId("IDEA-1")),
    ]
    assert len({file_name(IdeaId(idea_id)) for idea_id in ids}) == len(ids)
    assert file_name(IdeaId("idea-1")) == "idea-1"


def test_an_idea_whose_report_cannot_be_made_says_so_on_its_page_and_the_others_have_theirs(
    warehouse, monkeypatch, tmp_path
):
    def breaking(review):
        if review.evaluation.idea.title == "Idea 3":
            raise ZeroDivisionError("nobody foresaw this")
        return idea_page(review)

    monkeypatch.setattr("dashboards.views.write_run.idea_page", breaking)
    own = Warehouse(shutil.copytree(warehouse.root, tmp_path / "own"))
    folder = write_reports(own, RUN)[0].parent / "ideas"
    broken = [path for path in folder.iterdir() if "cannot be made" in path.read_text()]
    assert sorted(path.suffix for path in broken) == [".html", ".md"]
    assert len({path.stem for path in broken}) == 1
    assert len(list(folder.iterdir())) > 2


def test_papers_left_out_are_told_apart_from_failures(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    receipt = land(warehouse, with_papers_left_out(make_evaluation(0)))
    assert publish(warehouse, RUNS, make_run()).published
    report = run_report(warehouse, RUN, "md")
    failures, left_out = report.split("## Failures")[1].split("## Papers left out")
    assert "26 papers" not in failures
    assert (
        "- it appeared after the cutoff date: in 1 idea; of one: 26 papers may have appeared after"
        " the cutoff 2024-05-31 and counted for nothing"
    ) in left_out
    with warehouse.queries() as queries:
        lost = queries.failure_groups(RUN)
        assert [each.stage for each in lost] == ["documents"]
    assert receipt.failures == 1
