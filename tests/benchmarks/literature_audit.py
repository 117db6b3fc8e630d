"""What `assay literature audit` finds and mends of defects put into real records, by kind.

python -m tests.benchmarks literature_audit

Two sets of 1,000 records (IEEE VIS with references; conference papers with addresses), each with 20
defects of every kind. Rules and their bounds were chosen on other records with other seeds. Finding
is right where a proposal names the record and the field; mending where accepting it brings back the
value before. What the rules also find in the untouched records is counted apart: some of it is
real.
"""

import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from schemas.literature.audit import Proposal, ProposalState
from tasks.literature.audit.auditing import OtherSnapshot, OtherSource, diagnose, standing
from tasks.literature.snapshot.build import build_snapshot
from tests.support.paper_files import write_jsonl

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


DATA = Path(__file__).parents[3] / "shared" / "data"
RECORDS, EACH = 1_000, 20
CHOSEN_ON, REPORTED_ON = 0, 1


def main() -> None:
    if not DATA.exists():
        print(f"skipped: {DATA} is not here")
        return
    part = CHOSEN_ON if "--chosen-on" in sys.argv else REPORTED_ON
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, rows in (("IEEE VIS", vis_rows(part)), ("conference papers", conference_rows(part))):
        for beside in (False, True):
            _report(name, rows, part, beside=beside)


def vis_rows(part: int) -> list[Row]:
    """A thousand of IEEE VIS: identifiers that tell nothing, references among themselves."""
    path = DATA / "vis_citation_graph" / "papers.jsonl.gz"
    with gzip.open(path, "rt") as stream:
        found = [json.loads(line) for line in stream]
    random.Random(7).shuffle(found)
    chosen = found[part * RECORDS : (part + 1) * RECORDS]
    names = {row["id"]: f"vis-{number:04d}" for number, row in enumerate(chosen)}
    return [
        {
            "paper_id": names[row["id"]],
            "title": row["title"],
            "abstract": row["abstract"],
            "authors": row["authors"],
            "venue": row["venue"],
            "year": row["year"],
            "url": None,
            "doi": row["id"],
            "references": [
                names[each] for each in row["references"] if each in names and each != row["id"]
            ],
        }
        for row in chosen
    ]


def conference_rows(part: int) -> list[Row]:
    """A thousand of the conference papers, with the addresses of their pages;
    none has references.
    """
    table = pq.read_table(DATA / "literature.parquet")
    places = random.Random(11).sample(range(table.num_rows), 2 * RECORDS)
    rows = table.take(places[part * RECORDS : (part + 1) * RECORDS]).to_pylist()
    return [
        {
            **{
                name: row[name]
                for name in ("title", "abstract", "authors", "venue", "year", "url", "doi")
            },
            "paper_id": f"conf-{number:04d}",
            "references": [],
        }
        for number, row in enumerate(rows)
    ]


def _report(name: str, rows: list[Row], part: int, *, beside: bool) -> None:
    damaged, seeded = seed_defects(rows, EACH, seed=100 + part)
    with tempfile.TemporaryDirectory() as folder:
        others: list[OtherSource] = []
        if beside:
            others = [OtherSnapshot(_other(rows, part, Path(folder)))]
        before = _found(rows, Path(folder) / "clean", others)
        started = time.monotonic()
        after = _found(damaged, Path(folder) / "damaged", others)
        seconds = time.monotonic() - started
    known = {(each.paper_id, each.field) for each in before}
    names = _names(damaged)
    print(
        f"\n{name}, {'beside another source' if beside else 'alone'}: {len(damaged):,} records,"
        f" {len(seeded)} defects, built and audited in {seconds:.1f} s;"
        f" {len(before)} findings in the untouched records"
    )
    _print_kinds(after, seeded, names)
    new = [each for each in after if (each.paper_id, each.field) not in known]
    _print_rules(new, after, seeded, names)


def _names(rows: Sequence[Row]) -> dict[str, str]:
    """The source's names of papers by the snapshot's."""
    from tasks.literature.snapshot.records import record_of

    named = ((row["paper_id"], record_of(row)) for row in rows)
    return {record.paper_id: given for given, record in named if record is not None}


def _other(rows: list[Row], part: int, folder: Path) -> Path:
    """Another source: eight in ten of the papers under its own names, with defects of its own, and
    without reference lists.
    """
    kept = [row for row in rows if random.Random(f"{part}{row['paper_id']}").random() < 0.8]
    damaged, _ = seed_defects(kept, EACH, seed=900 + part)
    renamed = [
        {**row, "paper_id": f"other-{row['paper_id']}", "references": None} for row in damaged
    ]
    return build_snapshot(write_jsonl(folder / "other.jsonl", renamed), folder / "other").folder


def _found(rows: list[Row], folder: Path, others: Sequence[OtherSource]) -> list[Proposal]:
    source = folder.with_suffix(".jsonl")
    build_snapshot(write_jsonl(source, rows), folder)
    diagnose(folder, others)
    return list(standing(folder, [ProposalState.PROPOSED], [], 100_000).proposals)


def _is_about(each: Proposal, defect: Seeded, names: dict[str, str]) -> bool:
    if defect.field == "record" and each.action != "merge":
        return False
    if defect.field == "record":
        pair = {names.get(json.loads(each.old or '""')), names.get(json.loads(each.new or '""'))}
        return pair == {defect.paper_id, defect.right}
    about = names.get(each.paper_id) == defect.paper_id and each.field == defect.field
    return about and (defect.field != "reference" or each.old == str(defect.right))


def _mends(each: Proposal, defect: Seeded) -> bool:
    if each.action == "none":
        return False
    if defect.field in ("record", "reference"):
        return True
    right = " ".join(defect.right.split()) if isinstance(defect.right, str) else defect.right
    return each.new is not None and json.loads(each.new) == right


def _print_kinds(
    after: Sequence[Proposal], seeded: Sequence[Seeded], names: dict[str, str]
) -> None:
    print(
        f"{'kind':26}{'seeded':>7}{'found':>7}{'recall':>8}{'remedies':>10}{'right':>7}"
        f"{'precision':>11}{'recall':>8}   (the last three: of mending)"
    )
    kinds = dict.fromkeys(each.kind for each in seeded)
    for kind in kinds:
        own = [each for each in seeded if each.kind == kind]
        about = [(d, [p for p in after if _is_about(p, d, names)]) for d in own]
        found = sum(bool(each) for _, each in about)
        best = [
            (d, max((p for p in ps if p.action != "none"), key=_confidence, default=None))
            for d, ps in about
        ]
        remedies = sum(each is not None for _, each in best)
        right = sum(each is not None and _mends(each, d) for d, each in best)
        print(
            f"{kind:26}{len(own):>7}{found:>7}{_share(found, len(own)):>8}{remedies:>10}{right:>7}"
            f"{_share(right, remedies):>11}{_share(right, len(own)):>8}"
        )


def _confidence(proposal: Proposal) -> float:
    return proposal.confidence_0_to_1


def _print_rules(
    new: Sequence[Proposal],
    after: Sequence[Proposal],
    seeded: Sequence[Seeded],
    names: dict[str, str],
) -> None:
    print(
        f"{'rule':26}{'proposals':>10}{'seeded':>8}{'in the untouched records too':>30}{'neither':>9}"
        f"{'precision of finding':>22}"
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    appeared = {each.proposal_id for each in new}
    for each in after:
        hit = any(_is_about(each, defect, names) for defect in seeded)
        column = "seeded" if hit else "neither" if each.proposal_id in appeared else "before"
        counts[each.rule][column] += 1
    for rule, count in sorted(counts.items()):
        print(
            f"{rule:26}{count.total():>10}{count['seeded']:>8}{count['before']:>30}{count['neither']:>9}"
            f"{_share(count['seeded'], count['seeded'] + count['neither']):>22}"
        )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"
