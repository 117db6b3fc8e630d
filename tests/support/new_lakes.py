"""An empty lake that is defined once, and copied wherever this process would make another."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from warehouse import lake
from warehouse.catalogue.definitions import apply_definitions
from warehouse.warehouse import Warehouse


@contextmanager
def copies_of_one(folders: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """To define all tables takes a second of processor time; a publication into them a third.

    Yields what makes a lake from nothing, to be put back where that is what a test is about.
    """
    attached = lake._attach_lake

    @cache
    def empty() -> Path:
        warehouse = Warehouse(folders.mktemp("empty"))
        warehouse.lake.mkdir(parents=True)
        with (
            attached(warehouse, None, read_only=False) as connection,
            lake.transaction(connection, "an empty lake"),
        ):
            apply_definitions(connection)
        return warehouse.catalogue

    @contextmanager
    def from_a_copy(
        warehouse: Warehouse, catalogue: Any, *, read_only: bool, **options: Any
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        catalogues = (warehouse.catalogue, warehouse.moved_catalogue)
        here = catalogue is None and warehouse.objects is None
        if here and not read_only and not any(file.exists() for file in catalogues):
            shutil.copyfile(empty(), warehouse.catalogue)
        with attached(warehouse, catalogue, read_only=read_only, **options) as connection:
            yield connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lake, "_attach_lake", from_a_copy)
        yield attached
