"""Where the papers of a snapshot come from: what a build asks of any of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from tasks.literature.snapshot.parts import Place, Row

Progress = Callable[[int, int, str], None]
"""(done, of how many, stage)."""


class PaperSource(Protocol):
    """Papers in batches, from any place on, so that a killed build can go on.

    Attributes:
        identity: changes when the source does.
        identified: whether its own identifiers alone say which papers are the same.
        through: the last release or day that is in it; None where it has none.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def has_references(self) -> bool: ...
    @property
    def identified(self) -> bool: ...
    @property
    def through(self) -> str | None: ...

    def prepare(self, workplace: Path, report: Progress) -> int:
        """Bring the papers into readable form below `workplace`; roughly how many there are.

        Goes on where it stopped.
        """
        ...

    def batches(self, workplace: Path, start: Place) -> Iterator[tuple[list[Row], Place]]:
        """Rows from `start` on, each batch with the place behind it. Raises SnapshotError."""
        ...
