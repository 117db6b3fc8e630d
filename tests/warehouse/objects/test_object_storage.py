"""A lake whose files lie in object storage, which is slow, full of gaps, or refuses."""

import multiprocessing
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
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
from tests.support.object_server import BUCKET, SECRET, Fault, ObjectServer
from tests.warehouse.conftest import storage
from warehouse import compact as compacting
from warehouse.compact import compact
from warehouse.console.console import run_sql
from warehouse.export import export_lake
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import lies_in, open_reader
from warehouse.layout import Layout
from warehouse.objects import object_storage
from warehouse.objects.move_data import move_data
from warehouse.objects.object_storage import ObjectFolder, forget_client
from warehouse.reading import LakeReading
from warehouse.units.publish import publish
from warehouse.verify.verify import verify

ADDRESS = f"s3://{BUCKET}/assay"
PLACE = ObjectFolder.of(ADDRESS).within("lake")
ONE_RUN = {"runs": 1, "ideas": 2, "methods": 6}
TWO_RUNS = {name: 2 * count for name, count in ONE_RUN.items()}


@pytest.fixture(scope="module")
def moved(
    two_ideas: Layout, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, bytes]]:
    """A warehouse and its objects: run `run-a` is published there, `run-b` has landed."""
    layout = Layout(shutil.copytree(two_ideas.root, tmp_path_factory.mktemp("moved") / "w"))
    with storage() as server:
        moved = move_data(layout, ADDRESS)
    assert moved.files == moved.files_copied > 0
    shutil.rmtree(layout.data)
    for number in range(2):
        land(layout, make_evaluation(number, run_id="run-b"))
    return layout.root, server.objects


@pytest.fixture
def layout(server: ObjectServer, moved: tuple[Path, dict[str, bytes]], tmp_path: Path) -> Layout:
    """A copy of that warehouse, whose objects the server has."""
    folder, objects = moved
    for name, content in objects.items():
        server.put(name, content)
    return Layout(shutil.copytree(folder, tmp_path / "warehouse"))


def publish_run_b(layout: Layout) -> bool:
    return publish(layout, RUNS, make_run("run-b", ideas=2)).published


def counts(layout: Layout) -> dict[str, int]:
    with open_reader(layout) as connection:
        return {
            name: connection.execute(f"select count(*) from {name}").fetchall()[0][0]
            for name in ONE_RUN
        }


@pytest.mark.long
def test_a_lake_in_object_storage_is_published_to_read_compacted_exported_and_moved_back(
    layout: Layout, server: ObjectServer, tmp_path: Path
) -> None:
    assert publish_run_b(layout)
    assert server.operations("put")
    assert counts(layout) == TWO_RUNS
    assert run_sql(layout, "select count(*) as n from ideas") == [{"n": 4}]
    with open_reader(layout) as connection:
        ((before,),) = connection.execute(
            "select min(snapshot_id) from ducklake_snapshots('lake')"
            " where snapshot_id >= (select min(begin_snapshot) from"
            " __ducklake_metadata_lake.ducklake_data_file)"
        ).fetchall()
        ((then,),) = connection.execute(
            f"select count(*) from ideas at (version => {before})"
        ).fetchall()
        assert then <= ONE_RUN["ideas"]
    assert compact(layout, keep=timedelta(0)).files_after > 0
    assert verify(layout).problems == ()
    rows = export_lake(layout, tmp_path / "lake.duckdb")
    assert {name: rows[name] for name in TWO_RUNS} == TWO_RUNS
    assert not layout.data.exists()

    assert move_data(layout, None).kept == PLACE.address
    server.objects.clear()
    assert counts(layout) == TWO_RUNS
    assert verify(layout).problems == ()


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        ("other/x.parquet", "Cannot access file"),
        # DuckDB takes this for an address inside the lake; the storage refuses its signature.
        ("assay/lake/../../other/x.parquet", "the secret is not that of the key"),
    ],
)
def test_a_path_outside_the_lake_that_is_planted_while_it_is_open_is_neither_read_nor_deleted(
    key: str, refusal: str, layout: Layout, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"s3://{BUCKET}/{key}"
    refused = pytest.raises((duckdb.PermissionException, ConfigurationError), match=refusal)
    with refused, open_reader(layout) as connection:
        change_catalogue(layout, f"update ducklake_data_file set path = '{path}'")
        change_catalogue(layout, "update ducklake_data_file set path_is_relative = 0")
        connection.execute("select * from ledger").fetchall()
    change_catalogue(layout, "delete from ducklake_data_file")

    def plant(_: duckdb.DuckDBPyConnection) -> int:
        values = f"(999999, '{path}', 0, '2020-01-01 00:00:00+00')"
        change_catalogue(
            layout, f"insert into ducklake_files_scheduled_for_deletion values {values}"
        )
        return 0

    monkeypatch.setattr(compacting, "_merge_files", plant)
    with pytest.raises(ConfigurationError, match="Assay never writes there"):
        compact(layout)
    assert not server.operations("delete")


def change_catalogue(layout: Layout, sql: str) -> None:
    with closing(sqlite3.connect(layout.catalogue, isolation_level=None)) as catalogue:
        catalogue.execute(sql)


@pytest.mark.parametrize("was_moved", [True, False])
def test_an_address_that_only_the_catalogue_names_is_neither_written_to_nor_cleared(
    was_moved: bool, layout: Layout, two_ideas: Layout, server: ObjectServer, tmp_path: Path
) -> None:
    lake = layout if was_moved else Layout(shutil.copytree(two_ideas.root, tmp_path / "unmoved"))
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


def test_a_lake_that_was_moved_before_moves_were_noted_is_opened_after_one_more_move(
    layout: Layout,
) -> None:
    (layout.state / "data_place.txt").unlink()
    with pytest.raises(ConfigurationError, match=f"move-data {ADDRESS}`"):
        counts(layout)
    assert move_data(layout, ADDRESS).files_copied == 0
    assert counts(layout) == ONE_RUN


def test_files_that_arrive_at_the_second_attempt_are_there_once_whatever_a_listing_lacks(
    layout: Layout, server: ObjectServer
) -> None:
    server.unlisted = lambda key: True
    server.faults = [
        Fault("slow_down", "put", in_key="/papers/"),
        Fault("late", "put", in_key="/llm_calls/"),
        Fault("partial", "put", in_key="/passages/"),
    ]
    assert publish_run_b(layout)
    assert server.faults == [], "each went wrong once"
    assert counts(layout) == TWO_RUNS
    assert_no_secret(layout, server)


@pytest.mark.long
def test_what_a_listing_lacks_is_moved_all_the_same(layout: Layout, server: ObjectServer) -> None:
    server.unlisted = lambda key: True
    assert move_data(layout, f"s3://{BUCKET}/elsewhere").files_copied > 0
    server.objects = {
        name: content for name, content in server.objects.items() if name.startswith("elsewhere/")
    }
    assert counts(layout) == ONE_RUN


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
    content: Callable[[], bytes], layout: Layout, server: ObjectServer
) -> None:
    (name,) = (each for each in server.objects if "/lake/main/papers/" in each)
    server.objects[name] = content()
    server.objects[f"{name}.of-a-stranger.parquet"] = parquet(title=["forged"])
    said: list[str] = []
    for command in (lambda: verify(layout).problems, lambda: run_sql(layout, "from papers")):
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
    layout: Layout, server: ObjectServer, how: str, told: str
) -> None:
    refuse(server, how)
    with pytest.raises(PublicationError, match=told) as refused:
        publish_run_b(layout)
    assert "\n" not in str(refused.value)
    server.faults.clear()
    refuse(server, "no more")
    assert counts(layout) == ONE_RUN
    assert publish_run_b(layout)
    assert counts(layout) == TWO_RUNS


@pytest.mark.long
def test_a_publisher_that_is_killed_while_a_file_is_on_its_way_leaves_the_lake_as_it_was(
    layout: Layout, server: ObjectServer
) -> None:
    before = set(server.objects)
    server.faults = [Fault("hangs", "put", None, in_key="/llm_calls/")]
    process = multiprocessing.get_context("spawn").Process(target=publish_run_b, args=(layout,))
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
    assert counts(layout) == ONE_RUN
    assert publish_run_b(layout)
    assert counts(layout) == TWO_RUNS
    assert verify(layout).problems == ()


@pytest.mark.long
def test_verification_names_an_object_that_is_gone_and_one_that_is_short(
    layout: Layout, server: ObjectServer
) -> None:
    gone, short = sorted(server.objects)[:2]
    del server.objects[gone]
    server.objects[short] = server.objects[short][:-1]
    problems = "\n".join(verify(layout).problems)
    assert f"s3://{BUCKET}/{gone} is missing" in problems
    assert f"s3://{BUCKET}/{short} has not the" in problems


def test_verification_that_cannot_look_finds_nothing_missing(
    layout: Layout, server: ObjectServer
) -> None:
    server.faults = [Fault("slow_down", "head", None)]
    with pytest.raises(UpstreamError, match="object storage"):
        verify(layout)


def test_verification_that_storage_refuses_says_why(
    layout: Layout, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
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
                verify(layout)
            with pytest.raises(ConfigurationError, match=told):
                PLACE.download("any", layout.root / "any")
        forget_client()
    server.expired = True
    with pytest.raises(ConfigurationError, match="the credentials have expired: renew them"):
        verify(layout)


def calls_in(reading: LakeReading) -> int:
    with reading.queries() as queries:
        queries.connection.execute("set enable_external_file_cache = false")
        ((found,),) = queries.connection.execute("select count(step) from llm_calls").fetchall()
    return int(found)


def test_a_lake_that_stays_open_follows_credentials_that_are_renewed(
    layout: Layout, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = LakeReading(layout)
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
    layout: Layout, server: ObjectServer, sql: str
) -> None:
    server.put("other.parquet", b"of somebody else")
    with pytest.raises(ConfigurationError) as refused:
        run_sql(layout, sql)
    assert SECRET not in str(refused.value)
    assert not [each for each in server.asked if each.key.startswith("other")]


def test_storage_that_fails_during_a_question_is_no_wrong_sql(
    layout: Layout, server: ObjectServer
) -> None:
    server.faults = [Fault("slow_down", "get", None)]
    with pytest.raises(UpstreamError, match="object storage, the lake's files: SlowDown"):
        run_sql(layout, "select * from llm_calls")


def test_a_move_that_was_cut_short_changes_nothing_and_copies_the_rest_the_next_time(
    server: ObjectServer, two_ideas: Layout, tmp_path: Path
) -> None:
    layout = Layout(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))
    server.faults = [Fault("slow_down", "put", None, in_key="/papers/")]
    with pytest.raises(UpstreamError, match="SlowDown"):
        move_data(layout, ADDRESS)
    assert lies_in(layout, None) is None
    assert counts(layout) == ONE_RUN
    server.faults.clear()
    again = move_data(layout, ADDRESS)
    assert 0 < again.files_copied < again.files
    assert lies_in(layout, None) == PLACE
    assert counts(layout) == ONE_RUN
    assert Path(again.kept or "").is_dir()


def test_a_lake_without_anything_is_made_there(server: ObjectServer, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "new")
    assert move_data(layout, ADDRESS).kept is None
    for number in range(2):
        land(layout, make_evaluation(number, run_id="run-b"))
    assert publish_run_b(layout)
    assert counts(layout) == ONE_RUN
    assert not list(layout.root.glob("lake/data/**/*.parquet"))
    assert [name for name in server.objects if name.startswith(PLACE.prefix)]


def test_the_secret_is_in_no_file_of_the_warehouse_and_no_object(
    layout: Layout, server: ObjectServer
) -> None:
    server.may_write = False
    with suppress(AssayError):
        publish_run_b(layout)
    assert_no_secret(layout, server)


def assert_no_secret(layout: Layout, server: ObjectServer) -> None:
    kept = [path.read_bytes() for path in layout.root.rglob("*") if path.is_file()]
    assert kept
    assert not [
        content for content in (*kept, *server.objects.values()) if SECRET.encode() in content
    ]


@pytest.mark.parametrize(
    ("how", "told"),
    [("", None), ("denied", "may not do this"), ("expired", "renew them"), ("skewed", "clocks")],
)
def test_the_doctor_says_whether_the_bucket_can_be_written_before_anything_is_paid_for(
    layout: Layout, server: ObjectServer, how: str, told: str | None
) -> None:
    refuse(server, how)
    found = examine(layout.root, "extractive", None, load_profile("economy"), Settings())
    (part,) = (each for each in found if each.part == "object storage")
    assert part.state == ("ok" if told is None else "broken")
    assert PLACE.address in part.detail
    assert set(server.objects) == {each for each in server.objects if ".assay-" not in each}
    if told is None:
        check_place(layout.root, Settings())
    else:
        assert told in part.detail
        with pytest.raises(ConfigurationError, match=told):
            check_place(layout.root, Settings())


def test_a_server_that_is_not_there_is_one_line(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    forget_client()
    monkeypatch.setattr(object_storage, "ATTEMPTS", 1)
    with pytest.raises(UpstreamError, match="object storage, s3://lab/assay/lake/") as told:
        check_place(layout.root, Settings())
    assert "\n" not in str(told.value)


def test_without_credentials_the_variables_are_named(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    forget_client()
    with pytest.raises(ConfigurationError, match="export AWS_ACCESS_KEY_ID"):
        counts(layout)


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
