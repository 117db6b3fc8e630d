import multiprocessing
import os
import pickle
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigurationError
from warehouse.stores.keyed_store import KeyedStore, json_entry

SPAWN = multiprocessing.get_context("spawn")


def _write(path: Path, worker: int, entries: int) -> None:
    store = KeyedStore(path)
    for number in range(entries):
        store.put_many({f"{worker}-{number}": b"x" * 100, "shared": str(worker).encode()})


def _write_and_die(path: Path) -> None:
    KeyedStore(path).put_many({"kept": b"value"})
    os.kill(os.getpid(), signal.SIGKILL)


def test_missing_keys_are_left_out(tmp_path: Path) -> None:
    with KeyedStore(tmp_path / "deep" / "cache.sqlite") as store:
        store.put_many({"a": b"1", "b": b""})
        store.put_many({"a": b"2"})
        assert store.get_many(["a", "b", "c"]) == {"a": b"2", "b": b""}
        assert store.get_many([]) == {}


def test_old_entries_are_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = KeyedStore(tmp_path / "cache.sqlite")
    store.put_many({"a": b"1"})
    now = __import__("time").time()
    monkeypatch.setattr("warehouse.stores.keyed_store.time.time", lambda: now + 100)
    assert store.get_many(["a"], maximum_age_seconds=50) == {}
    assert store.get_many(["a"], maximum_age_seconds=500) == {"a": b"1"}


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        st.binary(max_size=50),
        max_size=8,
    )
)
def test_what_is_stored_comes_back(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, bytes]
) -> None:
    store = KeyedStore(tmp_path_factory.mktemp("store") / "cache.sqlite")
    store.put_many(entries)
    assert store.get_many(list(entries)) == entries


def test_more_keys_than_one_query_takes(tmp_path: Path) -> None:
    store = KeyedStore(tmp_path / "cache.sqlite")
    entries = {str(number): str(number).encode() for number in range(1234)}
    store.put_many(entries)
    assert store.get_many([*entries, "none"]) == entries


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    workers = [SPAWN.Process(target=_write, args=(path, worker, 50)) for worker in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert (
        len(
            KeyedStore(path).get_many(
                [f"{worker}-{number}" for worker in range(4) for number in range(50)]
            )
        )
        == 200
    )


def test_entries_survive_the_death_of_their_writer(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    writer = SPAWN.Process(target=_write_and_die, args=(path,))
    writer.start()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
    assert KeyedStore(path).get_many(["kept"]) == {"kept": b"value"}


def test_a_damaged_file_is_named_with_the_way_to_mend_it(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is no database" * 500)
    with pytest.raises(ConfigurationError, match=r"cache\.sqlite is damaged .*: delete this file"):
        KeyedStore(path).get_many(["a"])


def test_a_file_damaged_in_the_middle_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    store = KeyedStore(path)
    store.put_many({str(number): b"x" * 500 for number in range(500)})
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="delete this file"):
        KeyedStore(path).get_many([str(number) for number in range(500)])


@pytest.mark.parametrize("value", ["text", 7, 1.5])
def test_an_entry_that_is_no_bytes_is_not_there(tmp_path: Path, value: object) -> None:
    path = tmp_path / "cache.sqlite"
    with KeyedStore(path) as store:
        store.put_many({"a": b"1", "b": b"2"})
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update entries set value = ? where key = 'a'", (value,))
        assert store.get_many(["a", "b"]) == {"b": b"2"}


def test_an_entry_that_claims_to_be_huge_is_damage_and_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    # A frame of one segment with a length of eight bytes: four terabytes.
    huge = b"\x28\xb5\x2f\xfd\xe0" + (4 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
    assert zstandard.frame_content_size(huge) == 4 << 40
    with KeyedStore(path) as store:
        store.put_many({"a": b"1"})
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update entries set value = ?", (huge,))
        with pytest.raises(ConfigurationError, match="delete this file"):
            store.get_many(["a"])


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (b'{"a": 1}', {"a": 1}),
        (None, None),
        (b"", None),
        (b"\xff", None),
        (b"{", None),
        (b"[" * 100_000, None),
    ],
)
def test_an_entry_that_is_no_json_says_nothing(entry: bytes | None, said: object) -> None:
    assert json_entry(entry) == said


def test_a_folder_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be opened"):
        KeyedStore(tmp_path / "file" / "cache.sqlite").put_many({"a": b""})


def test_a_store_travels_as_its_path(tmp_path: Path) -> None:
    store = KeyedStore(tmp_path / "cache.sqlite")
    store.put_many({"a": b"1"})
    assert pickle.loads(pickle.dumps(store)).get_many(["a"]) == {"a": b"1"}
