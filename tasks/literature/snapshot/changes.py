"""What an update says about the papers of a snapshot, one change at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tasks.literature.snapshot.parts import Place, Row


@dataclass(frozen=True, slots=True)
class Upsert:
    """A paper as it is now. Columns the row lacks stay as they were; `cites_nothing` says so of a paper without edges."""

    row: Row
    cites_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Amendment:
    """Some fields of the paper with this key; a paper that is not there is left alone."""

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Removal:
    """The paper with this key is gone."""

    key: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, known by a number of the source's own."""

    edge_id: int
    citing_key: str
    cited: str


@dataclass(frozen=True, slots=True)
class EdgeRemoval:
    edge_id: int


Change = Upsert | Amendment | Removal | Edge | EdgeRemoval


class Changes(Protocol):
    """Changes in batches, in the order in which they are to be made.

    Attributes:
        identity: of this set of changes; applied twice, it changes nothing the second time.
        through: the release or day the snapshot has reached with them; None where the source has none.
        empty: whether there is nothing the snapshot has not got yet.
        identified: whether the source's own identifiers alone say which papers are the same.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def through(self) -> str | None: ...
    @property
    def empty(self) -> bool: ...
    @property
    def identified(self) -> bool: ...

    def batches(self, start: Place) -> Iterator[tuple[list[Change], Place]]:
        """Changes from `start` on, each batch with the place behind it. Raises SnapshotError."""
        ...
