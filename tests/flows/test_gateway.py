"""What a run says, once, of the literature it is given."""

from pathlib import Path

import pytest

from flows.gateway import lacking
from schemas.choices import LiteratureChoice
from tasks.literature.snapshot.build import build_snapshot
from tests.support.paper_files import paper_rows, with_references, write_jsonl


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("nothing", "The snapshot knows no references: papers are found by search alone."),
        (
            "references",
            "The snapshot does not know how papers cite each other, only that they do.",
        ),
        ("passages", ""),
    ],
)
def test_a_snapshot_that_knows_no_passages_or_no_references_says_so(
    known: str, said: str, tmp_path: Path
) -> None:
    rows = paper_rows(6)
    if known != "nothing":
        rows = with_references(rows)
    if known == "passages":
        for row in rows:
            named = row.get("references") or []
            row["reference_contexts"] = [["We follow them."] for _ in named]
    build_snapshot(write_jsonl(tmp_path / "papers.jsonl", rows), tmp_path / "index")
    alone = LiteratureChoice(tmp_path / "index")
    assert lacking(alone) == said
    assert lacking(LiteratureChoice(tmp_path / "index", then_live=True)) == ""
    assert lacking(LiteratureChoice()) == ""
