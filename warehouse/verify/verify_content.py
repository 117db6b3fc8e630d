"""Order-independent hashes of rows, to compare the lake with landed files."""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from schemas.tables import TABLES
from warehouse.catalogue.connection import Connection
from warehouse.statements import table_statement

_BYTES_AT_ONCE = 16_000_000
_SET_BY_THE_PUBLISHER = frozenset({"landing_sha256", "published_at"})


class Content(NamedTuple):
    """Number of rows, and the sum of their hashes."""

    rows: int
    hashes: int


class LakeContent:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._columns = {
            table.name: ", ".join(
                f'"{column.name}"::{column.sql_type}'
                for column in table.columns
                if column.name not in _SET_BY_THE_PUBLISHER
            )
            for table in TABLES
        }

    def of(self, table: str, condition: str, parameters: Mapping[str, str]) -> Content:
        """Return the content of rows of `table` that meet `condition`."""
        return self._content(table, f'"{table}" where {condition}', parameters)

    def of_rows(self, table: str, rows: pa.Table) -> Content:
        self.connection.register("incoming", rows)
        try:
            return self._content(table, "incoming", {})
        finally:
            self.connection.unregister("incoming")

    def _content(self, table: str, source: str, parameters: Mapping[str, str]) -> Content:
        sql = table_statement("content", columns=self._columns[table], source=source)
        return Content(*map(int, self.connection.execute(sql, dict(parameters)).fetchall()[0]))


class LandedContent:
    """Content of landed rows by table, hashed some megabytes at a time."""

    def __init__(self, lake: LakeContent) -> None:
        self._lake = lake
        self._pending: dict[str, list[pa.Table]] = {}
        self._contents: dict[str, Content] = {}
        self._unknown_tables: set[str] = set()

    def add(self, table: str, rows: pa.Table) -> None:
        pending = self._pending.setdefault(table, [])
        pending.append(rows)
        if sum(one.nbytes for one in pending) > _BYTES_AT_ONCE:
            self._sum_up(table)

    def add_unknown(self, table: str) -> None:
        """Mark a table's content as unknown, because a file of it cannot be read."""
        self._unknown_tables.add(table)

    def of(self, table: str) -> Content | None:
        """Return the content of added rows; None if a part is unknown."""
        self._sum_up(table)
        return None if table in self._unknown_tables else self._contents.get(table, Content(0, 0))

    def _sum_up(self, table: str) -> None:
        pending = self._pending.pop(table, [])
        if pending:
            content, addition = (
                self._contents.get(table, Content(0, 0)),
                self._lake.of_rows(table, pa.concat_tables(pending)),
            )
            self._contents[table] = Content(
                content.rows + addition.rows, content.hashes + addition.hashes
            )
