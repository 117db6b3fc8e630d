"""The reviews of an idea's methods after the check of what they cite."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schemas.base import replace as replace_noun
from schemas.failure import Failure
from schemas.identifiers import PaperId
from tasks.citations.collect import citation_rows
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.judging.verifying import Verified, sentence_counts, verify
from tasks.soundness.reviewing import STAGE, Reviewed

_CHECKED = ("support", "contradictions")


async def verify_reviews(
    reviewed: Sequence[Reviewed], stored: Mapping[PaperId, str], engine: Engine
) -> tuple[list[Reviewed], tuple[Failure, ...]]:
    """`reviewed` with support and contradictions as the stored texts carry them."""
    texts = [(getattr(each.review, name), each.shown) for each in reviewed for name in _CHECKED]
    verified, failures = await verify(texts, stored, engine, stage=STAGE)
    pairs = zip(verified[::2], verified[1::2], strict=True)
    return [
        _with(each, dict(zip(_CHECKED, pair, strict=True)))
        for each, pair in zip(reviewed, pairs, strict=True)
    ], failures


def _with(reviewed: Reviewed, verified: Mapping[str, Verified]) -> Reviewed:
    if reviewed.review.score_0_to_10 is None:
        return reviewed
    review = replace_noun(
        reviewed.review,
        **{name: text.markdown for name, text in verified.items()},
        **sentence_counts(verified.values()),
    )
    cited = tuple(
        row
        for name, text in verified.items()
        for row in citation_rows(
            settle(text.markdown, reviewed.shown),
            reviewed.shown,
            module=STAGE,
            subject=review.method_id,
            field=name,
        )
    )
    others = tuple(row for row in reviewed.citations if row.field not in verified)
    return replace(reviewed, review=review, citations=(*cited, *others))
