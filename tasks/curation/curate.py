"""Curation of one paper: selection, idea, leaks, sentences, statements."""

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
from tasks.curation.criticism import (
    STAGE,
    Criticism,
    StatementsOfIdea,
    extract_statements,
    find_criticism,
)
from tasks.curation.leaks import Outcomes
from tasks.curation.paper_parts import FEWEST_METHOD_WORDS, PaperParts, Part, parts_of_paper
from tasks.curation.steps.curate_idea import CURATE_IDEA, IdeaInput, ShownSection
from tasks.curation.submission import (
    Rejection,
    Submission,
    check_reviews,
    is_english,
    reject_submission,
    review_drops,
)
from tasks.judging.step import Engine


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
    rejection = reject_submission(submission, reviews, parameters) or _reject_parts(parts)
    if rejection is None:
        outcomes = Outcomes.of(parts.outcomes, parts.text_of(Part.BACKGROUND, Part.METHOD))
        planned_idea = await _idea(submission.title, parts, outcomes, engine)
        if isinstance(planned_idea, Rejection):
            rejection = planned_idea
        else:
            idea = planned_idea
            criticism = await find_criticism(idea.text, reviews, engine)
            if criticism.unanswered:
                first = criticism.unanswered[0]
                detail = f"{len(criticism.unanswered)} reviews: {first.detail}"
                rejection = Rejection(first.reason, detail)
            elif not criticism.sentences:
                rejection = Rejection(Reason.NO_CRITICISM, "no sentence is about the idea")
            else:
                statements = await extract_statements(idea.text, criticism, outcomes, engine)
                rejection = _reject_statements(statements)
    return _curation(
        source, submission, reviews, parameters, ledger, idea, criticism, statements, rejection
    )


def _reject_statements(statements: StatementsOfIdea) -> Rejection | None:
    if statements.unscored is not None:
        return Rejection(statements.unscored.reason, statements.unscored.detail)
    if any(each.type == "weakness" for each in statements.statements):
        return None
    detail = f"{len(statements.statements)} statements, and no criticism of the idea among them"
    return Rejection(Reason.NO_CRITICISM, detail)


def _reject_parts(parts: PaperParts) -> Rejection | None:
    if parts.method_words < FEWEST_METHOD_WORDS:
        detail = f"{parts.method_words} words of the paper are on what it does"
        return Rejection(Reason.NO_METHOD, detail)
    if not is_english(parts.text_of(*Part)):
        return Rejection(Reason.OTHER_LANGUAGE, "the paper is not in English")
    return None


async def _idea(
    title: str, parts: PaperParts, outcomes: Outcomes, engine: Engine
) -> PlannedIdea | Rejection:
    sections = tuple(
        ShownSection(part=each.part.value, heading=each.heading, text=each.text)
        for each in parts.planned
    )
    answer = await engine.run(CURATE_IDEA, IdeaInput(title=title, sections=sections))
    if isinstance(answer, Unscored):
        return Rejection(answer.reason, answer.detail)
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
    lacking = next((name for name in ("method", "problem") if not texts[name]), None)
    if lacking is not None:
        return Rejection(Reason.NO_METHOD, f"the paper gives the idea no {lacking}")
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
    criticism: Criticism,
    statements: StatementsOfIdea,
    rejection: Rejection | None,
) -> Curation:
    leaks = idea.leaks if idea is not None else ()
    kept_idea = idea if rejection is None else None
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
        text=kept_idea.text if kept_idea is not None else "",
        problem=kept_idea.problem if kept_idea is not None else "",
        method=kept_idea.method if kept_idea is not None else "",
        experiment=kept_idea.experiment if kept_idea is not None else "",
        review_count=len(reviews),
        used_review_count=sum(review.unused_reason is None for review in reviews),
        sentence_count=len(criticism.sentences),
        statement_count=len(statements.statements),
        leak_count=len(leaks),
        dropped_reason=rejection.reason if rejection is not None else None,
        dropped_detail=rejection.detail if rejection is not None else "",
        reviews=reviews,
        sentences=criticism.sentences,
        statements=statements.statements,
        drops=(*review_drops(reviews), *leaks, *criticism.drops, *statements.drops),
        failures=(*submission.failures, *criticism.failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        provenance=idea.provenance if idea is not None else None,
    )


def failed_curation(
    source: PaperSource, parameters: CurationParameters, rejection: Rejection, ledger: Ledger
) -> Curation:
    """Return the curation of a paper that is unavailable or unreadable."""
    failure = Failure(
        stage=STAGE, subject=source.paper_id, reason=rejection.reason, detail=rejection.detail
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
        dropped_reason=rejection.reason,
        dropped_detail=rejection.detail,
        failures=(failure, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )
