"""Caches take little room, and as much as the settings say."""

import sqlite3
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.settings import CacheSettings
from warehouse.stores.keyed_store import KeyedStore, trim_caches
from warehouse.warehouse import Warehouse

PROSE = b"Sparse routing of tokens saves compute, and it is hard to train. " * 40


def stored(path: Path) -> dict[str, bytes]:
    with sqlite3.connect(path) as connection:
        return dict(connection.execute("select key, value from entries").fetchall())


def test_what_can_be_smaller_is_stored_smaller_and_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    values = {
        "prose": PROSE,
        "short": b"yes",
        "empty": b"",
        "noise": bytes(range(256)) * 2,
        "looks compressed": b"\x28\xb5\x2f\xfd and is not",
    }
    with KeyedStore(path) as store:
        store.put_many(values)
        assert store.get_many(list(values)) == values
    assert len(stored(path)["prose"]) < len(PROSE) / 5
    assert stored(path)["short"] == b"yes"


def test_what_is_too_old_goes_and_then_the_oldest_until_the_rest_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Warehouse(tmp_path)
    path = warehouse.cache / "replies.sqlite"
    now = 1_800_000_000.0
    with KeyedStore(path) as store:
        for days_ago in (400, 3, 2, 1):
            monkeypatch.setattr("time.time", lambda ago=days_ago: now - ago * 86_400)
            noise = bytes((7 * n * n + days_ago) % 251 for n in range(200))
            store.put_many({f"{days_ago}-{n}": noise for n in range(3_000)})
    monkeypatch.setattr("time.time", lambda: now)
    (trimmed,) = trim_caches(warehouse, CacheSettings(maximum_megabytes=1))
    kept = stored(path)
    assert trimmed.entries_dropped == 12_000 - len(kept)
    assert not any(key.startswith("400-") for key in kept)
    assert {f"1-{n}" for n in range(3_000)} <= kept.keys()
    assert 900_000 < sum(len(key) + len(value) for key, value in kept.items()) <= 1_000_000
    assert trimmed.bytes_after < trimmed.bytes_before / 2


def test_a_damaged_value_names_the_file_and_how_to_mend_it(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with KeyedStore(path) as store:
        store.put_many({"a": PROSE})
        with sqlite3.connect(path) as connection:
            connection.execute("update entries set value = substr(value, 1, 20)")
        with pytest.raises(ConfigurationError, match="is damaged"):
            store.get_many(["a"])
