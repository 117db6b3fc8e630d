"""Evaluation of an idea's novelty from 1 to 5, by its related works (RINoBench §3, §4)."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from schemas.failure import Failure, call_failures
from schemas.idea import Idea
from schemas.judgement.novelty import ClaimedContribution, NoveltyEvaluation, NoveltyJudgement
from schemas.literature.paper import Paper
from schemas.outcome import Unscored, confidence_by_evidence
from schemas.profile import NoveltyParameters
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.settle import settle
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, similarity_of
from tasks.judging.findings import Findings, SettledTexts
from tasks.judging.step import Engine, unasked_provenance
from tasks.literature.client import LiteratureClient
from tasks.novelty.closeness import COVERED, Closeness, measure
from tasks.novelty.profile_files import nearest_exemplars, read_exemplars, with_calibration
from tasks.novelty.related_works import STAGE, RelatedWorks, find_works, given_works
from tasks.novelty.steps.judge_novelty import (
    JUDGE_NOVELTY,
    ContributionReply,
    ExemplarShown,
    NoveltyInput,
    NoveltyReply,
    WorkShown,
)

SUBJECT = "judge_novelty"


def _contribution(entry: ContributionReply, prompt_papers: Shown) -> ClaimedContribution:
    """Return a contribution; an unknown closest work is removed with its comparison."""
    papers = {key.casefold(): paper.paper_id for key, paper in prompt_papers}
    closest = papers.get(entry.closest.casefold()) if entry.closest is not None else None
    is_comparable = entry.closest is None or closest is not None
    return ClaimedContribution(
        contribution=entry.contribution,
        paper_id=closest,
        overlap=entry.overlap if is_comparable else None,
        difference=entry.difference if is_comparable else None,
    )


NEIGHBOURS = 5
"""Related works whose mean similarity counts as the density around an idea."""


async def evaluate_novelty(
    idea: Idea,
    parameters: NoveltyParameters,
    engine: Engine,
    literature: LiteratureClient | None,
    embedder: Embedder,
    related_works: Sequence[Paper] | None = None,
) -> Findings[NoveltyEvaluation]:
    """Judge the novelty of `idea`; failures of sources and engine are part of the result.

    Args:
        literature: searched if no related works are given.
        related_works: given with the idea; None: search for them. Works after the idea's cutoff
            are excluded.

    Raises:
        ConfigurationError: the profile names exemplars or a calibrator that cannot be read, or a
            calibrator fitted on other judgements.
    """
    if related_works is not None:
        selection = await given_works(idea, related_works, parameters, embedder)
    else:
        assert literature is not None, "without related works the literature is asked for them"
        selection = await find_works(idea, parameters, engine, literature, embedder)
    if selection.missing is not None:
        missing = Unscored(*selection.missing, unasked_provenance(JUDGE_NOVELTY, engine))
        return _findings(
            _unscored(missing, unanswered_search_count=selection.unanswered), selection
        )
    prompt_papers = show(selection.works)
    exemplars = (
        await nearest_exemplars(idea.text, read_exemplars(parameters.exemplars), embedder)
        if parameters.exemplars is not None
        else ()
    )
    question = _question(idea, prompt_papers, selection, parameters, exemplars)
    outcome = await engine.run(JUDGE_NOVELTY, question)
    closeness = await measure(
        idea.text, [(paper.title, paper.abstract or "") for paper in prompt_papers.papers], embedder
    )
    measurements = {
        **_measurements(prompt_papers, selection, closeness),
        "neighbour_density_0_to_1": await _density(idea, prompt_papers, embedder),
        "exemplar_count": len(exemplars),
    }
    if isinstance(outcome, Unscored):
        judgement = _unscored(outcome, **measurements)
        failures = call_failures([outcome], STAGE, JUDGE_NOVELTY.name)
        return _findings(judgement, selection, failures)
    contributions = tuple(_contribution(one, prompt_papers) for one in outcome.value.contributions)
    texts = _settle_reply(outcome.value, prompt_papers)
    judgement = NoveltyJudgement(
        score_1_to_5=outcome.value.score,
        probabilities_percent={
            str(score): one
            for score, one in enumerate(outcome.value.probabilities.percent, start=1)
        },
        confidence_0_to_3=_confidence(prompt_papers, selection, closeness),
        justification=texts["justification"],
        known_aspects=_lines(texts["known_aspects"]),
        novel_aspects=_lines(texts["novel_aspects"]),
        removed_citation_count=texts.removed_citation_count
        + sum(
            entry.closest is not None and one.paper_id is None
            for entry, one in zip(outcome.value.contributions, contributions, strict=True)
        ),
        uncited_sentence_count=texts.by_field["justification"].uncited_sentence_count,
        provenance=outcome.provenance,
        **measurements,
    )
    novelty = NoveltyEvaluation(
        judgement=judgement, contributions=contributions, failures=selection.failures
    )
    evaluation = with_calibration(novelty, idea, parameters.calibrator, engine.name)
    citations = texts.citations(module=STAGE, subject=SUBJECT)
    return Findings(evaluation, selection.retrieved, citations)


def _settle_reply(reply: NoveltyReply, prompt_papers: Shown) -> SettledTexts:
    """Settle the texts of a reply, with one aspect per line."""
    texts = {
        "justification": reply.justification,
        "known_aspects": "\n".join(" ".join(one.split()) for one in reply.known_aspects),
        "novel_aspects": "\n".join(" ".join(one.split()) for one in reply.novel_aspects),
    }
    return SettledTexts(
        {name: settle(text, prompt_papers) for name, text in texts.items()}, prompt_papers
    )


def _lines(markdown: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in markdown.splitlines() if line.strip())


def _question(
    idea: Idea,
    prompt_papers: Shown,
    related: RelatedWorks,
    parameters: NoveltyParameters,
    exemplars: tuple[ExemplarShown, ...],
) -> NoveltyInput:
    return NoveltyInput(
        idea=idea.text,
        works=tuple(
            WorkShown(key=key, title=paper.title, year=paper.year, abstract=paper.abstract or "")
            for key, paper in prompt_papers
        ),
        exemplars=exemplars,
        unanswered_searches=related.unanswered,
        words_per_text=parameters.words_per_text,
    )


def _measurements(
    prompt_papers: Shown, related: RelatedWorks, closeness: Closeness | None
) -> dict[str, Any]:
    return {
        "related_paper_ids": tuple(paper.paper_id for paper in prompt_papers.papers),
        "statement_count": len(closeness.statements) if closeness else None,
        "covered_share_0_to_1": round(closeness.covered_share, 4) if closeness else None,
        "mean_closeness_0_to_1": round(closeness.mean, 4) if closeness else None,
        "greatest_closeness_0_to_1": max(closeness.values) if closeness else None,
        "unanswered_search_count": related.unanswered,
    }


async def _density(idea: Idea, prompt_papers: Shown, embedder: Embedder) -> float:
    similarities = await similarity_of(prompt_papers.papers, Nearness(idea.text, embedder))
    return round(fmean(sorted(similarities.values(), reverse=True)[:NEIGHBOURS]), 4)


def _confidence(prompt_papers: Shown, related: RelatedWorks, closeness: Closeness | None) -> int:
    """Return the confidence by the number of close works; other works count half."""
    place_values = zip(closeness.places, closeness.values, strict=True) if closeness else ()
    strong = len({place for place, value in place_values if value >= COVERED})
    confidence = confidence_by_evidence(strong=strong, fair=(len(prompt_papers) - strong) // 2)
    return max(confidence - bool(related.unanswered), 0)


def field_not_covered(engine: Engine) -> Findings[NoveltyEvaluation]:
    """Return the unscored judgement of an idea whose field the literature does not cover."""
    reason = Reason.FIELD_NOT_COVERED
    missing = Unscored(reason, reason.sentence, unasked_provenance(JUDGE_NOVELTY, engine))
    return Findings(NoveltyEvaluation(judgement=_unscored(missing), failures=()))


def _unscored(why: Unscored, **measurements: Any) -> NoveltyJudgement:
    return NoveltyJudgement(
        score_1_to_5=None,
        unscored_reason=why.reason,
        unscored_detail=why.detail,
        provenance=why.provenance,
        **measurements,
    )


def _findings(
    judgement: NoveltyJudgement,
    related: RelatedWorks,
    failures: tuple[Failure, ...] = (),
) -> Findings[NoveltyEvaluation]:
    evaluation = NoveltyEvaluation(judgement=judgement, failures=(*related.failures, *failures))
    return Findings(evaluation, related.retrieved)
