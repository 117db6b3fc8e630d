"""Prompts, keys of work, tables and rows of the demo that no rebuilding may change."""

from pathlib import Path

import pytest

from tests.pins.keys import UNITS, keys, steps
from tests.pins.lake import Table, read_lake
from tests.pins.pinned import column_differences, committed, differences, row_differences
from tests.support.assay_here import assay_here
from tests.support.demo_run import DemoRun

PINS = committed()
RENEW = (
    "Undo it; or, where it is meant, renew the pins (python -m tests.pins) and say why in the"
    " commit."
)


def expect_no(differing: list[str]) -> None:
    if differing:
        pytest.fail("\n".join((*differing, RENEW)), pytrace=False)


@pytest.fixture(scope="module")
def tables(
    demo: DemoRun, bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Table]:
    exported = tmp_path_factory.mktemp("exported") / "demo.duckdb"
    words = ("warehouse", "export", str(exported), "--warehouse", str(demo.untouched))
    done = assay_here(*words, env=bare_env)
    assert done.returncode == 0, done.stderr
    return read_lake(exported)


def test_every_step_has_the_pinned_version_and_prompt() -> None:
    assert len(PINS["steps"]) >= 40
    expect_no(differences(PINS["steps"], steps(), "step"))


def test_work_of_every_kind_has_the_pinned_keys(tmp_path: Path) -> None:
    assert {name.partition(" ")[0] for name in PINS["unit keys"]} == UNITS.keys()
    found = keys(tmp_path)
    expect_no([line for name in found for line in differences(PINS[name], found[name], name)])


def test_the_lake_has_the_pinned_tables_and_columns(tables: dict[str, Table]) -> None:
    expect_no(column_differences(PINS["columns"], tables))


def test_the_demo_publishes_the_pinned_rows(tables: dict[str, Table]) -> None:
    assert len(PINS["rows"]["ideas"]["rows"]) >= 12
    expect_no(row_differences(PINS["rows"], tables))
