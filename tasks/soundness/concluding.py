"""What follows the reviews of an idea's methods: the check of what they cite, and the whole idea's
soundness in up to three strengths, weaknesses and suggestions (ScholarEval B.1.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from schemas.base import replace as replace_noun
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.soundness import Method, SoundnessReview, SoundnessSummary
from schemas.literature.citation import Citation
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.references import rekeyed
from tasks.citations.settle import citation_rows, settle
from tasks.judging.step import Engine, never_asked, shortened
from tasks.judging.verifying import Verified, sentence_counts, verify
from tasks.soundness.reviewing import STAGE, Reviewed
from tasks.soundness.steps.soundness_summary import (
    SOUNDNESS_SUMMARY,
    ReviewShown,
    SummaryInput,
    SummaryReply,
)

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


_MOST = 3


@dataclass(frozen=True, slots=True)
class Summarised:
    """The summary, the citations it makes, and what was wrong with the reply."""

    summary: SoundnessSummary
    citations: tuple[Citation, ...] = ()
    failures: tuple[Failure, ...] = ()


async def summarise(
    idea: Idea, reviewed: Sequence[tuple[Method, Reviewed]], engine: Engine
) -> Summarised:
    """Condense the scored reviews, in the methods' order.

    Without one there is nothing to condense, and the summary is unscored.
    """
    scored = [(method, each) for method, each in reviewed if each.review.score_0_to_10 is not None]
    if not scored:
        reasons = {each.review.unscored_reason for _, each in reviewed}
        reason = reasons.pop() if len(reasons) == 1 else Reason.NO_EVIDENCE
        return Summarised(
            SoundnessSummary(
                unscored_reason=reason, provenance=never_asked(SOUNDNESS_SUMMARY, engine)
            )
        )
    shown = _cited_anywhere([each for _, each in scored])
    reviews = tuple(
        _review_shown(method, each.review, each.shown, shown) for method, each in scored
    )
    unreviewed = tuple(
        method.text for method, each in reviewed if each.review.score_0_to_10 is None
    )
    outcome = await engine.run(
        SOUNDNESS_SUMMARY, SummaryInput(idea=idea.text, reviews=reviews, unreviewed=unreviewed)
    )
    if isinstance(outcome, Unscored):
        failure = Failure(
            stage="soundness", subject="summary", reason=outcome.reason, detail=outcome.detail
        )
        return Summarised(
            SoundnessSummary(unscored_reason=outcome.reason, provenance=outcome.provenance),
            failures=(failure,),
        )
    return _summarised(outcome.value, shown, outcome.provenance)


def _summarised(reply: SummaryReply, shown: Shown, provenance: Provenance) -> Summarised:
    """The first three of each list, with citations rendered."""
    lists = {
        "strengths": reply.strengths,
        "weaknesses": reply.weaknesses,
        "suggestions": reply.suggestions,
    }
    texts = {
        field: [settle(item, shown) for item in items[:_MOST] if item.strip()]
        for field, items in lists.items()
    }
    beyond = [
        f"{len(items) - _MOST} {field}" for field, items in lists.items() if len(items) > _MOST
    ]
    removed = sum(text.removed_citation_count for found in texts.values() for text in found)
    summary = SoundnessSummary(
        strengths=tuple(text.markdown for text in texts["strengths"]),
        weaknesses=tuple(text.markdown for text in texts["weaknesses"]),
        suggestions=tuple(text.markdown for text in texts["suggestions"]),
        provenance=shortened(
            provenance, f"left out beyond three: {', '.join(beyond)}" if beyond else None
        ),
    )
    joined = {
        field: settle("\n\n".join(text.markdown for text in found), shown)
        for field, found in texts.items()
    }
    citations = tuple(
        row
        for field, text in joined.items()
        for row in citation_rows(text, shown, module="soundness", subject="summary", field=field)
    )
    return Summarised(summary, citations, _invented(removed))


def _invented(removed: int) -> tuple[Failure, ...]:
    if not removed:
        return ()
    detail = f"{removed} citations of papers that were not shown were taken out of the summary"
    return (
        Failure(
            stage="soundness", subject="summary", reason=Reason.REPLY_UNPARSABLE, detail=detail
        ),
    )


def _cited_anywhere(reviewed: Sequence[Reviewed]) -> Shown:
    """One set of keys for all that the reviews cite, in the order they cite it."""
    papers = {paper.paper_id: paper for each in reviewed for paper in each.shown.papers}
    cited: dict[PaperId, None] = {
        row.paper_id: None
        for each in reviewed
        for row in each.citations
        if row.paper_id is not None
    }
    return show([papers[paper_id] for paper_id in cited])


def _review_shown(method: Method, review: SoundnessReview, own: Shown, shown: Shown) -> ReviewShown:
    assert review.score_0_to_10 is not None
    return ReviewShown(
        rank=method.rank,
        method=method.text,
        score_0_to_10=review.score_0_to_10,
        evidence_count=review.evidence_count,
        support=rekeyed(review.support, own, shown),
        contradictions=rekeyed(review.contradictions, own, shown),
        suggestions=rekeyed(review.suggestions, own, shown),
    )
