"""Prompts, keys of work, tables and rows of the demo that no rebuilding may change."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.pins.keys import UNITS, keys, steps
from tests.pins.lake import Table, read_lake
from tests.pins.pinned import column_differences, committed, differences, row_differences, rows
from tests.support.assay_here import assay_here
from tests.support.demo_run import DemoRun

PINS = committed()
RENEW = (
    "Undo it; or, where it is meant, renew the pins (python -m tests.pins) and say why in the"
    " commit."
)
SCORES = Table(
    "idea_scores",
    {"run_id": "VARCHAR", "idea_id": "VARCHAR", "score": "DOUBLE"},
    {name: {"idea_id": name, "score": score} for name, score in (("bats", 6.2), ("moths", 3.1))},
)
PAPERS = Table(
    "papers",
    {"run_id": "VARCHAR", "idea_id": "VARCHAR", "title": "VARCHAR", "year": "BIGINT"},
    {
        f"{idea} p{number}": {"idea_id": idea, "title": f"Part {number}", "year": 1900 + number}
        for idea in ("bats", "moths")
        for number in range(80)
    },
)
"""So many rows that they are held as digests."""


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


def changed(table: Table, key: str, **values: str | float) -> list[str]:
    """Return the lines on a row that has other values than were pinned."""
    now = replace(table, rows={**table.rows, key: {**table.rows[key], **values}})
    return row_differences(rows({table.name: table}), {table.name: now})


def test_a_score_that_differs_is_named_with_its_idea() -> None:
    assert changed(SCORES, "bats", score=6.3) == [
        "idea_scores: score differs in 1: bats (6.2 → 6.3)"
    ]


def test_figures_that_processors_round_otherwise_are_equal() -> None:
    assert changed(SCORES, "bats", score=6.2001) == []


def test_of_a_digested_row_the_column_is_named() -> None:
    assert changed(PAPERS, "moths p7", title="Part seven") == [
        "papers: title differs in 1: moths p7"
    ]


def test_rows_that_are_gone_or_new_are_named() -> None:
    kept = dict(list(PAPERS.rows.items())[2:])
    before = rows({"papers": PAPERS})
    assert row_differences(before, {"papers": replace(PAPERS, rows=kept)}) == [
        "papers: 2 gone: bats p0; bats p1",
        "papers: 160 → 158 rows",
    ]
    assert row_differences({}, {"idea_scores": SCORES}) == [
        "idea_scores: 2 new: bats; moths",
        "idea_scores: 0 → 2 rows",
    ]


def test_columns_that_are_gone_or_of_another_type_are_named() -> None:
    stored = {
        "idea_scores": {"VARCHAR": ["run_id", "idea_id", "score"], "BIGINT": ["rank"]},
        "ideas": {"DATE": ["cutoff_date"]},
    }
    assert column_differences(stored, {"idea_scores": SCORES}) == [
        "columns of tables: 1 gone: ideas",
        "columns of tables: score differs in 1: idea_scores (VARCHAR → DOUBLE)",
        "columns of tables: rank differs in 1: idea_scores (BIGINT → none)",
    ]
