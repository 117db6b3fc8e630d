"""Evaluation of an idea's novelty from 1 to 5, by its related works (RINoBench §3, §4)."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from schemas.base import replace
from schemas.failure import call_failures
from schemas.idea import Idea
from schemas.judgement.novelty import ClaimedContribution, NoveltyEvaluation, NoveltyJudgement
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper
from schemas.outcome import Scored, Unscored, confidence_by_evidence
from schemas.profile import NoveltyParameters
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.settle import settle
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, similarity_of
from tasks.judging.findings import Findings, SettledTexts
from tasks.judging.step import Engine, unasked_provenance
from tasks.literature.client import LiteratureClient
from tasks.novelty.closeness import COVERED, measure
from tasks.novelty.profile_files import nearest_exemplars, read_exemplars, with_calibration
from tasks.novelty.related_works import STAGE, find_works, given_works
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY, NoveltyInput, NoveltyReply, WorkShown

SUBJECT = "judge_novelty"
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
    """Judge the novelty of `idea`.

    Failures of sources and engine are part of the result.

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
    measurements: dict[str, Any] = {"unanswered_search_count": selection.unanswered}
    if selection.missing is not None:
        missing = Unscored(*selection.missing, unasked_provenance(JUDGE_NOVELTY, engine))
        judgement = _unscored(missing, **measurements)
        evaluation = NoveltyEvaluation(judgement=judgement, failures=selection.failures)
        return Findings(evaluation, selection.retrieved)
    prompt_papers = show(selection.works)
    works = tuple(
        WorkShown(key=key, title=paper.title, year=paper.year, abstract=paper.abstract or "")
        for key, paper in prompt_papers
    )
    exemplars = (
        await nearest_exemplars(idea.text, read_exemplars(parameters.exemplars), embedder)
        if parameters.exemplars is not None
        else ()
    )
    question = NoveltyInput(
        idea=idea.text,
        works=works,
        exemplars=exemplars,
        unanswered_searches=selection.unanswered,
        words_per_text=parameters.words_per_text,
    )
    outcome = await engine.run(JUDGE_NOVELTY, question)
    closeness = await measure(idea.text, [(work.title, work.abstract) for work in works], embedder)
    nearness = await similarity_of(prompt_papers.papers, Nearness(idea.text, embedder))
    measurements |= {
        "related_paper_ids": tuple(paper.paper_id for paper in prompt_papers.papers),
        "statement_count": len(closeness.statements) if closeness else None,
        "covered_share_0_to_1": round(closeness.covered_share, 4) if closeness else None,
        "mean_closeness_0_to_1": round(closeness.mean, 4) if closeness else None,
        "greatest_closeness_0_to_1": max(closeness.values) if closeness else None,
        "neighbour_density_0_to_1": round(
            fmean(sorted(nearness.values(), reverse=True)[:NEIGHBOURS]), 4
        ),
        "exemplar_count": len(exemplars),
    }
    if isinstance(outcome, Unscored):
        failures = (*selection.failures, *call_failures([outcome], STAGE, JUDGE_NOVELTY.name))
        judgement = _unscored(outcome, **measurements)
        evaluation = NoveltyEvaluation(judgement=judgement, failures=failures)
        return Findings(evaluation, selection.retrieved)
    # Close works are strong evidence, others count half.
    values = zip(closeness.places, closeness.values, strict=True) if closeness else ()
    strong_count = len({place for place, value in values if value >= COVERED})
    confidence = confidence_by_evidence(
        strong=strong_count, fair=(len(prompt_papers) - strong_count) // 2
    )
    confidence = max(confidence - bool(selection.unanswered), 0)
    novelty, citations = _settle_reply(
        outcome, prompt_papers, confidence_0_to_3=confidence, **measurements
    )
    novelty = replace(novelty, failures=selection.failures)
    evaluation = with_calibration(novelty, idea, parameters.calibrator, engine.name)
    return Findings(evaluation, selection.retrieved, citations)


def _settle_reply(
    outcome: Scored[NoveltyReply], prompt_papers: Shown, **measurements: Any
) -> tuple[NoveltyEvaluation, tuple[Citation, ...]]:
    """Settle the citations of a reply; unknown keys are removed and counted."""
    reply = outcome.value
    # An unknown closest work is removed with its comparison, and counted.
    papers = {key.casefold(): paper.paper_id for key, paper in prompt_papers}
    closest_ids = [papers.get((entry.closest or "").casefold()) for entry in reply.contributions]
    invention_flags = [
        entry.closest is not None and paper_id is None
        for entry, paper_id in zip(reply.contributions, closest_ids, strict=True)
    ]
    contributions = tuple(
        ClaimedContribution(
            contribution=entry.contribution,
            paper_id=paper_id,
            overlap=None if is_invented else entry.overlap,
            difference=None if is_invented else entry.difference,
        )
        for entry, paper_id, is_invented in zip(
            reply.contributions, closest_ids, invention_flags, strict=True
        )
    )
    aspects = {"known_aspects": reply.known_aspects, "novel_aspects": reply.novel_aspects}
    raw_texts = {"justification": reply.justification} | {
        name: "\n".join(" ".join(one.split()) for one in lines) for name, lines in aspects.items()
    }
    settled_texts = {name: settle(text, prompt_papers) for name, text in raw_texts.items()}
    texts = SettledTexts(settled_texts, prompt_papers)
    percent = enumerate(reply.probabilities.percent, start=1)
    judgement = NoveltyJudgement(
        score_1_to_5=reply.score,
        probabilities_percent={str(score): one for score, one in percent},
        justification=texts["justification"],
        known_aspects=_lines(texts["known_aspects"]),
        novel_aspects=_lines(texts["novel_aspects"]),
        removed_citation_count=texts.removed_citation_count + sum(invention_flags),
        uncited_sentence_count=settled_texts["justification"].uncited_sentence_count,
        provenance=outcome.provenance,
        **measurements,
    )
    evaluation = NoveltyEvaluation(judgement=judgement, contributions=contributions, failures=())
    return evaluation, texts.citations(module=STAGE, subject=SUBJECT)


def _lines(markdown: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in markdown.splitlines() if line.strip())


def _unscored(unscored: Unscored, **measurements: Any) -> NoveltyJudgement:
    return NoveltyJudgement(score_1_to_5=None, **unscored.columns, **measurements)


def field_not_covered(engine: Engine) -> Findings[NoveltyEvaluation]:
    """Return the unscored judgement of an idea whose field the literature does not cover."""
    reason = Reason.FIELD_NOT_COVERED
    missing = Unscored(reason, reason.sentence, unasked_provenance(JUDGE_NOVELTY, engine))
    return Findings(NoveltyEvaluation(judgement=_unscored(missing), failures=()))
