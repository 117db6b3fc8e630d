"""Great Expectations' Data Docs of a run, made from its published checks."""

import re

import pytest

from dashboards.render.data_docs import data_docs, data_docs_page
from flows.cli.evaluate.report import report
from schemas.base import Severity, replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.options.commands import LakeOptions
from tests.support.html_page import Page
from tests.support.report_lake import HOSTILE_TEXT, RUN
from warehouse.queries import open_queries


@pytest.fixture(scope="module")
def published(layout):
    with open_queries(layout) as queries:
        return queries.validations(RUN)


def words(html):
    return " ".join(re.sub(r"<style>.*</style>|<[^>]+>", " ", html, flags=re.DOTALL).split())


def broken(row, count=3):
    return replace(row, success=False, unexpected_count=count, detail=HOSTILE_TEXT)


def test_every_published_check_is_told(layout, published):
    html = data_docs(layout, RUN)
    tables = {row.table_name for row in published}
    assert html.count("<h2 ") == len(tables)
    assert html.count('class="fas fa-check-circle text-success" ></i>') == len(published)
    told = words(html)
    assert all(
        row.expectation in told for row in published if not row.expectation.startswith("expect_")
    )
    assert "values must belong to this set:" in told
    assert "(failed" not in told.lower()


def test_the_command_writes_the_same_page(layout, tmp_path):
    lake = LakeOptions(warehouse=layout.root)
    assert report(lake, run=RUN, docs=True, output=tmp_path / "docs.html") == 0
    assert (tmp_path / "docs.html").read_text("utf-8") == data_docs(layout, RUN)


def test_the_counts_are_those_of_the_whole_run(published):
    rows = [
        broken(replace(row, evaluated_count=40_000), 1_000)
        if (row.table_name, row.column_name) == ("comparisons", "score")
        else row
        for row in published
    ]
    told = words(data_docs_page(RUN, rows))
    assert "1000 unexpected values found. 2.5% of 40000 total rows." in told
    assert "run run-a, 40,000 rows, checked" in told
    assert told.index("comparisons (failed: critical)") < told.index("api_calls")


def test_a_broken_warning_is_told_apart_from_what_keeps_a_run_out(published):
    rows = [
        broken(row) if row.severity is Severity.WARNING and row.table_name == "passages" else row
        for row in published
    ]
    told = words(data_docs_page(RUN, rows))
    assert "passages (failed: warning)" in told
    assert "paper_id: refers_to_papers_paper_id 3 unexpected rows" in told


def test_a_rule_that_broke_in_more_rows_than_it_looked_at_is_told_without_a_share(
    published, caplog
):
    rows = [broken(replace(row, evaluated_count=0)) for row in published]
    told = words(data_docs_page(RUN, rows))
    assert "every_idea_is_evaluated_once 3 unexpected rows" in told
    assert "total rows" not in told
    assert not caplog.records


def test_the_page_loads_nothing_runs_nothing_and_lists_no_value(published):
    odd = replace(
        broken(published[0]),
        table_name="<svg onload=alert(1)>",
        expectation="<script>$x</script>",
        column_name="<img src=x>",
    )
    html = data_docs_page(RUN, [broken(row) for row in published] + [odd])
    page = Page(html)
    assert not page.elements & {"script", "img", "svg", "link", "iframe", "object", "b"}
    assert not {name for name in page.attributes if name.startswith("on") or name == "src"}
    assert all(address.startswith("#suite-") for address in page.addresses)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|&lt;img src=x onerror", html)
    assert "&lt;script&gt;$x&lt;/script&gt;" in html


def test_links_lead_to_places_of_the_page_and_places_are_named_once(published):
    html = data_docs_page(RUN, published)
    places = re.findall(r'\sid="([^"]+)"', html)
    assert len(places) == len(set(places))
    assert {address.removeprefix("#") for address in Page(html).addresses} <= set(places)


def test_checks_of_a_ranking_are_told_beside_those_of_the_run(published):
    ideas = [row for row in published if row.table_name == "ideas"]
    told = words(data_docs_page(RUN, [*ideas, *(replace(row, ranking_id="r1") for row in ideas)]))
    assert "Expectation Suite: ideas Data asset" in told
    assert "Expectation Suite: ideas of ranking r1 Data asset" in told


def test_nothing_published_under_a_name_is_one_clear_line(layout):
    with pytest.raises(
        ConfigurationError, match="nothing that was checked is published under no-such-run"
    ):
        data_docs(layout, RunId("no-such-run"))
