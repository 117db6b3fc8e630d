"""A warehouse as a process opens it: paths, catalogue and settings."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.settings import Settings
from warehouse.layout import Layout

if TYPE_CHECKING:  # landing and accounts need no database
    from warehouse.catalogue.connection import Connection
    from warehouse.catalogue.postgres import PostgresCatalogue
    from warehouse.objects.object_storage import ObjectFolder
    from warehouse.queries import Queries


@dataclass(frozen=True, slots=True)
class Warehouse(Layout):
    """Access to a lake, opened once per process and passed on.

    Workers, which only land, get its `Layout`.

    Attributes:
        settings: of the process, read once.
    """

    settings: Settings = field(default_factory=Settings, repr=False, compare=False)

    @property
    def postgres(self) -> "PostgresCatalogue | None":
        """Catalogue in PostgreSQL; None: an SQLite file.

        Raises:
            ConfigurationError: its address is invalid.
        """
        from warehouse.catalogue.postgres import PostgresCatalogue

        url = self.settings.catalogue
        return None if url is None else PostgresCatalogue.of(url)

    def reader(
        self, *, as_defined: bool = True, files: Collection[Path] = ()
    ) -> "AbstractContextManager[Connection]":
        """Return a connection that reads; see `open_reader`."""
        from warehouse.lake import open_reader

        return open_reader(self, self.postgres, as_defined=as_defined, files=files)

    @contextmanager
    def queries(self, *, as_defined: bool = True) -> "Iterator[Queries]":
        """Yield the read API. Raises UnknownNameError if there is no lake."""
        from warehouse.queries import Queries

        with self.reader(as_defined=as_defined) as connection:
            yield Queries(connection, self.address)

    def publisher(
        self, *, wait_seconds: float = 60.0, moves: bool = False
    ) -> "AbstractContextManager[Connection]":
        """Return the connection that writes; see `open_writer`."""
        from warehouse.lake import open_writer

        return open_writer(self, self.postgres, wait_seconds=wait_seconds, moves=moves)

    def check_may_publish(self) -> None:
        """Check that this user may change a catalogue in PostgreSQL.

        Raises:
            ConfigurationError: it may only be read.
            UpstreamError: PostgreSQL cannot be reached.
        """
        from warehouse.catalogue.postgres import check_may_publish

        if self.postgres is not None:
            check_may_publish(self.postgres)

    def may_hold_a_lake(self) -> bool:
        """Return whether there is a catalogue to open.

        Raises:
            ConfigurationError: it needs one in PostgreSQL, and none is set.
        """
        from warehouse.lake import may_hold_a_lake

        return may_hold_a_lake(self, self.postgres)

    def lake_folder(self) -> "ObjectFolder | None":
        """Return the object folder of the lake's files; None if in a folder or without a lake."""
        from warehouse.lake import lake_folder

        return lake_folder(self, self.postgres)
