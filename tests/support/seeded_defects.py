"""Real records with defects put into them, and a record of which."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

_BRITISH = {"visualization": "visualisation", "modeling": "modelling", "color": "colour"}
_PREFIXES = ("Towards ", "On ", "A Study of ", "Research on ")


@dataclass(frozen=True, slots=True)
class Seeded:
    """A defect.

    Attributes:
        paper_id: the record it was put into; of a duplicate, the record added.
        right: the value before, for a field; of a duplicate, the paper_id of the original; of an
            entry of a reference list, its position.
    """

    kind: str
    paper_id: str
    field: str
    right: Any


def seed_defects(rows: list[Row], each: int, seed: int) -> tuple[list[Row], list[Seeded]]:
    """A copy of rows (with `paper_id`, `references` by paper_id) in which every kind of defect was
    put into `each` records; no record has two.
    """
    draw = random.Random(seed)
    copies = [dict(row) for row in rows]
    order = list(range(len(copies)))
    draw.shuffle(order)
    seeded: list[Seeded] = []
    free = iter(order)
    for kind, (suits, damage) in _KINDS.items():
        done = 0
        for place in list(free):
            if done < each and suits(copies[place]):
                seeded.append(damage(kind, copies, copies[place], draw))
                done += 1
                order.remove(place)
        free = iter(order)
    seeded += _swap_titles(copies, order, each)
    known = {row["paper_id"] for row in copies}
    assert len(known) == len(copies)
    return copies, seeded


def _wrong_year(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    right = row["year"]
    row["year"] = right + draw.choice((-1, 1)) * draw.randint(2, 15)
    return Seeded(kind, row["paper_id"], "year", right)


def _missing(field: str) -> Callable[[str, list[Row], Row, random.Random], Seeded]:
    def remove(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
        right, row[field] = row[field], None
        return Seeded(kind, row["paper_id"], field, right)

    return remove


def _garbled(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    field = "abstract" if not row["abstract"].isascii() else "title"
    right = row[field]
    row[field] = right.encode().decode("cp1252")
    return Seeded(kind, row["paper_id"], field, right)


def _self_citation(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    row["references"] = [*row["references"], row["paper_id"]]
    return Seeded(kind, row["paper_id"], "reference", len(row["references"]) - 1)


def _dangling(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    row["references"] = [*row["references"], f"lost-{draw.randrange(10**9)}"]
    return Seeded(kind, row["paper_id"], "reference", len(row["references"]) - 1)


def _author_order(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    right = list(row["authors"])
    row["authors"] = [*right[1:], right[0]]
    return Seeded(kind, row["paper_id"], "authors", right)


def _repeated_authors(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    right = list(row["authors"])
    row["authors"] = right * 2
    return Seeded(kind, row["paper_id"], "authors", right)


def _copy(rows: list[Row], row: Row, **changes: Any) -> str:
    paper_id = f"copy-of-{row['paper_id']}"
    rows.append(
        {**row, "doi": None, "url": None, "references": [], "paper_id": paper_id, **changes}
    )
    return paper_id


def _other_id(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    """Another source's record: a number of its own, initials, the year of the preprint,
    cut short.
    """
    initials = [f"{name.split()[0][0]}. {name.split()[-1]}" for name in row["authors"]]
    changed = _copy(
        rows,
        row,
        authors=initials,
        venue="arXiv",
        year=row["year"] - 1,
        abstract=row["abstract"][: len(row["abstract"]) * 9 // 10],
    )
    return Seeded(kind, changed, "record", row["paper_id"])


def _variant_title(kind: str, rows: list[Row], row: Row, draw: random.Random) -> Seeded:
    """The title otherwise (British, without its subtitle, with a prefix),
    half without an abstract.
    """
    title = row["title"]
    for american, british in _BRITISH.items():
        title = title.replace(american, british).replace(american.title(), british.title())
    if title == row["title"]:
        main = title.partition(":")[0]
        title = main if len(main.split()) >= 3 and main != title else draw.choice(_PREFIXES) + title
    abstract = row["abstract"] if draw.random() < 0.5 else None
    changed = _copy(rows, row, title=title, abstract=abstract)
    return Seeded(kind, changed, "record", row["paper_id"])


def _swap_titles(rows: list[Row], order: list[int], each: int) -> list[Seeded]:
    suiting = [rows[place] for place in order if rows[place]["abstract"]][: 2 * (each // 2)]
    seeded = []
    for one, other in zip(suiting[::2], suiting[1::2], strict=True):
        one["title"], other["title"] = other["title"], one["title"]
        seeded.append(Seeded("swapped title", one["paper_id"], "title", other["title"]))
        seeded.append(Seeded("swapped title", other["paper_id"], "title", one["title"]))
    return seeded


def _has(field: str) -> Callable[[Row], bool]:
    return lambda row: bool(row.get(field))


def _several_authors(row: Row) -> bool:
    return len(set(row["authors"])) == len(row["authors"]) >= 2


def _not_ascii(row: Row) -> bool:
    text = row["abstract"] if not (row["abstract"] or "").isascii() else row["title"]
    try:
        return not text.isascii() and text.encode().decode("cp1252").split() != []
    except UnicodeDecodeError:
        return False


def _whole(row: Row) -> bool:
    return bool(row["abstract"] and row["authors"] and row["year"])


_KINDS: dict[str, tuple[Callable[[Row], bool], Callable[..., Seeded]]] = {
    "mojibake": (_not_ascii, _garbled),
    "wrong year": (_has("year"), _wrong_year),
    "missing abstract": (_has("abstract"), _missing("abstract")),
    "missing doi": (_has("doi"), _missing("doi")),
    "missing venue": (_has("venue"), _missing("venue")),
    "duplicate, variant title": (_whole, _variant_title),
    "duplicate, other id": (_whole, _other_id),
    "self-citation": (_has("references"), _self_citation),
    "dangling reference": (_has("references"), _dangling),
    "author order": (_several_authors, _author_order),
    "authors repeated": (_several_authors, _repeated_authors),
}
