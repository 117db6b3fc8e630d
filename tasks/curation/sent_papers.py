"""Papers that programs send, as the folders they would be."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from schemas.works.curation_run import SentPaper
from warehouse.parquet import write_bytes


def write_papers(folder: Path, papers: Sequence[SentPaper]) -> tuple[Path, Path]:
    """Write `papers/ID.md` and `reviews/ID.json`; the two folders."""
    texts, reviews = folder / "papers", folder / "reviews"
    for place in (texts, reviews):
        place.mkdir(parents=True, exist_ok=True)
    for paper in papers:
        told = paper.model_dump(exclude={"paper_id", "text", "reviews"}, exclude_none=True)
        told["reviews"] = [
            {"comments": each.text, "rating": each.rating, "confidence": each.confidence}
            for each in paper.reviews
        ]
        write_bytes(texts / f"{paper.paper_id}.md", paper.text.encode("utf-8", "replace"))
        write_bytes(reviews / f"{paper.paper_id}.json", orjson.dumps(told))
    return texts, reviews
