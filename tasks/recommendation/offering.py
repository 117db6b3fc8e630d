"""What near works used, as a few lines for whoever reviews a plan, with the keys of the works."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.recommendation import RECOMMENDED, Resource, ResourceKind
from tasks.citations.keys import Shown, show
from tasks.recommendation.extracting import Stretch, found_by_rule
from tasks.text.words import shorten_words

_KEYS_SHOWN = 3
_NAME_WORDS = 16
_ROWS_PER_PAPER = 20
_NOBODY = show(())


@dataclass(frozen=True, slots=True)
class Offered:
    """Lines such as `data set: AlpSpeech [P1] [P4]`, and the works under these keys.

    No line: nothing is known of what the works used, which does not say that they used nothing.
    """

    lines: tuple[str, ...] = ()
    shown: Shown = _NOBODY


def offered(papers: Sequence[Paper], passages: Iterable[Passage], limit: int) -> Offered:
    """Up to `limit` data sets, baselines and metrics that most of `papers` name as used, the kinds
    in turn. No look-up is made.
    """
    own = [*passages]
    rows = found_by_rule(
        papers,
        [edge for passage in own for edge in _edges(passage)],
        [Stretch(each.paper_id, each.text, each.section or "") for each in own],
        _ROWS_PER_PAPER,
    )
    chosen = _chosen(rows, limit)
    by_id = {paper.paper_id: paper for paper in papers}
    users = [[row.paper_id for row in each][:_KEYS_SHOWN] for each in chosen]
    shown = show([by_id[paper_id] for of_line in users for paper_id in of_line])
    lines = (
        _line(each[0], [shown.key_of(paper_id) for paper_id in of_line])
        for each, of_line in zip(chosen, users, strict=True)
    )
    return Offered(tuple(lines), shown)


def _edges(passage: Passage) -> Iterable[CitationEdge]:
    """A passage says how its paper cites others."""
    return (
        CitationEdge(
            citing_paper_id=passage.paper_id,
            cited_paper_id=cited,
            contexts=(passage.text,),
            sections=(passage.section or "",),
        )
        for cited in passage.cited_paper_ids
        if cited != passage.paper_id
    )


def _chosen(rows: Iterable[Resource], limit: int) -> list[list[Resource]]:
    """Rows by the thing they name, the most used of each kind first."""
    named: dict[tuple[ResourceKind, PaperId | str], list[Resource]] = {}
    for row in rows:
        if row.kind in RECOMMENDED and row.resource_paper_id != row.paper_id:
            named.setdefault((row.kind, row.resource_paper_id or row.name.casefold()), []).append(
                row
            )
    ranked: list[tuple[int, int, list[Resource]]] = []
    for place, kind in enumerate(RECOMMENDED):
        of_kind = [found for (found_kind, _), found in named.items() if found_kind is kind]
        of_kind.sort(key=lambda found: (-len(found), found[0].name))
        ranked += [(rank, place, found) for rank, found in enumerate(of_kind)]
    return [found for _, _, found in sorted(ranked, key=lambda each: each[:2])][:limit]


def _line(row: Resource, keys: Sequence[str]) -> str:
    name = shorten_words(" ".join(row.name.split()), _NAME_WORDS)[0]
    return f"{row.kind.replace('_', ' ')}: {name} {' '.join(f'[{key}]' for key in keys)}"
