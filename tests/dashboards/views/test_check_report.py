"""The report on checked manuscripts: what was read, found and not found."""

from pathlib import Path

import pytest

from dashboards.views.write_check import check_page
from schemas.base import replace
from schemas.works.check_run import CHECKS
from schemas.works.manuscripts import Attempt, Decision, ManuscriptCheck, ManuscriptForm, Problem
from tests.support.check_lake import CHECK, publish_check_lake
from tests.support.check_lake import check_head as check_head_of_lake
from tests.support.evaluations import START
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.reports import Page
from warehouse.units.kind import kind_of
from warehouse.units.publish import publish
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("checked"))
    publish_check_lake(warehouse)
    return warehouse


def test_problems_of_a_manuscript_are_shown_with_their_place_and_as_text(
    checked: Warehouse,
) -> None:
    page = check_page(checked, CHECK)
    assert "It divides by zero." in page.markdown()
    assert "Lemma 2 (the manuscript has no such place)" in page.markdown()
    assert not {"script", "img", "iframe"} & Page(page.html()).elements


def test_both_readings_of_a_dispute_stand_side_by_side_and_what_was_decided_is_said(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    disputed, rejected = (
        Problem(
            problem_id=name,
            attempt=1,
            rank=1,
            problem=HOSTILE_TEXT,
            location="page 1",
            explanation="It is.",
            refuted=False,
            second_look="Looked at.",
            **more,
        )
        for name, more in {
            "a1p1": {
                "dispute": "Raised and refuted.",
                "optimistic": f"It is rounded. {HOSTILE_TEXT}",
                "sceptical": "12 of 40 are 30 %.",
                "would_decide": "Divide.",
            },
            "a1p2": {"decision": Decision.REJECT, "remark": "We know why."},
        }.items()
    )
    check = ManuscriptCheck(
        manuscript_id="m",
        title="Pebbles",
        form=ManuscriptForm.TEXT,
        content_sha256="ab" * 32,
        word_count=100,
        attempts=(Attempt(attempt=1, problem_count=1),),
        problems=(disputed, rejected),
        failures=(),
    )
    head = replace(check_head_of_lake(), review=True, revises="check-0", manuscript_count=1)
    land_unit(warehouse, kind_of(CHECKS), head.run_id, check, START, START)
    assert publish(warehouse, kind_of(CHECKS), head).published
    page = check_page(warehouse, head.run_id)
    said = page.markdown().replace("\\", "").replace("**", "")  # of Markdown's escapes
    assert said.index("For the authors: It is rounded.") < said.index("Against them: 12 of 40")
    assert "What would decide: Divide." in said
    assert "A person rejected it: We know why." in said
    assert "This revises `check-0`" in said
    assert not {"script", "img", "iframe"} & Page(page.html()).elements
