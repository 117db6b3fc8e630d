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
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from schemas.literature.audit import Proposal, ProposalState
from tasks.literature.audit.auditing import OtherSnapshot, OtherSource, diagnose, standing
from tasks.literature.snapshot.build import build_snapshot
from tests.support.paper_files import write_jsonl
from tests.support.seeded_defects import Row, Seeded, seed_defects

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
