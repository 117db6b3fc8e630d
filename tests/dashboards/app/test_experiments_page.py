"""Experiments have their page: the finding, programs with intervals, the patch, what failed."""

import pytest

from schemas.base import replace
from schemas.reasons import Reason
from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.experiment_lake import make_experiment, publish_experiment
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> ![x](http://example.org/x.png)"
UNMEASURED = replace(
    make_experiment("task-1"),
    question=MARKUP,
    finding=None,
    best_program_id=None,
    unscored_reason=Reason.PROGRAM_FAILED,
    unscored_detail=f"program.py fails: {MARKUP}",
)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("experimented"))
    publish_experiment(warehouse, make_experiment(), UNMEASURED)
    return warehouse


def test_a_finding_stands_with_its_figures_and_the_patch(warehouse: Warehouse) -> None:
    page = open_page("experiments", warehouse, task="task-0")
    said = words(page)
    assert "Supported, within this task" in said
    assert "chosen and confirmed on different data" in said
    assert "ZeroDivisionError" in said
    confirmed, candidates = [table.value for table in page.dataframe]
    assert list(confirmed["program"]) == ["parent", "known", "c001"]
    assert list(candidates["fate"]) == ["confirmed", "failed"]
    assert "+STEP = 4" in page.code[0].value
    assert len(page.get("vega_lite_chart")) == 1
    assert unsafe_parts(page) == []


def test_a_task_without_figures_says_why_and_its_text_stays_text(warehouse: Warehouse) -> None:
    page = open_page("experiments", warehouse, task="task-1")
    assert "Nothing was measured" in words(page)
    assert not page.dataframe
    assert unsafe_parts(page) == []
