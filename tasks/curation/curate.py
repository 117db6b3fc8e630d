"""One paper with its reviews from end to end: select, idea, leaks, sentences, statements."""

from dataclasses import dataclass

from schemas.failure import Failure
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from schemas.works.curation import (
    HEADINGS,
    CuratedDrop,
    CuratedReview,
    Curation,
    DroppedPart,
    idea_text,
)
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


async def curate(
    source: PaperSource,
    submission: Submission,
    parameters: CurationParameters,
    engine: Engine,
    ledger: Ledger,
) -> Curation:
    """The paper as a rated idea, or why it is none; what was asked before stays in its rows."""
    reviews = looked_at(submission.reviews)
    idea, found, stated = None, Found(), Stated()
    parts = parts_of_paper(submission.paper)
    dropped = refused(submission, reviews, parameters) or _unfit(parts)
    if dropped is None:
        outcomes = Outcomes.of(parts.outcomes, parts.text_of(Part.BACKGROUND, Part.METHOD))
        planned = await _idea(submission.title, parts, outcomes, engine)
        if isinstance(planned, Unread):
            dropped = planned
        else:
            idea = planned
            found = await find_criticism(idea.text, reviews, engine)
            if found.unanswered:
                first = found.unanswered[0]
                detail = f"{len(found.unanswered)} reviews: {first.detail}"
                dropped = Unread(first.reason, detail)
            elif not found.sentences:
                dropped = Unread(Reason.NO_CRITICISM, "no sentence is about the idea")
            else:
                stated = await state(idea.text, found, outcomes, engine)
                dropped = _nothing_stated(stated)
    return _curation(source, submission, reviews, parameters, ledger, idea, found, stated, dropped)


def _nothing_stated(stated: Stated) -> Unread | None:
    if stated.unscored is not None:
        return Unread(stated.unscored.reason, stated.unscored.detail)
    if any(each.type == "weakness" for each in stated.statements):
        return None
    told = f"{len(stated.statements)} statements, and no criticism of the idea among them"
    return Unread(Reason.NO_CRITICISM, told)


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
                left_out_of=DroppedPart.IDEA,
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
    ledger: Ledger,
    idea: PlannedIdea | None,
    found: Found,
    stated: Stated,
    dropped: Unread | None,
) -> Curation:
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
