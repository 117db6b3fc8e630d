"""Rows of the table `citations` from settled texts."""

from schemas.citation import Citation
from tasks.citations.keys import Shown
from tasks.citations.settle import Settled


def citation_rows(
    settled: Settled, shown: Shown, *, module: str, subject: str, field: str
) -> tuple[Citation, ...]:
    """One row per paper that `settled` cites; `shown` is what the text was settled against."""
    return tuple(
        Citation(
            paper_id=paper_id,
            citation_key=shown.key_of(paper_id),
            module=module,
            subject=subject,
            field=field,
            count=count,
        )
        for paper_id, count in settled.cited
    )
