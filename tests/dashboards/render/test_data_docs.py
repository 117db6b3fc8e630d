"""Great Expectations' Data Docs of a run, made from its own results."""

import re

import orjson
import pytest

from dashboards.render.data_docs import data_docs, data_docs_page
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from tests.support.report_lake import RUN, publish_validated_report_lake
from tests.support.reports import Page


@pytest.fixture(scope="module")
def validated(tmp_path_factory):
    return publish_validated_report_lake(tmp_path_factory.mktemp("validated"))


@pytest.fixture(scope="module")
def published(validated):
    with validated.queries() as queries:
        return queries.validations(RUN)


def words(html):
    return " ".join(re.sub(r"<style>.*</style>|<[^>]+>", " ", html, flags=re.DOTALL).split())


def with_answers(row, change):
    """The row with every result of Great Expectations changed."""
    answers = orjson.loads(row.great_expectations)
    for answer in answers:
        change(answer)
    return replace(row, great_expectations=orjson.dumps(answers).decode())


def break_rows(count):
    def change(answer):
        answer["success"] = False
        if "unexpected_count" in answer["result"]:
            answer["result"] |= {"unexpected_count": count, "unexpected_percent": 2.5}
        else:
            answer["result"] = {"observed_value": count}

    return change


def test_every_result_is_shown(validated, published):
    html = data_docs(validated, RUN)
    tables = {row.table_name for row in published}
    assert html.count("<h2 ") == len(tables)
    assert html.count('class="fas fa-check-circle text-success" ></i>') == len(published)
    told = words(html)
    assert all(
        row.expectation in told for row in published if not row.expectation.startswith("expect_")
    )
    assert "values must belong to this set:" in told
    assert "rows of run run-a, checked" in told
    assert "(failed" not in told.lower()


def test_a_broken_expectation_is_shown_with_its_count_and_its_table_first(published):
    rows = [
        with_answers(row, break_rows(1_000))
        if (row.table_name, row.column_name) == ("comparisons", "score")
        else row
        for row in published
    ]
    told = words(data_docs_page(RUN, rows))
    assert "1000 unexpected values found. 2.5% of" in told
    assert told.index("comparisons (failed: critical)") < told.index("api_calls")


def test_a_broken_warning_is_told_apart_from_what_keeps_a_run_out(published):
    rows = [
        with_answers(row, break_rows(3))
        if row.expectation == "means_are_means_of_their_comparisons"
        else row
        for row in published
    ]
    told = words(data_docs_page(RUN, rows))
    assert "several tables (failed: warning)" in told
    assert "means_are_means_of_their_comparisons 3" in told


def test_the_page_loads_nothing_runs_nothing_and_lists_no_value(published):
    def attack(answer):
        answer["expectation_config"]["description"] = "<script>$x</script>"
        answer["meta"]["about"] = "<svg onload=alert(1)>"
        for name, value in answer["expectation_config"]["kwargs"].items():
            if isinstance(value, str):
                answer["expectation_config"]["kwargs"][name] = "<img src=x onerror=alert(1)>"

    html = data_docs_page(
        RUN, [*published, replace(with_answers(published[0], attack), table_name="<b>$y")]
    )
    page = Page(html)
    assert not page.elements & {"script", "img", "svg", "link", "iframe", "object", "b"}
    assert not {name for name in page.attributes if name.startswith("on") or name == "src"}
    assert all(address.startswith("#suite-") for address in page.addresses)
    assert not re.search(r"https?:|//[a-z]|url\(|@import", html)
    assert "&lt;script&gt;$x&lt;/script&gt;" in html


def test_names_within_a_result_stay_text(published):
    planted = "<img src=x onerror=alert(1)>"

    def attack(answer):
        answer["result"]["observed_value"] = {planted: 1}
        answer["result"]["partial_unexpected_counts"] = [{"value": {planted: 1}, "count": 1}]
        answer["success"] = False

    page = Page(data_docs_page(RUN, [with_answers(row, attack) for row in published]))
    assert not page.elements & {"img"}
    assert not {name for name in page.attributes if name.startswith("on") or name == "src"}


@pytest.mark.parametrize("told", ["no JSON", '{"a": 1}', '[{"success": true}]', "[[]]"])
def test_what_is_no_result_of_great_expectations_is_one_line(published, told):
    with pytest.raises(ConfigurationError, match="as results of Great Expectations") as refused:
        data_docs_page(RUN, [replace(published[0], great_expectations=told)])
    assert "\n" not in str(refused.value)


def test_checks_of_a_ranking_are_told_beside_those_of_the_run(published):
    ideas = [row for row in published if row.table_name == "ideas"]
    told = words(data_docs_page(RUN, [*ideas, *(replace(row, ranking_id="r1") for row in ideas)]))
    assert "Expectation Suite: ideas Data asset" in told
    assert "Expectation Suite: ideas of ranking r1 Data asset" in told


def test_a_run_that_great_expectations_has_not_validated_is_one_clear_line(warehouse):
    with pytest.raises(ConfigurationError, match=r"not validated run-a yet: `assay warehouse val"):
        data_docs(warehouse, RUN)


def test_nothing_published_under_a_name_is_one_clear_line(warehouse):
    with pytest.raises(
        ConfigurationError, match="nothing that was checked is published under no-such-run"
    ):
        data_docs(warehouse, RunId("no-such-run"))
