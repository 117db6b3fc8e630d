"""How far a ranking is, match by match, so that one large group is seen to move: from the journals of groups under way and receipts."""

from collections.abc import Mapping
from pathlib import Path

from schemas.ranking import RankingHead
from tasks.ranking.journal import MATCH_LINE, journal_path
from warehouse.layout import Layout
from warehouse.rankings.landing import read_group_receipt


class PlayedMatches:
    """Matches played so far, and at most to be played. A group whose schedule ended early takes what it did not need off the total."""

    def __init__(self, layout: Layout, head: RankingHead, most_matches: Mapping[str, int]) -> None:
        """`most_matches`: by group."""
        self._layout = layout
        self._head = head
        self._most = most_matches
        self._ranked: dict[str, int] = {}
        self._journals: dict[str, _Journal] = {}

    def done(self) -> int:
        self._look()
        under_way = (
            (name, journal.matches)
            for name, journal in self._journals.items()
            if name not in self._ranked
        )
        return sum(self._ranked.values()) + sum(
            min(matches, self._most[name]) for name, matches in under_way
        )

    def total(self) -> int:
        return sum(self._ranked.get(name, most) for name, most in self._most.items())

    def groups(self) -> str:
        return f", {len(self._ranked):,} of {len(self._most):,} groups ranked"

    def _look(self) -> None:
        folder = self._layout.ranking(self._head.run_id, self._head.ranking_id)
        for name in self._most:
            if name in self._ranked:
                continue
            receipt = read_group_receipt(
                self._layout, self._head.run_id, self._head.ranking_id, name
            )
            if receipt is not None and receipt.incomplete_reason is None:
                self._ranked[name] = receipt.rows.get("matches", 0)
            else:
                self._journals.setdefault(name, _Journal(journal_path(folder, name))).look()


class _Journal:
    """Counts the lines of a journal that are matches, reading only what is new."""

    def __init__(self, path: Path) -> None:
        self.matches = 0
        self._path = path
        self._read_bytes = 0

    def look(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self._read_bytes += len(line)
                    self.matches += line.startswith(MATCH_LINE)
        except FileNotFoundError:
            return
