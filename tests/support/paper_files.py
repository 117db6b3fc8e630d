"""Files of invented papers, with the columns a snapshot is built from."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_TOPICS = (
    "graph networks",
    "protein folding",
    "machine translation",
    "robot grasping",
    "image segmentation",
    "bandit algorithms",
)
_METHODS = (
    "attention",
    "contrastive learning",
    "dynamic programming",
    "diffusion",
    "active learning",
)


def paper_rows(count: int) -> list[dict[str, Any]]:
    """`count` papers, each of its own title; every ninth has no abstract, every fourth no link."""
    rows = []
    for number in range(count):
        topic, method = _TOPICS[number % len(_TOPICS)], _METHODS[number % len(_METHODS)]
        rows.append(
            {
                "title": f"{method.title()} for {topic}: report {number}",
                "abstract": (
                    f"We study {topic} with {method}. Experiment {number} improves results."
                    if number % 9
                    else ""
                ),
                "authors": [f"Ada Author{number}", "Bob Writer"],
                "venue": "Conference",
                "year": 2010 + number % 12,
                "url": f"https://example.org/papers/{number}" if number % 4 else None,
                "pdf_url": f"https://example.org/papers/{number}.pdf" if number % 2 else None,
                "doi": f"10.5555/Paper.{number}" if number % 5 == 0 else None,
                "keywords": [topic, method],
                "citation_count": number,
            }
        )
    return rows


def with_references(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same papers, each citing by URL the two before it that have one; every sixth list is
    unknown.
    """
    cited: list[str] = []
    completed = []
    for number, row in enumerate(rows):
        known = [*cited[-2:], "https://example.org/elsewhere"]
        completed.append({**row, "references": known if number % 6 else None})
        if row["url"]:
            cited.append(row["url"])
    return completed


def write_parquet(path: Path, rows: list[dict[str, Any]], row_group_size: int = 1_000) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=row_group_size)
    return path


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
