"""Reader of the lake that stays open in services."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from warehouse.catalogue.definitions import show_marts
from warehouse.catalogue.postgres import report_lost_server
from warehouse.lake import object_folder
from warehouse.objects.object_files import report_storage_failures, sign
from warehouse.queries import Queries
from warehouse.warehouse import Warehouse


class LakeReader:
    """One read-only connection, shared by threads; every query sees the newest snapshot.

    For a process that reads often: opening costs half a second, a query some milliseconds.

    Raises:
        ConfigurationError: there is no lake.
        UpstreamError: PostgreSQL or object storage cannot be reached, on construction or by a
            query.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._warehouse = warehouse.address
        self._catalogue = warehouse.postgres
        self._connection = self._stack.enter_context(warehouse.reader(as_defined=False))
        self._objects = object_folder(self._connection)
        self._as_defined = False
        # Parallel threads cost more than they save on small queries.
        self._connection.execute("set threads = 1")

    @contextmanager
    def queries(self) -> Iterator[Queries]:
        """Yield the read API for one thread."""
        with self._lock:
            if self._objects is not None:
                sign(self._connection, self._objects)
            cursor = self._connection.cursor()
        try:
            with report_lost_server(self._catalogue), report_storage_failures():
                cursor.execute("use lake")
                cursor.execute("set timezone = 'UTC'")
                if not self._as_defined:  # temporary views belong to this cursor
                    self._as_defined = not show_marts(cursor)
                yield Queries(cursor, self._warehouse)
        finally:
            cursor.close()

    def snapshot(self) -> str:
        """Return the number of the newest snapshot, which changes with each publication."""
        with self.queries() as queries:
            (row,) = queries.connection.execute("from ducklake_current_snapshot('lake')").fetchall()
        return str(row[0])

    def close(self) -> None:
        self._stack.close()
