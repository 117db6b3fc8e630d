"""What was read from the lake, kept until something new is published."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future

from warehouse.lake import no_lake
from warehouse.reading import LakeReading
from warehouse.warehouse import Warehouse

MOST_BYTES = 200_000_000
_HEADER_BYTES, _CHANGE_COUNTER = 100, slice(24, 28)
"""SQLite counts its commits there (https://www.sqlite.org/fileformat.html, 1.3.7)."""


class LakeAnswers:
    """Answers by what was asked, the least recently asked dropped first. Many who ask the same at
    once wait for one answer. Shared by threads.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._lock = threading.Lock()
        self._reading: LakeReading | None = None
        self._version = ""
        self._kept: OrderedDict[tuple[object, ...], Future[bytes]] = OrderedDict()
        self._bytes = 0

    def of(self, make: Callable[[], bytes], *asked: object) -> bytes:
        """`make()`, or what it answered before to the same question.

        Args:
            asked: what tells this question from others.

        Raises:
            UnknownNameError: there is no lake.
            ConfigurationError: it cannot be opened.
            Whatever `make` raises, which is not kept.
        """
        version = self._snapshot()
        with self._lock:
            if version != self._version:
                self._kept.clear()
                self._version, self._bytes = version, 0
            found = self._kept.get(asked)
            if found is None:
                mine = self._kept[asked] = Future()
            else:
                self._kept.move_to_end(asked)
        if found is not None:
            return found.result()
        return self._made(make, asked, mine)

    def _made(
        self, make: Callable[[], bytes], asked: tuple[object, ...], mine: "Future[bytes]"
    ) -> bytes:
        try:
            answer = make()
        except BaseException as error:  # whoever waits for the answer gets the same error
            with self._lock:
                if self._kept.get(asked) is mine:
                    del self._kept[asked]
            mine.set_exception(error)
            raise
        with self._lock:
            if self._kept.get(asked) is mine:
                self._bytes += len(answer)
            mine.set_result(answer)
            while self._bytes > MOST_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest.result()) if oldest.done() else 0
        return answer

    def _snapshot(self) -> str:
        """Changes whenever something is published, or another lake lies in this place."""
        if self._warehouse.postgres is None:
            return catalogue_state(self._warehouse)
        with self._lock:
            if self._reading is None:
                self._reading = LakeReading(self._warehouse)
        return self._reading.snapshot()


def catalogue_state(warehouse: Warehouse) -> str:
    """Differs after each commit to the SQLite catalogue; asking DuckDB costs hundreds of times as
    much.

    Raises:
        UnknownNameError: there is no lake.
    """
    try:
        with warehouse.catalogue.open("rb") as file:
            head, found = file.read(_HEADER_BYTES), os.fstat(file.fileno())
    except FileNotFoundError:
        raise no_lake(warehouse) from None
    return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}-{head[_CHANGE_COUNTER].hex()}"
