"""One paper with its reviews from end to end: select, idea, leaks, sentences, statements."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.failure import Failure
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from schemas.works.curation import HEADINGS, CuratedDrop, CuratedReview, Curation, Kept, idea_text
from schemas.works.curation_run import CurationParameters, PaperSource
from tasks.accounting.ledger import Ledger
from tasks.curation.criticism import STAGE, Found, Stated, find_criticism, state
from tasks.curation.leaks import Outcomes
from tasks.curation.paper_parts import FEWEST_METHOD_WORDS, PaperParts, Part, parts_of_paper
from tasks.curation.steps.curate_idea import CURATE_IDEA, IdeaInput, ShownSection
from tasks.curation.submission import (
    Submission,
    Unread,
    is_english,
    looked_at,
    refused,
    review_drops,
)
from tasks.judging.step import Engine


@dataclass(frozen=True, slots=True)
class PlannedIdea:
    """The idea of a paper without what leaked, and that."""

    problem: str
    method: str
    experiment: str
    text: str
    leaks: tuple[CuratedDrop, ...]
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far the paper came; what is None was not reached."""

    idea: PlannedIdea | None = None
    found: Found | None = None
    stated: Stated | None = None
    dropped: Unread | None = None


async def curate(
    source: PaperSource,
    submission: Submission,
    parameters: CurationParameters,
    engine: Engine,
    ledger: Ledger,
) -> Curation:
    """The paper as a rated idea, or why it is none; what was asked before stays in its rows."""
    reviews = looked_at(submission.reviews)
    progress = await _progress(submission, reviews, parameters, engine)
    return _curation(source, submission, reviews, parameters, progress, ledger)


async def _progress(
    submission: Submission,
    reviews: Sequence[CuratedReview],
    parameters: CurationParameters,
    engine: Engine,
) -> _Progress:
    against = refused(submission, reviews, parameters)
    if against is not None:
        return _Progress(dropped=against)
    parts = parts_of_paper(submission.paper)
    against = _unfit(parts)
    if against is not None:
        return _Progress(dropped=against)
    outcomes = Outcomes.of(parts.outcomes, parts.text_of(Part.BACKGROUND, Part.METHOD))
    idea = await _idea(submission.title, parts, outcomes, engine)
    if isinstance(idea, Unread):
        return _Progress(dropped=idea)
    found = await find_criticism(idea.text, reviews, engine)
    if len(found.unanswered) > 0:
        first = found.unanswered[0]
        dropped = Unread(first.reason, f"{len(found.unanswered)} reviews: {first.detail}")
        return _Progress(idea, found, dropped=dropped)
    if not found.sentences:
        return _Progress(idea, found, dropped=_no_criticism("no sentence is about the idea"))
    stated = await state(idea.text, found, outcomes, engine)
    if stated.unscored is not None:
        dropped = Unread(stated.unscored.reason, stated.unscored.detail)
        return _Progress(idea, found, stated, dropped)
    if not any(each.type == "weakness" for each in stated.statements):
        told = f"{len(stated.statements)} statements, and no criticism of the idea among them"
        return _Progress(idea, found, stated, _no_criticism(told))
    return _Progress(idea, found, stated)


def _no_criticism(detail: str) -> Unread:
    return Unread(Reason.NO_CRITICISM, detail)


def _unfit(parts: PaperParts) -> Unread | None:
    if parts.method_words < FEWEST_METHOD_WORDS:
        told = f"{parts.method_words} words of the paper are on what it does"
        return Unread(Reason.NO_METHOD, told)
    if not is_english(parts.text_of(*Part)):
        return Unread(Reason.OTHER_LANGUAGE, "the paper is not in English")
    return None


async def _idea(
    title: str, parts: PaperParts, outcomes: Outcomes, engine: Engine
) -> PlannedIdea | Unread:
    shown = tuple(
        ShownSection(part=each.part.value, heading=each.heading, text=each.text)
        for each in parts.planned
    )
    answer = await engine.run(CURATE_IDEA, IdeaInput(title=title, sections=shown))
    if isinstance(answer, Unscored):
        return Unread(answer.reason, answer.detail)
    texts: dict[str, str] = {}
    leaks: list[CuratedDrop] = []
    for name in HEADINGS:
        texts[name], leaked = outcomes.without_leaks(getattr(answer.value, name).strip())
        leaks += [
            CuratedDrop(
                left_out_of=Kept.IDEA,
                subject=name,
                text=each.sentence,
                reason=Reason.TELLS_RESULTS,
                detail=each.detail,
            )
            for each in leaked
        ]
    lacking = next((name for name in ("method", "problem") if not texts[name]), None)
    if lacking is not None:
        return Unread(Reason.NO_METHOD, f"the paper gives the idea no {lacking}")
    return PlannedIdea(
        **texts,
        text=idea_text(title, **texts),
        leaks=tuple(leaks),
        provenance=answer.provenance,
    )


def _curation(
    source: PaperSource,
    submission: Submission,
    reviews: tuple[CuratedReview, ...],
    parameters: CurationParameters,
    progress: _Progress,
    ledger: Ledger,
) -> Curation:
    idea, dropped = progress.idea, progress.dropped
    found, stated = progress.found or Found(), progress.stated or Stated()
    leaks = idea.leaks if idea is not None else ()
    kept = idea if dropped is None else None
    return Curation(
        paper_id=source.paper_id,
        title=submission.title,
        reviewed_at=source.reviewed_at,
        url=submission.url,
        licence=submission.licence or parameters.licence,
        discipline=submission.discipline or parameters.discipline,
        cutoff_date=submission.submitted or parameters.cutoff_date,
        decision=submission.decision,
        is_first_version=submission.is_first_version,
        content_sha256=submission.content_sha256,
        text=kept.text if kept is not None else "",
        problem=kept.problem if kept is not None else "",
        method=kept.method if kept is not None else "",
        experiment=kept.experiment if kept is not None else "",
        review_count=len(reviews),
        used_review_count=sum(review.unused_reason is None for review in reviews),
        sentence_count=len(found.sentences),
        statement_count=len(stated.statements),
        leak_count=len(leaks),
        dropped_reason=dropped.reason if dropped is not None else None,
        dropped_detail=dropped.detail if dropped is not None else "",
        reviews=reviews,
        sentences=found.sentences,
        statements=stated.statements,
        drops=(*review_drops(reviews), *leaks, *found.drops, *stated.drops),
        failures=(*submission.failures, *found.failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        provenance=idea.provenance if idea is not None else None,
    )


def uncurated(
    source: PaperSource, parameters: CurationParameters, why: Unread, ledger: Ledger
) -> Curation:
    """A paper that could not be had or read, and why."""
    own = Failure(stage=STAGE, subject=source.paper_id, reason=why.reason, detail=why.detail)
    return Curation(
        paper_id=source.paper_id,
        title="",
        reviewed_at=source.reviewed_at,
        url="",
        licence=parameters.licence,
        discipline=parameters.discipline,
        cutoff_date=parameters.cutoff_date,
        decision="",
        is_first_version=None,
        content_sha256=source.content_sha256,
        text="",
        review_count=0,
        used_review_count=0,
        dropped_reason=why.reason,
        dropped_detail=why.detail,
        failures=(own, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )
