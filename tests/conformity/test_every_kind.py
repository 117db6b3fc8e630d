"""What holds for every kind of work: units are whole or absent, and the work is published whole or
not at all.

Kinds share the mechanism: each makes its way through the lake once, and one kind is tried in depth;
`make long` tries two more so: runs, and rankings, which rest on them.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.base import replace
from schemas.calls import LlmCall
from schemas.errors import ConfigurationError, PublicationError, UnknownNameError
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget, UnitReceipt
from schemas.tables import SERVICE_TABLES, TABLE, TABLES
from schemas.works.check_run import CHECKS
from tasks.accounting.budgets import SharedBudget, Spend
from tests.support.evaluations import make_llm_call
from tests.support.tiers import some
from tests.support.work_of_every_kind import WORKS, Work
from warehouse.compact import compact
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS
from warehouse.parquet import read_rows
from warehouse.row_models import Publication
from warehouse.units import landing
from warehouse.units.deletion import delete_work, deletions_path
from warehouse.units.kind import kind_of
from warehouse.units.landing import (
    RECEIPT_FILE,
    extra_row_files,
    iterate_receipts,
    journalled_calls,
    landed_names,
    read_head,
    unit_folders,
    write_head,
)
from warehouse.units.later_validation import LaterValidation, unvalidated_works, validate_published
from warehouse.units.publish import publish
from warehouse.units.published_work import published_units
from warehouse.units.unit_rows import land_unit, landed_unit
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

every_kind = pytest.mark.parametrize("work", WORKS, ids=lambda work: work.kind.word)
TRIED = [work for work in WORKS if work.kind in (kind_of(CHECKS), RUNS, RANKINGS)]
in_depth = pytest.mark.parametrize(
    "work", some(TRIED, lambda work: work.kind is kind_of(CHECKS)), ids=lambda work: work.kind.word
)
JOURNALLED_RUN = RunId("r1")

Made = Callable[[Work], Path]
"""A warehouse of that work, made once for all tests: they work in copies."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All that the work rests on."""

    @cache
    def made(work: Work) -> Path:
        warehouse = Warehouse(tmp_path_factory.mktemp("prepared"))
        work.prepare(warehouse)
        return warehouse.root

    return made


@pytest.fixture(scope="module")
def in_lake(prepared: Made, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The work published as well."""

    @cache
    def made(work: Work) -> Path:
        warehouse = copied(prepared(work), tmp_path_factory.mktemp("published"))
        land_all(warehouse, work)
        assert published(warehouse, work).published
        return warehouse.root

    return made


def copied(warehouse: Path, folder: Path) -> Warehouse:
    return Warehouse(shutil.copytree(warehouse, folder, dirs_exist_ok=True))


@pytest.fixture
def warehouse(work: Work, prepared: Made, tmp_path: Path) -> Warehouse:
    """A warehouse with all that the work rests on."""
    return copied(prepared(work), tmp_path)


@pytest.fixture
def done(work: Work, in_lake: Made, tmp_path: Path) -> Warehouse:
    """A warehouse in which the work is published."""
    return copied(in_lake(work), tmp_path)


def receipts_of(warehouse: Warehouse, work: Work) -> list[UnitReceipt]:
    return list(iterate_receipts(warehouse, work.kind, *work.names))


def land_all(warehouse: Warehouse, work: Work) -> None:
    for number in range(2):
        work.land(warehouse, number, f"call-{number}")
    write_head(warehouse, work.kind, work.head(warehouse))


def published(warehouse: Warehouse, work: Work) -> Publication:
    return publish(warehouse, work.kind, work.head(warehouse))


def rows_in_lake(warehouse: Warehouse, work: Work) -> dict[str, int]:
    counted = (
        f"select '{table.name}', count(*) from {table.name} where {work.kind.condition(table)}"
        for table in work.kind.published_tables
    )
    with warehouse.reader() as connection:
        sql = " union all ".join(counted)
        return dict(connection.execute(sql, work.kind.parameters(*work.names)).fetchall())


def snapshots(warehouse: Warehouse) -> int:
    with warehouse.reader() as connection:
        sql = "select count(*) from ducklake_snapshots('lake')"
        return int(connection.execute(sql).fetchall()[0][0])


def first_folder(warehouse: Warehouse, work: Work) -> Path:
    return unit_folders(warehouse, work.kind, *work.names)[0]


def test_every_kind_is_tried_here_and_its_tables_are_known() -> None:
    assert {each.kind for each in WORKS} == set(KINDS)
    for kind in KINDS:
        assert {*kind.tables, kind.head_table} <= TABLE.keys()
    filled = {table for kind in KINDS for table in kind.published_tables}
    assert filled == set(TABLES) - set(SERVICE_TABLES) - {TABLE["ledger"]}


@every_kind
def test_a_unit_landed_twice_is_there_once_and_is_read_back_whole(
    work: Work, warehouse: Warehouse, tmp_path: Path
) -> None:
    before = work.land(warehouse, 0, "call-0")
    assert work.land(warehouse, 0, "call-0").rows == before.rows
    (receipt,) = receipts_of(warehouse, work)
    assert receipt.rows == before.rows
    for name, count in receipt.rows.items():
        path = first_folder(warehouse, work) / f"{name}.parquet"
        assert path.exists() == bool(count)
        assert not count or len(read_rows(TABLE[name], path)) == count
    unit = landed_unit(warehouse, work.kind, *filter(None, (*work.names, receipt.unit)))
    other, times = Warehouse(tmp_path / "other"), (receipt.started_at, receipt.finished_at)
    again = land_unit(other, work.kind, receipt.run_id, unit, *times)
    rows = landing.landed_rows(warehouse, work.kind, receipt)
    assert rows and landing.landed_rows(other, work.kind, again) == rows
    assert again.incomplete_reason == receipt.incomplete_reason
    assert read_head(warehouse, work.kind, *work.names) is None, "until all have landed"


@in_depth
def test_calls_of_an_earlier_start_land_with_the_unit_once(
    work: Work, warehouse: Warehouse
) -> None:
    work.land(warehouse, 0, "call-0")
    folder = first_folder(warehouse, work)
    unit = folder.relative_to(warehouse.landing).as_posix()
    shutil.rmtree(folder)
    answered = make_llm_call(IdeaId("i1"), 0, call_id="answered", cost_usd=0.25)
    lost = make_llm_call(IdeaId("i1"), 1, call_id="lost", cost_usd=None)
    asyncio.run(journal(warehouse, unit, answered, lost))
    for _ in range(2):
        work.land(warehouse, 0, "call-0")
        rows = read_rows(TABLE["llm_calls"], folder / "llm_calls.parquet")
        costs = {row["call_id"]: row["cost_usd"] for row in rows}
        assert len(rows) == len(costs) == 3
        assert (costs["answered"], costs["lost"]) == (0.25, None)
        assert all(row[name] == value for row in rows for name, value in keys(work).items())
    budget = SharedBudget(warehouse.budgets, JOURNALLED_RUN, Budget())
    assert budget.spent() == Spend(cost_usd=0.25 + 0.5, tokens=7 + 9)


@in_depth
def test_a_landed_call_replaces_the_journalled_row_without_an_answer(
    work: Work, warehouse: Warehouse
) -> None:
    work.land(warehouse, 0, "call-0")
    folder = first_folder(warehouse, work)
    (landed,) = read_rows(TABLE["llm_calls"], folder / "llm_calls.parquet")
    assert landed["cost_usd"] is not None
    lost = [
        make_llm_call(IdeaId("i1"), place, call_id=name, cost_usd=None)
        for place, name in enumerate(("another", "call-0"))
    ]
    asyncio.run(journal(warehouse, folder.relative_to(warehouse.landing).as_posix(), *lost))
    work.land(warehouse, 0, "call-1")
    rows = read_rows(TABLE["llm_calls"], folder / "llm_calls.parquet")
    costs = {row["call_id"]: row["cost_usd"] for row in rows}
    assert len(rows) == len(costs) == 3
    assert (costs["call-0"], costs["another"]) == (landed["cost_usd"], None)


def keys(work: Work) -> dict[str, str]:
    return dict(zip(work.kind.ids, work.names, strict=True))


async def journal(
    warehouse: Warehouse,
    unit: str,
    answered: LlmCall,
    lost: LlmCall,
    run_id: RunId = JOURNALLED_RUN,
) -> None:
    """What a start leaves that is killed while it waits for the answer to `lost`."""
    budget = SharedBudget(warehouse.budgets, run_id, Budget())
    first = await budget.reserve(answered.idea_id, cost_usd=0.5, tokens=9)
    budget.send(first, unit, answered)
    budget.settle(first, cost_usd=0.25, tokens=7, call=answered)
    second = await budget.reserve(lost.idea_id, cost_usd=0.5, tokens=9)
    budget.send(second, unit, lost)
    budget.close()


def die_while_landing(warehouse: Warehouse, work: Work, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What it leaves behind."""

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(landing, "move_into_place", die)
        patched.setattr(landing.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            work.land(warehouse, 0, "another call")
    (left,) = [
        path
        for place in warehouse.building_places()
        for path in place.iterdir()
        if path.name.startswith(landing.LEFTOVERS)
    ]
    return left


@in_depth
def test_a_unit_whose_worker_died_while_it_landed_is_absent(
    work: Work, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_while_landing(warehouse, work, monkeypatch)
    assert receipts_of(warehouse, work) == []


@in_depth
def test_a_unit_whose_worker_died_while_it_landed_anew_is_what_it_was_and_is_tidied_up(
    work: Work, done: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = receipts_of(done, work)
    os.utime(die_while_landing(done, work, monkeypatch), (0, 0))
    assert receipts_of(done, work) == before
    assert compact(done).leftovers_removed == 1
    assert len(before) == len(unit_folders(done, work.kind, *work.names))
    assert verify(done).sound


@in_depth
def test_calls_once_paid_for_stay_on_the_bill(work: Work, warehouse: Warehouse) -> None:
    work.land(warehouse, 0, "first")
    receipt = work.land(warehouse, 0, "second")
    rows = read_rows(TABLE["llm_calls"], first_folder(warehouse, work) / "llm_calls.parquet")
    assert [(row["call_id"], row["position"]) for row in rows] == [("first", 0), ("second", 1)]
    assert receipt.rows["llm_calls"] == 2


@every_kind
def test_it_is_landed_published_validated_verified_and_deleted(
    work: Work, warehouse: Warehouse
) -> None:
    land_all(warehouse, work)
    assert read_head(warehouse, work.kind, *work.names) == work.head(warehouse)
    told = published(warehouse, work)
    rows = rows_in_lake(warehouse, work)
    assert (told.published, told.rows) == (True, rows)
    landed = receipts_of(warehouse, work)
    with warehouse.reader() as connection:
        units = published_units(connection, work.kind, *work.names)
    names = sorted(receipt.unit for receipt in landed)
    assert sorted(getattr(unit, work.kind.name_column) for unit in units) == names
    for name in work.kind.tables:
        assert rows[name] == sum(receipt.rows[name] for receipt in landed)
    assert rows[work.kind.head_table] == 1
    validated_later(warehouse, work)
    assert verify(warehouse).problems == ()
    if len(work.names) == 1:  # a ranking goes with its run
        delete_work(warehouse, work.kind, work.kind.run_id(*work.names))
        assert set(rows_in_lake(warehouse, work).values()) == {0}


def validated_later(warehouse: Warehouse, work: Work) -> None:
    """Great Expectations validates what is published once, and changes none of its rows."""
    before = rows_in_lake(warehouse, work)
    assert validate_published(warehouse, [work.kind]) == LaterValidation(validated=1)
    with warehouse.reader() as connection:
        condition = work.kind.condition(TABLE["validations"])
        sql = f"select bool_and(great_expectations is not null) from validations where {condition}"
        assert connection.execute(sql, work.kind.parameters(*work.names)).fetchall() == [(True,)]
        assert unvalidated_works(connection, work.kind) == []
    assert rows_in_lake(warehouse, work) == before


@in_depth
def test_publishing_twice_changes_nothing(work: Work, done: Warehouse) -> None:
    before, told = snapshots(done), rows_in_lake(done, work)
    head = work.head(done)
    later = replace(head, finished_at=head.finished_at + timedelta(hours=1))
    again = publish(done, work.kind, later)
    assert (again.published, again.unchanged) == (True, True)
    assert snapshots(done) == before
    assert again.rows == told == rows_in_lake(done, work)


@in_depth
def test_a_unit_landed_anew_replaces_its_rows(work: Work, done: Warehouse) -> None:
    before = rows_in_lake(done, work)
    work.land(done, 0, "another call")
    again = published(done, work)
    assert again.rows == rows_in_lake(done, work)
    assert (again.published, again.unchanged) == (True, False)
    assert again.rows["llm_calls"] == before["llm_calls"] + 1
    assert {name: again.rows[name] for name in work.kind.tables if name != "llm_calls"} == {
        name: before[name] for name in work.kind.tables if name != "llm_calls"
    }
    assert verify(done).sound


@in_depth
def test_rows_that_are_not_those_of_the_receipts_are_not_published(
    work: Work, warehouse: Warehouse
) -> None:
    land_all(warehouse, work)
    path = first_folder(warehouse, work) / RECEIPT_FILE
    told = orjson.loads(path.read_bytes())
    told["rows"]["llm_calls"] += 1
    path.write_bytes(orjson.dumps(told))
    with pytest.raises(
        PublicationError, match=r"was not published: its files hold .* receipts say"
    ):
        published(warehouse, work)
    assert set(rows_in_lake(warehouse, work).values()) == {0}


@in_depth
def test_a_broken_critical_expectation_keeps_it_out_of_the_lake_and_is_kept_beside_it(
    work: Work, warehouse: Warehouse
) -> None:
    land_all(warehouse, work)
    path = first_folder(warehouse, work) / "llm_calls.parquet"
    rows = pq.read_table(path)
    place = rows.schema.get_field_index("run_id")
    others = pa.array(["another run"] * len(rows))
    pq.write_table(rows.set_column(place, rows.schema.field(place), others), path)
    report = published(warehouse, work)
    assert not report.published
    assert report.failed_expectations[0].startswith(
        "llm_calls.run_id: expect_column_values_to_be_in_set"
    )
    assert set(rows_in_lake(warehouse, work).values()) == {0}
    kept = orjson.loads(work.kind.validation_file(warehouse, *work.names).read_bytes())
    assert kept["passed"] is False


@in_depth
def test_what_is_deleted_is_gone_and_leaves_a_line(work: Work, done: Warehouse) -> None:
    if len(work.names) > 1:
        pytest.skip("it goes with its run")
    name = work.kind.run_id(*work.names)
    beside = done.work(name) / "draft.md"
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text("as it was reviewed")
    assert delete_work(done, work.kind, name).bytes_freed > 1_000
    assert set(rows_in_lake(done, work).values()) == {0}
    assert not work.kind.folder(done, name).exists()
    assert not beside.exists()
    (line,) = deletions_path(done).read_bytes().splitlines()
    assert orjson.loads(line)["kind"] == work.kind.word
    assert verify(done).sound
    with pytest.raises(UnknownNameError, match="is not published"):
        delete_work(done, work.kind, name)


@in_depth
def test_deleted_work_leaves_no_spending_and_no_journal(work: Work, done: Warehouse) -> None:
    if len(work.names) > 1:
        pytest.skip("it goes with its run")
    name = work.kind.run_id(*work.names)
    units = [
        first_folder(done, work).relative_to(done.landing).as_posix(),
        f"{work.kind.word}=another/unit=1",
    ]
    calls = [make_llm_call(IdeaId("i1"), n, call_id=f"call-{n}", cost_usd=0.25) for n in range(4)]
    asyncio.run(journal(done, units[0], *calls[:2], run_id=name))
    asyncio.run(journal(done, units[1], *calls[2:], run_id=RunId("another")))
    delete_work(done, work.kind, name)
    spent = [SharedBudget(done.budgets, run, Budget()).spent() for run in (name, RunId("another"))]
    assert spent == [Spend(), Spend(cost_usd=0.25 + 0.5, tokens=7 + 9)]
    assert [len(journalled_calls(done, unit)) for unit in units] == [0, 2]


@in_depth
def test_a_damaged_receipt_is_one_line_that_says_what_to_do(work: Work, done: Warehouse) -> None:
    path = first_folder(done, work) / RECEIPT_FILE
    for content in (b"", b'{"colour": "red"}', b'{"run_id": "r'):
        path.write_bytes(content)
        with pytest.raises(ConfigurationError) as refused:
            receipts_of(done, work)
        assert str(refused.value).startswith(str(path))
        assert str(refused.value).endswith(work.kind.remedy)
        assert "\n" not in str(refused.value)
    assert [each for each in verify(done).problems if str(path) in each] == [str(refused.value)]


@in_depth
def test_what_has_landed_and_is_not_published_is_found(
    work: Work, prepared: Made, in_lake: Made, tmp_path: Path
) -> None:
    """Beside what is: what it rests on, or work of another kind."""
    beside = prepared(work)
    if not Warehouse(beside).catalogue.exists():
        others = (other for other in WORKS if set(other.names).isdisjoint(work.names))
        beside = in_lake(next(others))
    warehouse = copied(beside, tmp_path)
    land_all(warehouse, work)
    assert work.names in landed_names(warehouse, work.kind)
    assert list(extra_row_files(warehouse, work.kind, *work.names)) == []
    about = [each for each in verify(warehouse).problems if work.kind.title(*work.names) in each]
    assert bool(about) is not work.kind.is_nested


@every_kind
def test_a_name_that_can_name_no_folder_is_refused(work: Work, tmp_path: Path) -> None:
    for name in ("", "../up", "a/b", ".hidden", "a" * 300):
        with pytest.raises(ConfigurationError, match="cannot name a folder"):
            work.kind.folder(Warehouse(tmp_path), *work.names[:-1], name)
