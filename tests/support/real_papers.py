"""Papers that cite each other in known words, from the data beside the repository; where it is not
there, its tests are skipped.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data"


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def rows_of(
    folder: Path, contexts: list[tuple[dict[str, Any], str]], address: str
) -> list[dict[str, Any]]:
    """The papers of a set as a table. `contexts`: each with the paper that it cites."""
    told: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for one, cited in contexts:
        told[one["citing_id"]][cited].append({"text": one["context"], "section": one["section"]})
    rows = []
    for paper in lines_of(folder / "papers.jsonl.gz"):
        cites = told.get(paper["id"], {})
        references = list(dict.fromkeys((*paper["references"], *cites)))
        rows.append(
            {
                "paper_id": paper["id"],
                "title": paper["title"] or f"Untitled {paper['id']}",
                "abstract": paper["abstract"],
                "authors": [],
                "venue": paper.get("journal") or "ACL",
                "year": paper["year"],
                "url": address.format(paper["id"]),
                "references": references,
                "reference_contexts": [cites.get(each) for each in references],
            }
        )
    return rows


def anthology_rows() -> list[dict[str, Any]]:
    """Papers of the ACL Anthology with the sentences in which they cite each other."""
    folder = shared("acl_citation_contexts")
    contexts = [(one, one["cited_id"]) for one in lines_of(folder / "contexts.jsonl.gz")]
    return rows_of(folder, contexts, "https://aclanthology.org/{}/")
