"""Curation of one paper: selection, idea, leaks, sentences, statements."""

from dataclasses import dataclass
from typing import Any

from schemas.failure import Failure
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from schemas.works.curation import (
    HEADINGS,
    CuratedDrop,
    Curation,
    DroppedPart,
    idea_text,
)
from schemas.works.curation_run import CurationParameters, PaperSource
from tasks.accounting.ledger import Ledger
from tasks.curation.criticism import (
    STAGE,
    Criticism,
    StatementsOfIdea,
    extract_statements,
    find_criticism,
)
from tasks.curation.leaks import Outcomes
from tasks.curation.paper_parts import FEWEST_METHOD_WORDS, PaperParts, Part, parts_of_paper
from tasks.curation.steps import (
    CURATE_IDEA,
    IdeaInput,
    ShownSection,
)
from tasks.curation.submission import (
    Submission,
    check_reviews,
    reject_submission,
    review_drops,
)
from tasks.documents.document import Refusal
from tasks.judging.step import Engine
from tasks.languages.language import language_of


@dataclass(frozen=True, slots=True)
class PlannedIdea:
    """The idea of a paper, and the leaks removed from it."""

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
    """Return the paper as a rated idea, or dropped with a reason; all calls stay in its rows."""
    reviews = check_reviews(submission.reviews)
    idea, criticism, statements = None, Criticism(), StatementsOfIdea()
    parts = parts_of_paper(submission.paper)
    refusal = reject_submission(submission, reviews, parameters) or reject_parts(parts)
    if refusal is None:
        outcomes = _outcomes(parts)
        planned_idea = await take_plan(submission.title, parts, engine)
        if isinstance(planned_idea, Refusal):
            refusal = planned_idea
        else:
            idea = planned_idea
            criticism = await find_criticism(idea.text, reviews, engine)
            if criticism.sentences and not criticism.unanswered:
                statements = await extract_statements(idea.text, criticism, outcomes, engine)
            refusal = _reject_criticism(criticism, statements)
    fields: dict[str, Any] = {}
    if refusal is not None:
        fields = {"dropped_reason": refusal.reason, "dropped_detail": refusal.detail}
    elif idea is not None:
        fields = {name: getattr(idea, name) for name in ("text", *HEADINGS)}
    leaks = idea.leaks if idea is not None else ()
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
        review_count=len(reviews),
        used_review_count=sum(review.unused_reason is None for review in reviews),
        sentence_count=len(criticism.sentences),
        statement_count=len(statements.statements),
        leak_count=len(leaks),
        reviews=reviews,
        sentences=criticism.sentences,
        statements=statements.statements,
        drops=(*review_drops(reviews), *leaks, *criticism.drops, *statements.drops),
        failures=(*submission.failures, *criticism.failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        provenance=idea.provenance if idea is not None else None,
        **fields,
    )


def reject_parts(parts: PaperParts) -> Refusal | None:
    """Return why no plan can be taken out of a paper, or None."""
    if parts.method_words < FEWEST_METHOD_WORDS:
        detail = f"{parts.method_words} words of the paper are on what it does"
        return Refusal(Reason.NO_METHOD, detail)
    if (language := language_of(parts.text_of(*Part))) is not None:
        return Refusal(Reason.OTHER_LANGUAGE, f"the paper is in {language}")
    return None


def _reject_criticism(criticism: Criticism, statements: StatementsOfIdea) -> Refusal | None:
    if criticism.unanswered:
        first = criticism.unanswered[0]
        return Refusal(first.reason, f"{len(criticism.unanswered)} reviews: {first.detail}")
    if not criticism.sentences:
        return Refusal(Reason.NO_CRITICISM, "no sentence is about the idea")
    if statements.unscored is not None:
        return Refusal(statements.unscored.reason, statements.unscored.detail)
    if any(each.type == "weakness" for each in statements.statements):
        return None
    detail = f"{len(statements.statements)} statements, and no criticism of the idea among them"
    return Refusal(Reason.NO_CRITICISM, detail)


def _outcomes(parts: PaperParts) -> Outcomes:
    return Outcomes.of(parts.outcomes, parts.text_of(Part.BACKGROUND, Part.METHOD))


async def take_plan(title: str, parts: PaperParts, engine: Engine) -> PlannedIdea | Refusal:
    """Take the plan out of a paper, without its results."""
    sections = tuple(
        ShownSection(part=each.part.value, heading=each.heading, text=each.text)
        for each in parts.planned
    )
    answer = await engine.run(CURATE_IDEA, IdeaInput(title=title, sections=sections))
    if isinstance(answer, Unscored):
        return Refusal(answer.reason, answer.detail)
    outcomes = _outcomes(parts)
    texts: dict[str, str] = {}
    leaks: list[CuratedDrop] = []
    for name in HEADINGS:
        texts[name], new_leaks = outcomes.without_leaks(getattr(answer.value, name).strip())
        leaks += [
            CuratedDrop(
                left_out_of=DroppedPart.IDEA,
                subject=name,
                text=each.sentence,
                reason=Reason.TELLS_RESULTS,
                detail=each.detail,
            )
            for each in new_leaks
        ]
    missing_part = next((name for name in ("method", "problem") if not texts[name]), None)
    if missing_part is not None:
        return Refusal(Reason.NO_METHOD, f"the paper gives the idea no {missing_part}")
    return PlannedIdea(
        **texts,
        text=idea_text(title, **texts),
        leaks=tuple(leaks),
        provenance=answer.provenance,
    )


def failed_curation(
    source: PaperSource, parameters: CurationParameters, refusal: Refusal, ledger: Ledger
) -> Curation:
    """Return the curation of a paper that is unavailable or unreadable."""
    failure = Failure(
        stage=STAGE, subject=source.paper_id, reason=refusal.reason, detail=refusal.detail
    )
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
        dropped_reason=refusal.reason,
        dropped_detail=refusal.detail,
        failures=(failure, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )
