"""A warehouse as a process opened it: its paths, its catalogue, and the settings it was opened with."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.settings import Settings
from warehouse.layout import Layout

if TYPE_CHECKING:  # whoever lands, or keeps accounts, does without the database
    from warehouse.catalogue.connection import Connection
    from warehouse.catalogue.postgres import PostgresCatalogue
    from warehouse.objects.object_storage import ObjectFolder
    from warehouse.queries import Queries


@dataclass(frozen=True, slots=True)
class Warehouse(Layout):
    """The one way to a lake: opened at the door of a process, it is all that is passed on.

    Workers, which only land, are given its `Layout`.

    Attributes:
        settings: those of the process, which are read once.
    """

    settings: Settings = field(default_factory=Settings, repr=False, compare=False)

    @property
    def postgres(self) -> "PostgresCatalogue | None":
        """The catalogue where it is in PostgreSQL; None: an SQLite file.

        Raises:
            ConfigurationError: its address is none.
        """
        from warehouse.catalogue.postgres import PostgresCatalogue

        url = self.settings.catalogue
        return None if url is None else PostgresCatalogue.of(url)

    def reader(
        self, *, as_defined: bool = True, files: Collection[Path] = ()
    ) -> "AbstractContextManager[Connection]":
        """A connection that reads; see `open_reader`."""
        from warehouse.lake import open_reader

        return open_reader(self, self.postgres, as_defined=as_defined, files=files)

    @contextmanager
    def queries(self, *, as_defined: bool = True) -> "Iterator[Queries]":
        """The read API. Raises ConfigurationError when there is no lake."""
        from warehouse.queries import Queries

        with self.reader(as_defined=as_defined) as connection:
            yield Queries(connection, self.address)

    def publisher(
        self, *, wait_seconds: float = 60.0, moves: bool = False
    ) -> "AbstractContextManager[Connection]":
        """The one connection that writes; see `open_writer`."""
        from warehouse.lake import open_writer

        return open_writer(self, self.postgres, wait_seconds=wait_seconds, moves=moves)

    def check_may_publish(self) -> None:
        """Look whether the catalogue may be changed; a file is found out by changing it.

        Raises:
            ConfigurationError: it may only be read.
            UpstreamError: PostgreSQL cannot be reached.
        """
        from warehouse.catalogue.postgres import check_may_publish

        if self.postgres is not None:
            check_may_publish(self.postgres)

    def may_hold_a_lake(self) -> bool:
        """Return whether there is a catalogue to look into.

        Raises:
            ConfigurationError: it needs one in PostgreSQL, and none is named.
        """
        from warehouse.lake import may_hold_a_lake

        return may_hold_a_lake(self, self.postgres)

    def lies_in(self) -> "ObjectFolder | None":
        """Return where the lake's files lie in object storage; None: in a folder, or there is no
        lake.
        """
        from warehouse.lake import lies_in

        return lies_in(self, self.postgres)
