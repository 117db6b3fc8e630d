"""A lake whose files lie in object storage, which is slow, full of gaps, or refuses."""

import multiprocessing
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.profiles import load_profile
from flows.run.preflight import check_place, examine
from schemas.errors import AssayError, ConfigurationError, PublicationError, UpstreamError
from schemas.settings import Settings
from tests.support.assay_command import wait_until
from tests.support.evaluations import make_evaluation, make_run
from tests.support.lakes import change_catalogue
from tests.support.object_server import BUCKET, SECRET, Fault, ObjectServer
from tests.warehouse.conftest import storage
from warehouse import compact as compacting
from warehouse.catalogue.connection import Connection
from warehouse.compact import compact
from warehouse.console.console import run_sql
from warehouse.export import export_lake
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import lake_folder
from warehouse.lake_reader import LakeReader
from warehouse.move_lake import move_data
from warehouse.objects import object_storage
from warehouse.objects.object_storage import ObjectFolder, forget_client
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

ADDRESS = f"s3://{BUCKET}/assay"
PLACE = ObjectFolder.of(ADDRESS).within("lake")
ONE_RUN = {"runs": 1, "ideas": 2, "methods": 6}
TWO_RUNS = {name: 2 * count for name, count in ONE_RUN.items()}


@pytest.fixture(scope="module")
def moved(
    two_ideas: Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, bytes]]:
    """A warehouse and its objects: run `run-a` is published there, `run-b` has landed."""
    warehouse = Warehouse(shutil.copytree(two_ideas.root, tmp_path_factory.mktemp("moved") / "w"))
    with storage() as server:
        moved = move_data(warehouse, ADDRESS)
    assert moved.files == moved.files_copied > 0
    shutil.rmtree(warehouse.data)
    for number in range(2):
        land(warehouse, make_evaluation(number, run_id="run-b"))
    return warehouse.root, server.objects


@pytest.fixture
def warehouse(
    server: ObjectServer, moved: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> Warehouse:
    """A copy of that warehouse, whose objects the server has."""
    folder, objects = moved
    for name, content in objects.items():
        server.put(name, content)
    return Warehouse(shutil.copytree(folder, tmp_path / "warehouse"))


def publish_run_b(warehouse: Warehouse) -> bool:
    return publish(warehouse, RUNS, make_run("run-b", ideas=2)).published


def counts(warehouse: Warehouse) -> dict[str, int]:
    with warehouse.reader() as connection:
        return {
            name: connection.execute(f"select count(*) from {name}").fetchall()[0][0]
            for name in ONE_RUN
        }


@pytest.mark.long
def test_a_lake_in_object_storage_is_published_to_read_compacted_exported_and_moved_back(
    warehouse: Warehouse, server: ObjectServer, tmp_path: Path
) -> None:
    assert publish_run_b(warehouse)
    assert server.operations("put")
    assert counts(warehouse) == TWO_RUNS
    assert run_sql(warehouse, "select count(*) as n from ideas") == [{"n": 4}]
    with warehouse.reader() as connection:
        ((before,),) = connection.execute(
            "select min(snapshot_id) from ducklake_snapshots('lake')"
            " where snapshot_id >= (select min(begin_snapshot) from"
            " __ducklake_metadata_lake.ducklake_data_file)"
        ).fetchall()
        ((then,),) = connection.execute(
            f"select count(*) from ideas at (version => {before})"
        ).fetchall()
        assert then <= ONE_RUN["ideas"]
    assert compact(warehouse, keep=timedelta(0)).files_after > 0
    assert verify(warehouse).problems == ()
    rows = export_lake(warehouse, tmp_path / "lake.duckdb")
    assert {name: rows[name] for name in TWO_RUNS} == TWO_RUNS
    assert not warehouse.data.exists()

    assert move_data(warehouse, None).kept == PLACE.address
    server.objects.clear()
    assert counts(warehouse) == TWO_RUNS
    assert verify(warehouse).problems == ()


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        ("other/x.parquet", "Cannot access file"),
        # DuckDB takes this for an address inside the lake; the storage refuses its signature.
        ("assay/lake/../../other/x.parquet", "the secret is not that of the key"),
    ],
)
def test_a_path_outside_the_lake_that_is_planted_while_it_is_open_is_neither_read_nor_deleted(
    key: str,
    refusal: str,
    warehouse: Warehouse,
    server: ObjectServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = f"s3://{BUCKET}/{key}"
    refused = pytest.raises((duckdb.PermissionException, ConfigurationError), match=refusal)
    with refused, warehouse.reader() as connection:
        change_catalogue(warehouse, f"update ducklake_data_file set path = '{path}'")
        change_catalogue(warehouse, "update ducklake_data_file set path_is_relative = 0")
        connection.execute("select * from ledger").fetchall()
    change_catalogue(warehouse, "delete from ducklake_data_file")

    def plant(_: Connection) -> int:
        values = f"(999999, '{path}', 0, '2020-01-01 00:00:00+00')"
        change_catalogue(
            warehouse, f"insert into ducklake_files_scheduled_for_deletion values {values}"
        )
        return 0

    monkeypatch.setattr(compacting, "_merge_files", plant)
    with pytest.raises(ConfigurationError, match="Assay never writes there"):
        compact(warehouse)
    assert not server.operations("delete")


@pytest.mark.parametrize("was_moved", [True, False])
def test_an_address_that_only_the_catalogue_names_is_neither_written_to_nor_cleared(
    was_moved: bool,
    warehouse: Warehouse,
    two_ideas: Warehouse,
    server: ObjectServer,
    tmp_path: Path,
) -> None:
    lake = (
        warehouse if was_moved else Warehouse(shutil.copytree(two_ideas.root, tmp_path / "unmoved"))
    )
    other = f"s3://{BUCKET}/other/"
    server.put("other/notes.txt", b"of somebody else")
    change_catalogue(
        lake, f"update ducklake_metadata set value = '{other}' where key = 'data_path'"
    )
    change_catalogue(lake, "delete from ducklake_data_file")
    for command in (
        lambda: compact(lake, keep=timedelta(0)),
        lambda: publish(lake, RUNS, make_run("run-b", ideas=0)),
        lambda: run_sql(lake, "from runs"),
    ):
        with pytest.raises(ConfigurationError, match=f"names {other}") as refused:
            command()
        assert len(str(refused.value).splitlines()) == 1
    assert not server.operations("delete")
    assert [key for key in server.objects if key.startswith("other/")] == ["other/notes.txt"]


def test_a_moved_lake_whose_note_was_lost_is_opened_after_one_more_move(
    warehouse: Warehouse,
) -> None:
    (warehouse.state / "data_place.txt").unlink()
    with pytest.raises(ConfigurationError, match=f"move-data {ADDRESS}`"):
        counts(warehouse)
    assert move_data(warehouse, ADDRESS).files_copied == 0
    assert counts(warehouse) == ONE_RUN


def test_files_that_arrive_at_the_second_attempt_are_there_once_whatever_a_listing_lacks(
    warehouse: Warehouse, server: ObjectServer
) -> None:
    server.unlisted = lambda key: True
    server.faults = [
        Fault("slow_down", "put", in_key="/papers/"),
        Fault("late", "put", in_key="/llm_calls/"),
        Fault("partial", "put", in_key="/passages/"),
    ]
    assert publish_run_b(warehouse)
    assert server.faults == [], "each went wrong once"
    assert counts(warehouse) == TWO_RUNS
    assert_no_secret(warehouse, server)


@pytest.mark.long
def test_what_a_listing_lacks_is_moved_all_the_same(
    warehouse: Warehouse, server: ObjectServer
) -> None:
    server.unlisted = lambda key: True
    assert move_data(warehouse, f"s3://{BUCKET}/elsewhere").files_copied > 0
    server.objects = {
        name: content for name, content in server.objects.items() if name.startswith("elsewhere/")
    }
    assert counts(warehouse) == ONE_RUN


def parquet(**columns: list[object]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


PLANTED: dict[str, Callable[[], bytes]] = {
    "no Parquet": lambda: b"PAR1 and whatever stands behind it",
    "other columns": lambda: parquet(x=[1, 2]),
    "a bomb": lambda: parquet(title=["x" * 1_000_000] * 2_000),
}


@pytest.mark.long
@pytest.mark.parametrize("content", PLANTED.values(), ids=PLANTED.keys())
def test_a_file_that_somebody_exchanged_is_found_and_told_in_one_line(
    content: Callable[[], bytes], warehouse: Warehouse, server: ObjectServer
) -> None:
    (name,) = (each for each in server.objects if "/lake/main/papers/" in each)
    server.objects[name] = content()
    server.objects[f"{name}.of-a-stranger.parquet"] = parquet(title=["forged"])
    said: list[str] = []
    for command in (lambda: verify(warehouse).problems, lambda: run_sql(warehouse, "from papers")):
        try:
            said += map(str, command())
        except AssayError as error:
            said.append(str(error))
    assert "forged" not in str(said)
    assert any(word in str(said) for word in ("papers", "object storage"))
    assert all("\n" not in line for line in said)


def refuse(server: ObjectServer, how: str) -> None:
    if how == "slow_down":
        server.faults = [Fault("slow_down", "put", None)]
    server.expired = how == "expired"
    server.may_write = how != "denied"
    server.clock_is_ahead = timedelta(hours=how == "skewed")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("slow_down", "HTTP 503"),
        pytest.param("denied", "these credentials may not do this", marks=pytest.mark.long),
        pytest.param("expired", "have expired: renew them", marks=pytest.mark.long),
        pytest.param("skewed", "the clocks differ by more than", marks=pytest.mark.long),
    ],
)
def test_a_publication_that_storage_refuses_changes_nothing_and_is_made_by_the_same_call_later(
    warehouse: Warehouse, server: ObjectServer, how: str, told: str
) -> None:
    refuse(server, how)
    with pytest.raises(PublicationError, match=told) as refused:
        publish_run_b(warehouse)
    assert "\n" not in str(refused.value)
    assert_no_secret(warehouse, server)
    server.faults.clear()
    refuse(server, "no more")
    assert counts(warehouse) == ONE_RUN
    assert publish_run_b(warehouse)
    assert counts(warehouse) == TWO_RUNS


@pytest.mark.long
def test_a_publisher_that_is_killed_while_a_file_is_on_its_way_leaves_the_lake_as_it_was(
    warehouse: Warehouse, server: ObjectServer
) -> None:
    before = set(server.objects)
    server.faults = [Fault("hangs", "put", None, in_key="/llm_calls/")]
    process = multiprocessing.get_context("spawn").Process(target=publish_run_b, args=(warehouse,))
    process.start()
    wait_until(
        lambda: any("/llm_calls/" in each.key for each in server.operations("put")),
        60,
        "the file of calls",
    )
    process.kill()
    process.join()
    server.faults.clear()
    assert set(server.objects) > before, "files of nobody are left"
    assert counts(warehouse) == ONE_RUN
    assert publish_run_b(warehouse)
    assert counts(warehouse) == TWO_RUNS
    assert verify(warehouse).problems == ()


@pytest.mark.long
def test_verification_names_an_object_that_is_gone_and_one_that_is_short(
    warehouse: Warehouse, server: ObjectServer
) -> None:
    gone, short = sorted(server.objects)[:2]
    del server.objects[gone]
    server.objects[short] = server.objects[short][:-1]
    problems = "\n".join(verify(warehouse).problems)
    assert f"s3://{BUCKET}/{gone} is missing" in problems
    assert f"s3://{BUCKET}/{short} has not the" in problems


def test_verification_that_cannot_look_finds_nothing_missing(
    warehouse: Warehouse, server: ObjectServer
) -> None:
    server.faults = [Fault("slow_down", "head", None)]
    with pytest.raises(UpstreamError, match="object storage"):
        verify(warehouse)


def test_verification_that_storage_refuses_says_why(
    warehouse: Warehouse, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer to a question for a file's size has no room for a reason."""
    wrong = {
        "AWS_SECRET_ACCESS_KEY": "the secret is not that of the key: check AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID": "the key is not known there: check AWS_ACCESS_KEY_ID",
    }
    for variable, told in wrong.items():
        with monkeypatch.context() as patch:
            patch.setenv(variable, "of-somebody-else")
            forget_client()
            with pytest.raises(ConfigurationError, match=told):
                verify(warehouse)
            with pytest.raises(ConfigurationError, match=told):
                PLACE.download("any", warehouse.root / "any")
        forget_client()
    server.expired = True
    with pytest.raises(ConfigurationError, match="the credentials have expired: renew them"):
        verify(warehouse)


def calls_in(reading: LakeReader) -> int:
    with reading.queries() as queries:
        queries.connection.execute("set enable_external_file_cache = false")
        ((found,),) = queries.connection.execute("select count(step) from llm_calls").fetchall()
    return int(found)


def test_a_lake_that_stays_open_follows_credentials_that_are_renewed(
    warehouse: Warehouse, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = LakeReader(warehouse)
    try:
        calls = calls_in(reading)
        server.session_token = "a-new-token"
        with pytest.raises(ConfigurationError, match="AWS_SESSION_TOKEN"):
            calls_in(reading)
        monkeypatch.setenv("AWS_SESSION_TOKEN", "a-new-token")
        forget_client()
        assert calls_in(reading) == calls > 0
    finally:
        reading.close()


@pytest.mark.parametrize(
    "sql",
    [
        f"from read_blob('s3://{BUCKET}/other')",
        f"from 's3://{BUCKET}/other.parquet'",
        "from duckdb_secrets()",
        "select current_setting('s3_secret_access_key')",
    ],
)
def test_questions_in_sql_reach_neither_other_objects_nor_the_credentials(
    warehouse: Warehouse, server: ObjectServer, sql: str
) -> None:
    server.put("other.parquet", b"of somebody else")
    with pytest.raises(ConfigurationError) as refused:
        run_sql(warehouse, sql)
    assert SECRET not in str(refused.value)
    assert not [each for each in server.asked if each.key.startswith("other")]


def test_storage_that_fails_during_a_question_is_no_wrong_sql(
    warehouse: Warehouse, server: ObjectServer
) -> None:
    server.faults = [Fault("slow_down", "get", None)]
    with pytest.raises(UpstreamError, match="object storage, the lake's files: SlowDown"):
        run_sql(warehouse, "select * from llm_calls")


def test_a_move_that_was_cut_short_changes_nothing_and_copies_the_rest_the_next_time(
    server: ObjectServer, two_ideas: Warehouse, tmp_path: Path
) -> None:
    warehouse = Warehouse(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))
    server.faults = [Fault("slow_down", "put", None, in_key="/papers/")]
    with pytest.raises(UpstreamError, match="SlowDown"):
        move_data(warehouse, ADDRESS)
    assert lake_folder(warehouse, None) is None
    assert counts(warehouse) == ONE_RUN
    server.faults.clear()
    again = move_data(warehouse, ADDRESS)
    assert 0 < again.files_copied < again.files
    assert lake_folder(warehouse, None) == PLACE
    assert counts(warehouse) == ONE_RUN
    assert Path(again.kept or "").is_dir()


def test_a_lake_without_anything_is_made_there(server: ObjectServer, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "new")
    assert move_data(warehouse, ADDRESS).kept is None
    assert lake_folder(warehouse, None) == PLACE
    for number in range(2):
        land(warehouse, make_evaluation(number, run_id="run-b"))
    assert publish_run_b(warehouse)
    assert counts(warehouse) == ONE_RUN
    assert not list(warehouse.root.glob("lake/data/**/*.parquet"))
    assert [name for name in server.objects if name.startswith(PLACE.prefix)]


def assert_no_secret(warehouse: Warehouse, server: ObjectServer) -> None:
    kept = [path.read_bytes() for path in warehouse.root.rglob("*") if path.is_file()]
    assert kept
    assert not [
        content for content in (*kept, *server.objects.values()) if SECRET.encode() in content
    ]


@pytest.mark.parametrize(
    ("how", "told"),
    [("", None), ("denied", "may not do this"), ("expired", "renew them"), ("skewed", "clocks")],
)
def test_the_doctor_says_whether_the_bucket_can_be_written_before_anything_is_paid_for(
    warehouse: Warehouse, server: ObjectServer, how: str, told: str | None
) -> None:
    refuse(server, how)
    found = examine(warehouse.root, "extractive", None, load_profile("economy"), Settings())
    (part,) = (each for each in found if each.part == "object storage")
    assert part.state == ("ok" if told is None else "broken")
    assert PLACE.address in part.detail
    assert set(server.objects) == {each for each in server.objects if ".assay-" not in each}
    if told is None:
        check_place(warehouse.root, Settings())
    else:
        assert told in part.detail
        with pytest.raises(ConfigurationError, match=told):
            check_place(warehouse.root, Settings())


def test_a_server_that_is_not_there_is_one_line(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    forget_client()
    monkeypatch.setattr(object_storage, "ATTEMPTS", 1)
    with pytest.raises(UpstreamError, match="object storage, s3://lab/assay/lake/") as told:
        check_place(warehouse.root, Settings())
    assert "\n" not in str(told.value)


def test_without_credentials_the_variables_are_named(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    forget_client()
    with pytest.raises(ConfigurationError, match="export AWS_ACCESS_KEY_ID"):
        counts(warehouse)


@given(st.text(max_size=40).map(lambda rest: f"s3://{rest}") | st.text(max_size=40))
def test_an_address_is_read_as_it_is_written_or_refused(address: str) -> None:
    try:
        folder = ObjectFolder.of(address)
    except ConfigurationError as error:
        assert "\n" not in str(error)
        return
    assert folder.address.rstrip("/") == address.rstrip("/")
    assert ObjectFolder.of(folder.address) == folder


@pytest.mark.parametrize(
    "address",
    ["s3:/lab/x", "s3://", "s3://x", "s3://Lab/x", "s3://lab/../x", "s3://lab/a//b", "gs://lab/x"],
)
def test_what_is_no_place_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="s3://bucket/prefix"):
        ObjectFolder.of(address)
