"""Expert reviews of human- and machine-written ideas (Si, Yang & Hashimoto 2024): one row per
review.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import ConfigurationError

FILE = "expert_reviews.parquet"
REFERENCE = "Human"
SCORES = (
    "novelty_score",
    "excitement_score",
    "feasibility_score",
    "effectiveness_score",
    "overall_score",
)


@dataclass(frozen=True, slots=True)
class ExpertReview:
    """One review: scores by name, None where the expert gave none."""

    idea_id: str
    condition: str
    scores: dict[str, float | None]


def read_expert_reviews(path: Path) -> list[ExpertReview]:
    """Every review of the file.

    Raises ConfigurationError for a file that is not what its name says.
    """
    try:
        rows = pq.read_table(path, columns=["idea_id", "condition", *SCORES]).to_pylist()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise ConfigurationError(
            f"{path} cannot be read as expert reviews ({' '.join(str(error).split())[:200]})"
        ) from error
    if not rows:
        raise ConfigurationError(f"{path} holds nothing")
    return [
        ExpertReview(
            str(row["idea_id"]),
            str(row["condition"]),
            {name: _number(row[name]) for name in SCORES},
        )
        for row in rows
    ]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
