"""A program officer's questions about a plan, answered by quotation and without a score."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.failure import call_failures
from schemas.identifiers import PaperId
from schemas.judgement.officer import OfficerAnswer, OfficerQuestion, OfficerStatus
from schemas.judgement.soundness import ElementStanding, MethodEvidence, PlanElement
from schemas.judgement.suggestion import ActionEffort, Suggestion
from schemas.literature.paper import Paper
from schemas.outcome import Unscored
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.citations.keys import KEY, Shown, show
from tasks.citations.settle import settle
from tasks.judging.findings import CitedResult, omission_failures, whole_citations
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine, reads_offline
from tasks.metrics.estimate import items_needed, pairs_needed
from tasks.recommendation.extracting import MOST_CHARACTERS, ResourceLines
from tasks.soundness.gathering import STAGE
from tasks.soundness.steps.officer_review import (
    ELEMENT_WORDS,
    ELEMENTS_SHOWN,
    OFFICER_REVIEW,
    PAPER_WORDS,
    PAPERS_SHOWN,
    SIGNS,
    OfficerInput,
    OfficerPaper,
    ProposedAnswer,
)
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, quotable, stands_in
from tasks.text.words import sentences, shorten_words

SUBJECT = "officer"
COULD_NOT_TELL = "could not tell"
NO_RESOURCES = ResourceLines()
LEAST_RELEVANCE = 2
MIDDLE_SHARE = 0.5
_UNSTATED = ElementStanding.UNSTATED
_PERCENTAGE_POINTS = bounded(r"\d\s?(?:percentage[- ]points?|pp\b|%[- ]points?)", IGNORECASE)


@dataclass(frozen=True, slots=True)
class OfficerMaterial:
    """Results of an evaluation for a program officer; nothing is searched for.

    Attributes:
        suggestions: of all reviews; their efforts are counted.
        texts: stored text of each paper.
    """

    plan: str
    elements: Sequence[PlanElement] = ()
    suggestions: Sequence[Suggestion] = ()
    near_works: ResourceLines = NO_RESOURCES
    evidence: Sequence[MethodEvidence] = ()
    papers: Sequence[Paper] = ()
    texts: Mapping[PaperId, str] = field(default_factory=dict)


async def ask_officer(
    material: OfficerMaterial, engine: Engine
) -> CitedResult[tuple[OfficerAnswer, ...]]:
    """Ask all questions in one call.

    A quotation that stands neither in the plan nor in its paper is dropped and counted.
    """
    evidence = _nearest(material)
    papers = {paper.paper_id: paper for paper in material.papers}
    excerpts = {
        row.paper_id: text
        for row in evidence
        if (text := _excerpt(row.numbers_quote, material.texts.get(row.paper_id, "")))
    }
    # Their papers come first, so that the keys in the lines of resources stay valid.
    prompt_papers = show(
        [*material.near_works.prompt_papers.papers, *(papers[row.paper_id] for row in evidence)]
    )
    key_of = prompt_papers.key_of
    sizes = [_sizes(row, key_of(row.paper_id)) for row in evidence if row.numbers_quote]
    needs = [need for row in evidence if (need := _sample_needed(row, key_of(row.paper_id)))]
    shown_papers = tuple(
        OfficerPaper(key=key_of(paper_id), title=papers[paper_id].title, text=text)
        for paper_id, text in excerpts.items()
    )
    question = _question(material, [*sizes, *(text for _, text in needs)], shown_papers)
    outcome = await engine.run(OFFICER_REVIEW, question)
    if isinstance(outcome, Unscored):
        columns = {each: dict(outcome.columns) for each in OfficerQuestion}
        failures = call_failures([outcome], STAGE, SUBJECT)
    else:
        answers = by_key(outcome.value.answers, OfficerQuestion)
        columns = {
            each: {"provenance": outcome.provenance}
            | _judge(answers.get(each), material.plan, excerpts, prompt_papers, engine)
            for each in OfficerQuestion
        }
        given_count = len(outcome.value.answers)
        dropped_count = given_count - sum(
            each in answers and columns[each].get("unscored_reason") is not Reason.UNTRACED
            for each in OfficerQuestion
        )
        detail = (
            f"{dropped_count} of {given_count} answers were left out: they quote words that stand"
            " neither in the plan nor in a paper that was shown, or answer no question once"
        )
        failures = omission_failures(
            STAGE, SUBJECT, detail, dropped_count, Reason.PASSAGE_NOT_FOUND
        )
    calculation = "\n\n".join(text for _, text in needs)
    if needs:
        columns[OfficerQuestion.SAMPLE_SIZE] |= {
            "sample_needed": max(count for count, _ in needs),
            "calculation": settle(calculation, prompt_papers).markdown,
        }
    rows = tuple(
        OfficerAnswer(question=each, **({"status": None} | columns[each]))
        for each in OfficerQuestion
    )
    contradictions = (
        f"“{quotable(row.paper_quote)}” [{key_of(row.paper_id)}]"
        for row in rows
        if row.paper_id is not None
    )
    return CitedResult(
        rows,
        prompt_papers,
        whole_citations(
            [*contradictions, calculation],
            prompt_papers,
            module=STAGE,
            subject=SUBJECT,
            field="answers",
        ),
        failures=failures,
    )


def _nearest(material: OfficerMaterial) -> list[MethodEvidence]:
    """Return one row for each of the most relevant papers, with an effect where one was read."""
    retrieved_ids = {paper.paper_id for paper in material.papers}
    rows: dict[PaperId, MethodEvidence] = {}
    for row in sorted(
        material.evidence, key=lambda each: (-(each.relevance_0_to_3 or 0), each.effect is None)
    ):
        if (row.relevance_0_to_3 or 0) >= LEAST_RELEVANCE and row.paper_id in retrieved_ids:
            rows.setdefault(row.paper_id, row)
    return [*rows.values()][:PAPERS_SHOWN]


def _question(
    material: OfficerMaterial, sizes: Sequence[str], papers: tuple[OfficerPaper, ...]
) -> OfficerInput:
    efforts = Counter(each.effort for each in material.suggestions)
    unstated = [each.text for each in material.elements if each.standing is _UNSTATED]
    return OfficerInput(
        idea=material.plan,
        unstated="\n".join(
            shorten_words(" ".join(each.split()), ELEMENT_WORDS)[0]
            for each in unstated[:ELEMENTS_SHOWN]
        ),
        efforts=", ".join(f"{each} ({efforts[each]})" for each in ActionEffort if efforts[each]),
        near_works="\n".join(material.near_works.lines),
        sizes="\n".join(sizes),
        papers=papers,
    )


def _judge(
    answer: ProposedAnswer | None,
    plan: str,
    excerpts: Mapping[PaperId, str],
    prompt_papers: Shown,
    engine: Engine,
) -> dict[str, Any]:
    """Return the columns of an answer whose words were found, else of an unscored one."""
    if answer is None:
        return _unscored(Reason.REPLY_UNPARSABLE, "the reply does not answer it, or does so twice")
    if answer.status is None:
        reason = Reason.OFFLINE_ENGINE if reads_offline(engine) else Reason.NO_EVIDENCE
        return _unscored(reason, COULD_NOT_TELL)
    if answer.status is OfficerStatus.MISSING:
        return {"status": answer.status}
    least = LEAST_CHARACTERS_OF_A_PLAN
    if not stands_in(answer.quote, plan, least_characters=least):
        return _unscored(Reason.UNTRACED, "the words quoted do not stand in the plan")
    columns = {"status": answer.status, "quote": answer.quote.strip()}
    if answer.status is OfficerStatus.STATED:
        return columns
    key = KEY.search(answer.paper)
    paper = prompt_papers.paper_at(int(key["first"])) if key else None
    if paper is None or not stands_in(answer.paper_quote, excerpts.get(paper.paper_id, "")):
        return _unscored(Reason.UNTRACED, "the words quoted stand in no paper that was shown")
    return {**columns, "paper_id": paper.paper_id, "paper_quote": answer.paper_quote.strip()}


def _unscored(reason: Reason, detail: str) -> dict[str, Any]:
    return {"unscored_reason": reason, "unscored_detail": detail}


def _excerpt(numbers_quote: str, text: str) -> str:
    """Return the sentences of a paper on any of the questions."""
    matches = [
        each
        for each in sentences(text[:MOST_CHARACTERS])
        if any(signs.search(each) for signs in SIGNS.values())
    ]
    excerpt = " ".join(filter(None, dict.fromkeys((numbers_quote, *matches))))
    return shorten_words(excerpt, PAPER_WORDS)[0]


def _sizes(row: MethodEvidence, key: str) -> str:
    values = {"sample size": row.sample_size, "effect": row.effect, "spread": row.spread}
    named = (f"{name} {value:,g}" for name, value in values.items() if value is not None)
    return f"[{key}]: {', '.join(named)}"


def _sample_needed(row: MethodEvidence, key: str) -> tuple[int, str] | None:
    """Return the pairs or items that detect the effect of a paper, and a sentence."""
    if not row.effect:
        return None
    if row.spread:
        count = pairs_needed(abs(row.effect) / row.spread, 1)
        effect = f"{row.effect:,g} with a spread of {row.spread:,g}"
        return count, f"{count:,} pairs detect an effect like that of [{key}]: {effect}."
    difference = abs(row.effect) / 100
    if _PERCENTAGE_POINTS.search(row.numbers_quote) and difference <= 1 - MIDDLE_SHARE:
        # Around a half a difference of shares needs most items.
        count = items_needed(MIDDLE_SHARE, difference, 1)
        effect = f"{row.effect:,g} percentage points"
        return count, f"At most {count:,} items detect a difference like that of [{key}]: {effect}."
    return None
