"""`assay report RUN` for whatever was published under the name."""

from pathlib import Path
from typing import Any

import pytest

from dashboards.render.formats.markdown import markdown_page
from dashboards.views.metric_meanings import meaning_of
from dashboards.views.pages_by_kind import units_page
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.works.registry import work_schemas
from schemas.works.survey_run import SURVEYS
from tasks.benchmarks.published import published_scores
from tasks.benchmarks.registry import SUITES
from tests.support.benchmark_lake import BENCHMARK, publish_benchmark_lake
from tests.support.checker_release import write_release
from tests.support.reports import run_report
from tests.support.tiers import some
from tests.support.work_of_every_kind import WORKS
from warehouse.kinds.quality_checker import import_release
from warehouse.units.kind import kind_of
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.units.published_work import published_units
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    found = Warehouse(tmp_path_factory.mktemp("benchmark"))
    publish_benchmark_lake(found)
    return found


def test_a_benchmark_and_a_check_have_their_own_reports_and_an_unknown_name_lists_what_there_is(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    check = import_release(write_release(tmp_path) / "withdrarxiv", warehouse)[0].run_id
    assert run_report(warehouse, BENCHMARK, "md").startswith("# Benchmark decisions")
    assert "<html" in run_report(warehouse, BENCHMARK, "html")
    assert run_report(warehouse, check, "md").startswith("# Check ")
    assert "<html" in run_report(warehouse, check, "html")
    with pytest.raises(
        ConfigurationError,
        match=f"nothing is published under nowhere; .*check .*; benchmark {BENCHMARK}",
    ):
        run_report(warehouse, RunId("nowhere"), "md")


def test_a_benchmark_report_leads_with_the_answer_and_folds_the_rest(warehouse: Warehouse) -> None:
    written = run_report(warehouse, BENCHMARK, "md")
    assert written.splitlines()[2].startswith(
        "**accuracy of assay 0.67 (95 % from 0.4 to 0.9), over 3 items, 1 unscored. The best of 1"
        " other: accuracy of"
    )
    assert "as published: other models, splits and judges." in written.splitlines()[2]
    order = ("## decisions: accuracy", "Higher is better.", "## Every figure", "## Provenance")
    assert [written.index(part) for part in order] == sorted(written.index(part) for part in order)
    page = run_report(warehouse, BENCHMARK, "html")
    answer, *folded = page.split("<details>")
    assert len(folded) == 2
    assert page.count("</details>") == 2
    assert "accuracy of assay 0.67" in answer
    assert "What the metrics of decisions say" in folded[0]
    assert "```" not in written


def test_every_published_metric_has_a_meaning_with_its_unit_or_range() -> None:
    assert {
        score.metric
        for suite in SUITES
        for score in published_scores(suite)
        if meaning_of(score.metric) is None
    } == set()
    assert meaning_of("no_such_metric") is None


NOT_SHOWN = ("llm_calls", "api_calls", "failures")
"""Calls are no content, and failures a list of lines."""


@pytest.mark.parametrize(
    "schema",
    some(work_schemas(), lambda schema: schema is SURVEYS),
    ids=lambda schema: schema.word,
)
def test_it_names_every_unit_and_counts_what_each_holds(schema: Any, tmp_path: Path) -> None:
    work = next(each for each in WORKS if each.kind is kind_of(schema))
    warehouse, kind = Warehouse(tmp_path), work.kind
    for number in range(2):
        work.land(warehouse, number, f"call-{number}")
    write_head(warehouse, kind, work.head(warehouse))
    assert publish(warehouse, kind, work.head(warehouse)).published
    page = units_page(kind, warehouse, RunId(work.names[0]))
    with warehouse.reader() as connection:
        assert page.units == published_units(connection, kind, *work.names)
    text = markdown_page(page.page())
    assert text.startswith(f"# {kind.word.capitalize()} of 2 {kind.unit_noun}s")
    parts = [part for part in kind.parts if part.path and part.table not in NOT_SHOWN]
    heading = next(line for line in text.splitlines() if line.startswith("| "))
    assert heading.count("|") == len(parts) + 3
    for unit in page.units:
        assert f"## {getattr(unit, kind.name_column)}" in text
    assert page.json().count(f'"{kind.name_column}"') >= 2
