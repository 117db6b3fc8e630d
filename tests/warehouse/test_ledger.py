"""The ledger: what is published is written down once, and whatever is changed in it shows."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.people.ledger import Artefact, CreditRole, LedgerAction, LedgerEntry, LedgerHead
from schemas.tables import TABLE
from tests.support.draft_lake import make_draft, publish_draft
from tests.support.evaluations import make_evaluation, make_run, with_other_words
from tests.support.experiment_lake import EXPERIMENT
from tests.support.lakes import change, change_catalogue
from tests.support.votes import make_vote
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.records import fold_into_lake, record
from warehouse.kinds.runs.deletion import delete_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.ledger import append, breaks, chain_rows, head_of, rows_of_chain
from warehouse.rows import Row
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.verify.verify_ledger import LedgerReport, verify_ledger
from warehouse.warehouse import Warehouse

NOW = datetime(2026, 3, 1, tzinfo=UTC)
RUN = RunId("run-a")


def entry(number: int) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.REVIEW,
        run_id=RUN,
        unit_id=f"idea-{number}",
        part="methods",
        action=LedgerAction.MADE,
        version_sha256=f"{number:064x}",
        inputs=(f"idea:{number}",),
        participant_id="extractive",
        role=CreditRole.TOOL,
        step="extract_methods",
        step_version=1,
        prompt_sha256="ab" * 32,
        happened_at=NOW + timedelta(seconds=number),
    )


CHAIN = tuple(
    chain_rows([entry(n) for n in range(6)], LedgerHead(sequence=0, entry_sha256=""), NOW)
)
NUMBERS = st.integers(0, len(CHAIN) - 1)
COLUMNS = st.sampled_from(TABLE["ledger"].column_names)
VALUES = st.one_of(
    st.none(), st.text(max_size=8), st.integers(-9, 99), st.lists(st.text(max_size=3), max_size=2)
)


def test_an_untouched_chain_has_nothing_wrong() -> None:
    assert list(breaks(CHAIN)) == []
    assert [row["sequence"] for row in CHAIN] == [1, 2, 3, 4, 5, 6]


def in_order(rows: Sequence[Row]) -> list[Row]:
    def place(row: Row) -> tuple[bool, int]:
        number = row["sequence"]
        return (number is None, number if number is not None else 0)

    return sorted(rows, key=place)


@settings(max_examples=400)  # six rows of twenty columns: fewer would leave most unchanged
@given(number=NUMBERS, column=COLUMNS, value=VALUES)
def test_any_changed_value_of_any_row_shows(number: int, column: str, value: Any) -> None:
    if column == "sequence" and not (value is None or isinstance(value, int)):
        return  # the column holds numbers
    edited = [dict(row) for row in CHAIN]
    if edited[number][column] == value:
        return
    edited[number][column] = value
    assert list(breaks(in_order(edited)))


@given(number=st.integers(0, len(CHAIN) - 2))
def test_any_row_taken_out_before_the_last_shows(number: int) -> None:
    assert list(breaks([*CHAIN[:number], *CHAIN[number + 1 :]]))


@given(first=NUMBERS, second=NUMBERS)
def test_two_rows_whose_contents_changed_places_show(first: int, second: int) -> None:
    if first == second:
        return
    edited = list(CHAIN)
    edited[first] = CHAIN[second] | {"sequence": first + 1}
    edited[second] = CHAIN[first] | {"sequence": second + 1}
    assert list(breaks(edited))


@given(number=NUMBERS)
def test_a_row_put_in_shows(number: int) -> None:
    assert list(breaks(in_order([*CHAIN, CHAIN[number]])))
    assert list(breaks(in_order([*CHAIN, CHAIN[number] | {"run_id": "forged"}])))


@pytest.fixture
def warehouse(two_ideas: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(two_ideas.root, tmp_path / "w"))


def chain_of(warehouse: Warehouse) -> list[Row]:
    with warehouse.reader() as connection:
        return list(rows_of_chain(connection))


def head_of_lake(warehouse: Warehouse) -> LedgerHead:
    with warehouse.reader() as connection:
        return head_of(connection)


def edit(warehouse: Warehouse, sql: str) -> LedgerReport:
    change(warehouse, sql)
    return verify_ledger(warehouse)


def test_what_a_run_published_is_in_the_ledger_once_with_step_model_and_prompt(
    two_ideas: Warehouse,
) -> None:
    rows = chain_of(two_ideas)
    assert verify_ledger(two_ideas).sound
    ideas = [row for row in rows if row["artefact"] == "idea"]
    assert [row["unit_id"] for row in ideas] == ["idea-00000", "idea-00001"]
    review = next(row for row in rows if row["part"] == "soundness_reviews")
    assert (review["participant_id"], review["role"]) == ("litellm:small", "tool")
    assert (review["step"], review["model"]) == ("soundness_review", "small-2026-01")
    assert len(review["prompt_sha256"]) == 64
    assert f"idea:{ideas[0]['version_sha256']}" in review["inputs"]
    assert (rows[-1]["artefact"], rows[-1]["action"]) == ("publication", "published")
    kept = [(row["unit_id"], row["part"], row["step"]) for row in rows]
    assert len(kept) == len(set(kept))


def test_work_of_any_kind_names_what_it_was_given_and_the_works_it_rests_on(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    publish_draft(warehouse, make_draft())
    rows = chain_of(warehouse)
    (given,) = [row for row in rows if row["action"] == "given"]
    assert (given["artefact"], given["unit_id"]) == ("idea", "bats")
    assert f"work:{EXPERIMENT}" in rows[-1]["inputs"]


def test_publishing_the_same_again_adds_no_row(warehouse: Warehouse) -> None:
    before = chain_of(warehouse)
    publish(warehouse, RUNS, make_run(ideas=2))
    assert chain_of(warehouse) == before


def test_only_the_part_that_was_made_anew_is_written_down_again(warehouse: Warehouse) -> None:
    before = chain_of(warehouse)
    land(warehouse, with_other_words(make_evaluation(0)))
    publish(warehouse, RUNS, make_run(ideas=2))
    added = chain_of(warehouse)[len(before) :]
    assert [(row["unit_id"], row["part"], row["action"]) for row in added] == [
        ("idea-00000", "soundness_reviews", "made_anew"),
        ("", "", "published"),
    ]
    assert verify_ledger(warehouse).sound


EDITS: dict[str, str] = {
    "the last row was cut off": (
        "delete from ledger where sequence = (select max(sequence) from ledger)"
    ),
    "all rows lost their numbers": "update ledger set sequence = null",
    "a review was changed": "update soundness_reviews set support = 'x' where idea_id = 'idea-00000'",
    "all reviews of an idea are gone": "delete from soundness_reviews where idea_id = 'idea-00000'",
    "a run was published under another hash": "update runs set landing_sha256 = 'ab'",
}
OTHER_EDITS: dict[str, str] = {
    "a row was changed": "update ledger set model = 'other' where sequence = 3",
    "a hash was changed": "update ledger set entry_sha256 = 'ab' where sequence = 3",
    "a row is missing": "delete from ledger where sequence = 3",
    "the first row is missing": "delete from ledger where sequence = 1",
    "all rows are gone": "delete from ledger",
    "all rows lost their hashes": "update ledger set entry_sha256 = null",
    "all rows have numbers below zero": "update ledger set sequence = -sequence",
    "an idea was changed": "update ideas set text = 'x' where idea_id = 'idea-00000'",
}


@pytest.mark.parametrize(
    "sql",
    [
        *(pytest.param(sql, id=name) for name, sql in EDITS.items()),
        *(pytest.param(sql, id=name, marks=pytest.mark.long) for name, sql in OTHER_EDITS.items()),
    ],
)
def test_an_edit_of_the_lake_shows(warehouse: Warehouse, sql: str) -> None:
    assert edit(warehouse, sql).problems


FORGED_RECORD = (
    "insert into ledger by name select * replace (999 as sequence, 'approved' as action,"
    " [null] as inputs, 'decision' as artefact) from ledger where sequence = 2"
)
FORGED_PARTS = {
    "a time before all others": (
        "update ledger set recorded_at = '-infinity' where sequence = 3",
        "row 3 was changed",
    ),
    "a part of what nobody knows": (
        "update ledger set artefact = 'zzz' where sequence = 1",
        "run run-a: the ledger holds a row about 'zzz'",
    ),
    "a part of nothing": (
        "update ledger set artefact = null where sequence = 1",
        "run run-a: the ledger holds a row about 'None'",
    ),
}
FORGED_RUNS = {
    "a run without a name": ("null", "a row has lost its name"),
    "a run named like a path": ("'../../etc'", "runs: run '../../etc' cannot name a folder"),
}


@pytest.mark.parametrize(("sql", "told"), FORGED_PARTS.values(), ids=FORGED_PARTS)
def test_a_forged_row_is_one_problem_among_all_the_others(
    warehouse: Warehouse, sql: str, told: str
) -> None:
    change(warehouse, sql, "insert into decisions (decision_id) values ('forged')")
    problems = verify_ledger(warehouse).problems
    assert len([each for each in problems if told in each]) == 1
    assert any(each.startswith("decisions: forged in the lake") for each in problems)


@pytest.mark.parametrize(("name", "told"), FORGED_RUNS.values(), ids=FORGED_RUNS)
def test_a_forged_run_and_a_record_without_a_name_are_each_one_problem(
    warehouse: Warehouse, name: str, told: str
) -> None:
    forged = "insert into decisions (decision_id) values ('forged')"
    change(warehouse, FORGED_RECORD, f"update runs set run_id = {name}", forged)
    problems = verify(warehouse).problems
    for each in (told, "row 999 of the ledger says"):
        assert len([problem for problem in problems if each in problem]) == 1
    assert any(each.startswith("decisions: forged in the lake") for each in problems)


def test_a_tail_that_was_cut_off_with_the_noted_head_shows_by_a_hash_written_down(
    warehouse: Warehouse,
) -> None:
    with warehouse.publisher() as connection:
        head = head_of(connection)
        append(connection, [entry(1)])
        later = head_of(connection)
        connection.execute(f"delete from ledger where sequence = {later.sequence}")
    assert verify_ledger(warehouse, heads=(head.entry_sha256,)).sound
    (problem,) = verify_ledger(warehouse, heads=(later.entry_sha256,)).problems
    assert later.entry_sha256 in problem


def test_a_chain_written_anew_from_a_forged_row_on_shows(warehouse: Warehouse) -> None:
    rows = chain_of(warehouse)
    names = LedgerEntry.model_fields
    told = [{name: row[name] for name in names} for row in rows]
    told[2]["participant_id"] = "litellm:other"
    entries = [LedgerEntry.model_validate(each, strict=False) for each in told]
    with warehouse.publisher() as connection:
        connection.execute("delete from ledger")
        append(connection, entries)
    assert any("noted" in problem for problem in verify_ledger(warehouse).problems)


def test_a_deleted_run_stays_in_the_ledger_which_says_so(warehouse: Warehouse) -> None:
    before = len(chain_of(warehouse))
    delete_run(warehouse, RUN)
    rows = chain_of(warehouse)
    assert len(rows) == before + 1
    assert (rows[-1]["action"], rows[-1]["run_id"]) == ("deleted", RUN)
    assert verify_ledger(warehouse).sound


LOSSES: dict[str, Callable[[Warehouse], object]] = {
    "emptied": lambda warehouse: change(warehouse, "delete from ledger"),
    "truncated": lambda warehouse: change(
        warehouse, "delete from ledger where sequence > (select max(sequence) - 2 from ledger)"
    ),
}


def ledger_lines(warehouse: Warehouse) -> list[str]:
    return [line for line in verify_ledger(warehouse).problems if line.startswith("ledger: ")]


def named(most: str, *others: str) -> pytest.MarkDecorator:
    """Losses by their names; the others take long together."""
    later = [pytest.param(name, marks=pytest.mark.long) for name in others]
    return pytest.mark.parametrize("name", [most, *later])


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES.keys())
def test_a_ledger_without_the_row_that_was_noted_is_one_line_whatever_its_loss(
    lose: Callable[[Warehouse], object], warehouse: Warehouse
) -> None:
    noted = head_of_lake(warehouse).sequence
    lose(warehouse)
    (line,) = ledger_lines(warehouse)
    assert f"row {noted}, whose hash was noted in" in line


@named("emptied", "truncated")
def test_a_lost_ledger_is_still_reported_after_the_next_publication_by_both_verifications(
    name: str, warehouse: Warehouse
) -> None:
    LOSSES[name](warehouse)
    lines = ledger_lines(warehouse)
    land(warehouse, make_evaluation(2))
    publish(warehouse, RUNS, make_run(ideas=3))
    assert ledger_lines(warehouse) == lines
    assert [line for line in verify(warehouse).problems if line.startswith("ledger: ")] == lines


@named("emptied")
def test_recorded_votes_without_a_ledger_are_one_line_though_no_head_is_noted(
    name: str, warehouse: Warehouse
) -> None:
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        for number in range(3):
            record(work, "human_votes", make_vote(f"vote-{number}"))
    fold_into_lake(warehouse)
    (warehouse.state / "ledger_head.json").unlink()
    LOSSES[name](warehouse)
    (line,) = verify_ledger(warehouse).problems
    assert line.startswith("ledger: ")
    assert "3 of human_votes" in line


def test_a_damaged_note_of_the_head_is_one_line(warehouse: Warehouse) -> None:
    (warehouse.state / "ledger_head.json").write_text("{")
    (line,) = ledger_lines(warehouse)
    assert "cannot be read" in line


@pytest.mark.parametrize(
    "put",
    [
        pytest.param(os.mkfifo, id="a pipe"),
        pytest.param(Path.mkdir, id="a folder", marks=pytest.mark.long),
    ],
)
def test_what_is_no_file_in_place_of_the_noted_head_is_one_line(
    put: Callable[[Path], object], warehouse: Warehouse
) -> None:
    note = warehouse.state / "ledger_head.json"
    note.unlink()
    put(note)
    (line,) = ledger_lines(warehouse)
    assert "cannot be read" in line
    assert publish(warehouse, RUNS, make_run(ideas=2, label="later"))


def of_column(table: str, column: str) -> str:
    """The condition of the rows of the catalogue about a column."""
    about = f"table_id = (select table_id from ducklake_table where table_name = '{table}')"
    return (
        f"{about} and column_id = (select column_id from ducklake_column where {about} and"
        f" column_name = '{column}')"
    )


def falsify(warehouse: Warehouse, table: str, column: str, low: str, high: str) -> None:
    for place in ("file", "table"):
        change_catalogue(
            warehouse,
            f"update ducklake_{place}_column_stats set min_value = '{low}', max_value = '{high}'"
            f" where {of_column(table, column)}",
        )


def test_statistics_that_hide_the_head_of_the_ledger_hide_no_changed_idea(
    warehouse: Warehouse,
) -> None:
    head = head_of_lake(warehouse)
    change(warehouse, "update ideas set title = 'x'")
    falsify(warehouse, "ledger", "sequence", "-9", "0")
    assert head_of_lake(warehouse) == head
    report = verify_ledger(warehouse)
    assert report.head == head
    assert any("idea of idea-00000 is not what the ledger says" in each for each in report.problems)
    assert any("ledger.sequence: it holds values" in each for each in verify(warehouse).problems)
    publish(warehouse, RUNS, make_run(ideas=2, label="later"))
    assert head_of_lake(warehouse).sequence > head.sequence


def test_statistics_that_hide_rows_of_the_ledger_hide_no_deleted_vote(warehouse: Warehouse) -> None:
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        record(work, "human_votes", make_vote("vote-1"))
    fold_into_lake(warehouse)
    change(warehouse, "delete from human_votes")
    with closing(sqlite3.connect(services_file(warehouse), isolation_level=None)) as services:
        services.execute("delete from records")
    falsify(warehouse, "ledger", "action", "zzz", "zzzz")
    assert any(
        "a row is missing in the lake: row" in each for each in verify_ledger(warehouse).problems
    )


STATISTICS = {
    "a range": "update ducklake_table_column_stats set min_value = 'zz', max_value = 'zzz'"
    f" where {of_column('ideas', 'title')}",
    "rows without a value": "update ducklake_table_column_stats set contains_null = 0"
    f" where {of_column('ideas', 'problem')}",
    "rows of a file without a value": "update ducklake_file_column_stats set null_count = 0"
    f" where {of_column('ledger', 'step')}",
    "values of a file": "update ducklake_file_column_stats set value_count = 0, null_count = 37"
    f" where {of_column('ledger', 'artefact')}",
    "a word that DuckDB reads as true": "update ducklake_file_column_stats set min_value = 't'"
    f" where {of_column('candidates', 'seed')}",
}


def test_statistics_by_which_rows_are_missing_in_answers_are_named(warehouse: Warehouse) -> None:
    for sql in STATISTICS.values():
        change_catalogue(warehouse, sql)
    change_catalogue(warehouse, "update ducklake_table_stats set record_count = 0")
    problems = verify(warehouse).problems
    assert "papers: it has 16 rows, and the catalogue counts 0" in str(problems)
    problems = tuple(each for each in problems if "the catalogue counts" not in each)
    for column in (
        "ideas.title", "ideas.problem", "ledger.step", "ledger.artefact", "candidates.seed"
    ):  # fmt: skip
        (problem,) = [each for each in problems if each.startswith(f"{column}: ")]
        assert "that its statistics in the catalogue leave out" in problem
    assert len(problems) == len(STATISTICS)


WIDE = {
    "a number": ("papers", "position", "900"),
    "a day": ("papers", "publication_date", "2222-01-01"),
    "a time": ("llm_calls", "created_at", "2222-01-01 00:00:00+00"),
}


def test_statistics_by_which_the_largest_value_is_answered_wrong_are_named(
    warehouse: Warehouse,
) -> None:
    for table, column, value in WIDE.values():
        change_catalogue(
            warehouse,
            f"update ducklake_table_column_stats set max_value = '{value}'"
            f" where {of_column(table, column)}",
        )
    problems = verify(warehouse).problems
    assert len(problems) == len(WIDE)
    for table, column, _ in WIDE.values():
        assert any(
            each.startswith(f"{table}.{column}: ") and "answered wrong" in each for each in problems
        )


def test_statistics_of_rows_that_were_deleted_answer_nothing_wrong(warehouse: Warehouse) -> None:
    change(warehouse, "delete from papers where position = 7")
    assert "answered wrong" not in str(verify(warehouse).problems)


def test_a_false_number_of_rows_of_a_file_is_named(warehouse: Warehouse) -> None:
    false = {"papers": "record_count - 1", "candidates": "record_count + 1", "passages": "0"}
    for table, count in false.items():
        of_table = f"table_id = (select table_id from ducklake_table where table_name = '{table}')"
        change_catalogue(
            warehouse, f"update ducklake_data_file set record_count = {count} where {of_table}"
        )
    problems = verify(warehouse).problems
    assert len(problems) == len(false)
    for table in false:
        (problem,) = [each for each in problems if each.startswith(f"{table}: it has ")]
        assert " rows, and the catalogue counts " in problem


def test_a_false_number_of_deleted_rows_is_named(warehouse: Warehouse) -> None:
    with warehouse.publisher() as connection:
        # Else DuckLake keeps so few deletions in the catalogue, without a file and its number.
        connection.execute("call ducklake_set_option('lake', 'data_inlining_row_limit', 0)")
        connection.execute("delete from papers where position = 0")
    change_catalogue(warehouse, "update ducklake_delete_file set delete_count = 9")
    assert any(
        "papers: it has 14 rows, and the catalogue counts" in each
        for each in verify(warehouse).problems
    )


@pytest.mark.parametrize("command", [verify, verify_ledger])
def test_statistics_that_are_no_text_are_one_line(
    command: Callable[[Warehouse], object], warehouse: Warehouse
) -> None:
    change_catalogue(warehouse, "update ducklake_file_column_stats set min_value = x'ff'")
    with pytest.raises(
        ConfigurationError, match=r"no UTF-8: .*bring its catalogue back"
    ) as refused:
        command(warehouse)
    assert "\n" not in str(refused.value)


def test_a_lake_whose_ledger_has_columns_of_another_type_is_refused_in_one_line(
    warehouse: Warehouse,
) -> None:
    sequence = of_column("ledger", "sequence")
    change_catalogue(
        warehouse, f"update ducklake_column set column_type = 'varchar' where {sequence}"
    )
    for command in (verify, verify_ledger):
        with pytest.raises(ConfigurationError, match=r"does not fit .*ledger\.") as refused:
            command(warehouse)
        assert "\n" not in str(refused.value)


def test_a_recorded_row_with_a_key_given_twice_is_one_line(warehouse: Warehouse) -> None:
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        record(work, "human_votes", make_vote("vote-1"))
    fold_into_lake(warehouse)
    with closing(sqlite3.connect(services_file(warehouse), isolation_level=None)) as services:
        services.execute(
            'update records set record = replace(record, \'"voter":\', \'"voter":"p-x","voter":\')'
        )
    problem = verify_ledger(warehouse).problems[0]
    assert "vote-1 in" in problem
    assert "cannot be read" in problem
