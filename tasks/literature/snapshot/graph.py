"""The citation graph of a snapshot, asked by SQL in bounded memory: co-citation, bibliographic
coupling, shortest paths, communities.

Papers are numbers here, as the snapshot's store has them. Every answer is the same on every
machine, and a bound that was met is told.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pyarrow as pa

from schemas.errors import SnapshotError
from tasks.literature.snapshot.parts import first_line
from tasks.literature.snapshot.release import bounded_connection

_EDGES = pa.schema([("citing", pa.int64()), ("cited", pa.int64())])
_BATCH_ROWS = 200_000
MOST_NEIGHBOURS = 2_000
"""Of a hub, neighbours that are looked at; chosen by a hash, so that no year or field leads."""
MOST_VISITED = 2_000_000
MOST_HOPS = 6
_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Related:
    """A paper near others.

    Attributes:
        shared: citing papers, or references, that it has in common with them.
        strength_0_to_1: the same against how often both are cited, or how much both cite (Salton's
            cosine), of the seed it is nearest to.
    """

    number: int
    shared: int
    strength_0_to_1: float


@dataclass(frozen=True, slots=True)
class RelatedPapers:
    """The nearest first. `hubs`: seeds of which only `MOST_NEIGHBOURS` neighbours
    were looked at.
    """

    papers: tuple[Related, ...]
    hubs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of papers, each citing the next or cited by it.

    Attributes:
        numbers: from the first to the last; None: none was found.
        complete: whether everything within the hops asked for was looked at; a path that was found
            is a shortest one in either case.
    """

    numbers: tuple[int, ...] | None
    complete: bool


class CitationGraph:
    """Use as a context manager, or close. One question at a time."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    @classmethod
    def of(
        cls,
        edges: Iterable[tuple[int, int]],
        workplace: Path,
        *,
        name: str,
        memory_limit: str = "1GB",
    ) -> Self:
        """The graph of (citing, cited), kept in `workplace` under `name` and made once.

        A pair that comes twice is one edge, and a paper that cites itself is none.

        Args:
            name: says which edges they are, such as a snapshot's fingerprint.

        Raises:
            SnapshotError: it cannot be written or read there.
        """
        try:
            path = workplace / f"graph-{name}.duckdb"
            if not path.exists():
                unfinished = path.with_suffix(".unfinished")
                unfinished.unlink(missing_ok=True)
                with bounded_connection(workplace, unfinished, memory_limit) as connection:
                    _load(connection, edges)
                unfinished.replace(path)
            return cls(bounded_connection(workplace, path, memory_limit))
        except (duckdb.Error, OSError) as error:
            raise SnapshotError(
                f"{workplace} cannot hold the citation graph: {first_line(error)}"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def edge_count(self) -> int:
        return self._count("select count(*) from edges")

    def co_cited(self, seeds: Sequence[int], limit: int) -> RelatedPapers:
        """Papers that the same papers cite as the seeds (Small 1973)."""
        return self._related("co-cited", seeds, limit)

    def coupled(self, seeds: Sequence[int], limit: int) -> RelatedPapers:
        """Papers that cite the same papers as the seeds (Kessler 1963)."""
        return self._related("coupled", seeds, limit)

    def path(
        self, first: int, last: int, *, most_hops: int = MOST_HOPS, most_visited: int = MOST_VISITED
    ) -> Chain:
        """A shortest chain between two papers along citations in either direction; of several the
        one with the lowest numbers.
        """
        if first == last:
            return Chain((first,), complete=True)
        self._connection.execute(_sql("path-start"), {"first": first})
        for hop in range(1, most_hops + 1):
            self._connection.execute(_sql("path-step"), {"hop": hop})
            if self._count("select count(*) from visited where paper = $last", last=last):
                return Chain(self._chain(last), complete=True)
            if not self._count("select count(*) from visited where hop = $hop", hop=hop):
                return Chain(None, complete=True)
            if self._count("select count(*) from visited") > most_visited:
                return Chain(None, complete=False)
        return Chain(None, complete=True)

    def communities(self, *, rounds: int = _ROUNDS, smallest: int = 3) -> Iterator[tuple[int, int]]:
        """(paper, community) of every paper in a community of `smallest` papers at least, by
        community, the largest first.

        Label propagation (Raghavan 2007), half of the papers at a time, so that it settles.
        """
        self._connection.execute(_sql("communities-start"))
        for number in range(2 * rounds):
            self._connection.execute(_sql("communities-step"), {"half": number % 2})
        found = self._connection.execute(_sql("communities"), {"smallest": smallest})
        while rows := found.fetchmany(_BATCH_ROWS):
            yield from rows

    def _related(self, question: str, seeds: Sequence[int], limit: int) -> RelatedPapers:
        asked = {"seeds": list(dict.fromkeys(seeds)), "most": MOST_NEIGHBOURS}
        rows = self._connection.execute(_sql(question), {**asked, "limit": limit}).fetchall()
        hubs = self._connection.execute(_sql(f"{question}-hubs"), asked).fetchall()
        return RelatedPapers(
            tuple(Related(*row) for row in rows), tuple(number for (number,) in hubs)
        )

    def _chain(self, last: int) -> tuple[int, ...]:
        chain = [last]
        while (before := self._before(chain[-1])) is not None:
            chain.append(before)
        return tuple(reversed(chain))

    def _before(self, number: int) -> int | None:
        query = "select before from visited where paper = $number"
        found = self._connection.execute(query, {"number": number}).fetchone()
        return found[0] if found else None

    def _count(self, query: str, **values: int) -> int:
        found = self._connection.execute(query, values).fetchone()
        return int(found[0]) if found else 0


def _load(connection: duckdb.DuckDBPyConnection, edges: Iterable[tuple[int, int]]) -> None:
    connection.register("incoming", pa.RecordBatchReader.from_batches(_EDGES, _batches(edges)))
    connection.execute(_sql("load"))


def _batches(edges: Iterable[tuple[int, int]]) -> Iterator[pa.RecordBatch]:
    citing: list[int] = []
    cited: list[int] = []
    for first, second in edges:
        citing.append(first)
        cited.append(second)
        if len(citing) == _BATCH_ROWS:
            yield pa.record_batch([citing, cited], schema=_EDGES)
            citing, cited = [], []
    yield pa.record_batch([citing, cited], schema=_EDGES)


def _sql(name: str) -> str:
    folder = resources.files(__package__).joinpath("sql", "graph")
    return folder.joinpath(f"{name}.sql").read_text("utf-8")
