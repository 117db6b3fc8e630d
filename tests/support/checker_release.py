"""A small made-up release of a quality checker, in the columns of the real one: two checkers, four
papers, two judges.
"""

from pathlib import Path
from typing import Any

import polars as pl

REASONS = (
    "The proof of Lemma 3 is wrong: the sequence need not converge uniformly.",
    "The sample of galaxies was counted twice, so the luminosity function in Section 5 is invalid.",
    "Equation (7) has a sign error that invalidates the main theorem.",
    "The experiment used training data for testing.",
)
OTHER = "The introduction cites no work on numerical weather forecasts."
JUDGES = ("gemini-2.5-pro", "o3")
PRICED, UNPRICED = "o3", "checker-without-price"
FOUND: dict[str, tuple[int | None, ...]] = {PRICED: (2, 1, 0, 2), UNPRICED: (1, None, 2, 1)}
"""Problems per paper; None: the release has no answer.

The first problem of each list is the authors' own.
"""


def write_release(data: Path) -> Path:
    """Write `withdrarxiv/*.parquet` below `data`, and give `data`."""
    folder = data / "withdrarxiv"
    folder.mkdir(parents=True)
    papers = [
        {
            "entry_id": number,
            "paper_id": f"2401.0000{number}",
            "title": f"Paper {number}",
            "retraction_comment": reason,
            "page_count": 10,
        }
        for number, reason in enumerate(REASONS)
    ]
    checks, problems, votes = [], [], []
    for model, counts in FOUND.items():
        for entry, count in enumerate(counts):
            key: dict[str, Any] = {"model": model, "approach": "pdf", "entry_id": entry}
            output = None if entry == 3 else 100 * (entry + 1)
            tokens = {
                "input_tokens": 1000 * (entry + 1),
                "thinking_tokens": 500 + entry,
                "output_tokens": output,
            }
            checks.append(key | {"problem_count": count} | tokens)
            for number in range(count or 0):
                text = OTHER if number else REASONS[entry]
                problems.append(
                    key
                    | {
                        "problem_id": number,
                        "problem": text,
                        "location": "Section 1",
                        "explanation": text,
                    }
                )
            votes += _votes(key, count)
    for name, rows in (
        ("papers", papers),
        ("checks", checks),
        ("problems", problems),
        ("votes", votes),
    ):
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / f"{name}.parquet")
    return data


def _votes(key: dict[str, Any], count: int | None) -> list[dict[str, Any]]:
    """The first judge hits a paper's first problem and stops; the second says no to that of paper
    0, and to the next.
    """
    if count == 0:
        return [key | {"problem_id": None, "judge": judge, "hit": False} for judge in JUDGES]
    if count is None:
        return []
    strict = key["entry_id"] == 0
    own = [
        key | {"problem_id": 0, "judge": JUDGES[0], "hit": True},
        key | {"problem_id": 0, "judge": JUDGES[1], "hit": not strict},
    ]
    more = [
        key | {"problem_id": number, "judge": JUDGES[1], "hit": False} for number in range(1, count)
    ]
    return own + (more if strict else [])
