"""Short keys under which papers are shown in one prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from schemas.identifiers import PaperId
from schemas.paper import Paper


@dataclass(frozen=True)
class Shown:
    """The papers of one prompt, in the order shown. Keys mean nothing outside that prompt."""

    papers: tuple[Paper, ...]

    @cached_property
    def entries(self) -> tuple[tuple[str, Paper], ...]:
        """(key, paper) pairs in order: ("P1", …), ("P2", …), …"""
        return tuple((f"P{number}", paper) for number, paper in enumerate(self.papers, start=1))

    @cached_property
    def _keys(self) -> dict[PaperId, str]:
        return {paper.paper_id: key for key, paper in self.entries}

    def __iter__(self) -> Iterator[tuple[str, Paper]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.papers)

    def key_of(self, paper_id: PaperId) -> str:
        """The key of a shown paper.

        Raises:
            KeyError: the paper is not among those shown.
        """
        return self._keys[paper_id]

    def paper_at(self, number: int) -> Paper | None:
        """The paper under key `P<number>`; None when no such key was shown."""
        return self.papers[number - 1] if 1 <= number <= len(self.papers) else None


def show(papers: Sequence[Paper]) -> Shown:
    """Give each paper a key, P1, P2, … in the given order; a paper given twice keeps its first key."""
    return Shown(
        papers=tuple(
            {paper.paper_id: paper for paper in reversed(papers)}[paper_id]
            for paper_id in dict.fromkeys(p.paper_id for p in papers)
        )
    )
