"""The page that a kind of work has unless it brings one of its own."""

from pathlib import Path
from typing import Any

import pytest

from dashboards.render.formats.markdown import markdown_page
from dashboards.views.pages_by_kind import units_page
from schemas.identifiers import RunId
from schemas.works.registry import work_schemas
from schemas.works.survey_run import SURVEYS
from tests.support.tiers import some
from tests.support.work_of_every_kind import WORKS
from warehouse.units.kind import kind_of
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.units.published_work import published_units
from warehouse.warehouse import Warehouse

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
