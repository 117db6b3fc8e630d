"""Who may read what is written, whatever the mask of the shell."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.permissions import check_locks, keep_private
from warehouse.stores.keyed_store import KeyedStore
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """The most careless mask there is."""
    before = os.umask(0)
    yield
    os.umask(before)


def filled(warehouse: Warehouse) -> list[Path]:
    """Everything that landing, publishing and caching write."""
    keep_private(warehouse.root)
    land(warehouse, make_evaluation(0))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    with KeyedStore(warehouse.cache / "replies.sqlite") as store:
        store.put_many({"a": b"b"})
    assert RUNS.folder(warehouse, RunId("run-a")).is_dir()
    return [warehouse.root, *warehouse.root.rglob("*")]


def rights(paths: list[Path], *, folders: bool) -> set[str]:
    return {oct(path.stat().st_mode & 0o777) for path in paths if path.is_dir() is folders}


def test_a_new_warehouse_is_its_users_alone(tmp_path: Path) -> None:
    written = filled(Warehouse(tmp_path / "warehouse"))
    assert {path.suffix for path in written} >= {".parquet", ".sqlite", ".json"}
    assert rights(written, folders=True) == {"0o700"}
    assert rights(written, folders=False) <= {"0o600", "0o400"}


def test_a_warehouse_shared_with_a_group_stays_shared_with_it_and_with_nobody_else(
    tmp_path: Path,
) -> None:
    shared = tmp_path / "warehouse"
    shared.mkdir(mode=0o770)
    written = filled(Warehouse(shared))
    assert rights(written, folders=True) <= {"0o770", "0o750"}  # DuckDB and SQLite give a group
    assert rights(written, folders=False) <= {"0o660", "0o640"}  # no more than reading
    assert oct((shared / "landing").stat().st_mode & 0o777) == "0o770"


def test_a_group_that_may_only_read_may_only_read_what_is_new(tmp_path: Path) -> None:
    shared = tmp_path / "warehouse"
    shared.mkdir(mode=0o755)
    keep_private(shared)
    (shared / "new").mkdir()
    (shared / "new" / "file").touch()
    assert rights([shared / "new"], folders=True) == {"0o750"}
    assert rights([shared / "new" / "file"], folders=False) == {"0o640"}
    assert oct(shared.stat().st_mode & 0o777) == "0o755"


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
@pytest.mark.parametrize("call", ["flock", "lockf"])
def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(f"warehouse.permissions.fcntl.{call}", refuse)
    with pytest.raises(ConfigurationError, match=r"has no locks .*ASSAY_HOME and --warehouse"):
        check_locks(tmp_path)
    assert list(tmp_path.iterdir()) == []
    check_locks(tmp_path / "missing")
