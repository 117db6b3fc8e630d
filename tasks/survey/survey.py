"""Execution of one survey question: plan, expansion, clusters, quotes, and a review or answer."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import (
    Survey,
    SurveyCluster,
    SurveyPaper,
    SurveyParameters,
    SurveyQuery,
    heaviest,
)
from schemas.literature.survey_review import ReviewPart, Written
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from schemas.works.survey_run import SurveyQuestion
from tasks.accounting.ledger import Ledger
from tasks.citations.keys import Shown, show
from tasks.documents.document import DocumentLibrary
from tasks.embeddings import Embedder
from tasks.embeddings.clusters import clusters_by_count
from tasks.embeddings.similarity import Nearness, paper_text
from tasks.judging.relevance import Judgements, judge_papers, shown_papers
from tasks.judging.step import Engine
from tasks.judging.verifying import verifies
from tasks.languages.language import language_of
from tasks.languages.translate import translate
from tasks.literature.client import LiteratureClient
from tasks.survey.checking import check_drafts, draft
from tasks.survey.expanding import STAGE, Judge, expand
from tasks.survey.reading import joins_of, quotes_of, read_works
from tasks.survey.steps import (
    SURVEY_ANSWER,
    SURVEY_PLAN,
    SURVEY_RELEVANCE,
    AnswerInput,
    PlanInput,
    SurveyRelevanceInput,
    SurveyRelevanceReply,
)
from tasks.survey.writing import Material, Review, bullet_list, write_review
from tasks.text.words import content_words, key_phrases


async def plan_queries(
    question: str, parameters: SurveyParameters, engine: Engine
) -> Outcome[tuple[SurveyQuery, ...]]:
    """Plan distinct searches; Unscored if the question names nothing to search for."""
    outcome = await engine.run(
        SURVEY_PLAN,
        PlanInput(
            question=question,
            maximum_sub_questions=parameters.maximum_sub_questions,
            maximum_queries=parameters.queries_per_sub_question,
        ),
    )
    if isinstance(outcome, Unscored):
        return outcome
    sub_question_of: dict[str, str] = {}
    for part in outcome.value.sub_questions[: parameters.maximum_sub_questions]:
        for query in part.queries[: parameters.queries_per_sub_question]:
            sub_question_of.setdefault(" ".join(query.split()), part.sub_question)
    if not sub_question_of:
        detail = "the question asks about nothing that literature could answer"
        return Unscored(Reason.NOTHING_TO_JUDGE, detail, outcome.provenance)
    queries = (
        SurveyQuery(query_id=f"q{number}", sub_question=sub_question, query=query)
        for number, (query, sub_question) in enumerate(sub_question_of.items(), start=1)
    )
    return Scored(tuple(queries), outcome.provenance)


def relevance_to(question: str, parameters: SurveyParameters, engine: Engine) -> Judge:
    """Return a judge of whether a survey of the question would discuss a paper."""

    async def ask(batch: Shown) -> Outcome[SurveyRelevanceReply]:
        return await engine.run(
            SURVEY_RELEVANCE,
            SurveyRelevanceInput(question=question, papers=shown_papers(batch)),
        )

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return await judge_papers(
            papers,
            parameters.papers_per_call,
            ask,
            stage=STAGE,
            subject=f"{SURVEY_RELEVANCE.name} of papers",
        )

    return judge


ANSWER_HEADING = "Answer"
NOT_FOUND_HEADING = "Not in what was found"


async def write_answer(material: Material, parameters: SurveyParameters, engine: Engine) -> Review:
    """Write and check an answer; parts of the question without one are listed as questions.

    If nothing of the answer passes the checks, the whole question counts as not found.
    """
    prompt_papers = show(material.papers)
    inputs = AnswerInput(
        question=material.question,
        papers=tuple(material.work(prompt_papers, paper) for paper in prompt_papers.papers),
        words=parameters.words_per_answer,
    )
    outcome = await engine.run(SURVEY_ANSWER, inputs)
    reply = None if isinstance(outcome, Unscored) else outcome.value
    answer = None if reply is None else reply.answer
    parts = [draft(ReviewPart.ANSWER, ANSWER_HEADING, outcome, answer, prompt_papers)]
    if reply is not None and reply.not_found:
        text = bullet_list(reply.not_found)
        parts.append(draft(ReviewPart.NOT_FOUND, NOT_FOUND_HEADING, outcome, text, prompt_papers))
    numbers = range(1, len(parts) + 1)
    checked_parts = await check_drafts(parts, material.stored, engine, numbers=numbers)
    return Review(
        material.clusters, checked_parts.sections, checked_parts.removed, checked_parts.failures
    )


async def survey(
    unit: SurveyQuestion,
    parameters: SurveyParameters,
    cutoff: date | None,
    *,
    engine: Engine,
    literature: LiteratureClient,
    embedder: Embedder,
    ledger: Ledger,
    documents: DocumentLibrary,
) -> Survey:
    """Survey one question.

    Engines that write also read the heaviest works and review them or answer from them; for an
    answer, any engine reads. A question that names nothing, or without an answered search, has a
    reason instead of papers. A field without relevant papers gives a survey with no paper.
    """
    question, translation = unit.question, None
    if (language := language_of(question)) is not None:
        outcome = await translate(question, language, engine)
        if isinstance(outcome, Unscored):
            return failed_survey(unit, cutoff, outcome.reason, outcome.detail, ledger)
        question = translation = " ".join(outcome.value.text.split())
    plan = await plan_queries(question, parameters, engine)
    if isinstance(plan, Unscored):
        return failed_survey(unit, cutoff, plan.reason, plan.detail, ledger)
    judge = relevance_to(question, parameters, engine)
    expansion = await expand(question, plan.value, parameters, literature, judge, cutoff)
    if all(query.found_count is None for query in expansion.queries):
        reasons = {failure.reason for failure in expansion.failures}
        over_budget = Reason.BUDGET_EXHAUSTED in reasons
        reason = Reason.BUDGET_EXHAUSTED if over_budget else Reason.SOURCE_UNAVAILABLE
        detail = f"none of {len(expansion.queries)} searches was answered"
        return failed_survey(unit, cutoff, reason, detail, ledger, expansion.failures)
    texts = {paper.paper_id: paper.text for paper in expansion.papers}
    clusters, cluster_of = await cluster_papers(expansion.kept, texts, expansion.links, embedder)
    papers = tuple(
        replace(paper, cluster_id=cluster_of.get(paper.paper_id)) if paper.kept else paper
        for paper in expansion.papers
    )
    papers_to_read: list[Paper] = []  # works to read: none if the engine cannot write a review
    if parameters.written is Written.ANSWER:
        papers_to_read = await _nearest(question, expansion.kept, embedder)
    elif verifies(engine):
        papers_to_read = [paper.text for paper in expansion.kept]
    papers_to_read = papers_to_read[: parameters.papers_read]
    readings = await read_works(question, papers_to_read, parameters, engine, documents)
    material = Material(
        question=question,
        sub_questions=tuple(dict.fromkeys(query.sub_question for query in plan.value)),
        papers=tuple(paper for paper in papers_to_read if paper.paper_id in readings.texts),
        clusters=clusters,
        cluster_of=cluster_of,
        read=readings,
        links=expansion.links,
        joins=joins_of([paper.paper_id for paper in expansion.kept], expansion.links),
    )
    review = Review(clusters)
    if material.papers and verifies(engine):
        write = write_answer if parameters.written is Written.ANSWER else write_review
        review = await write(material, parameters, engine)
    # Passages read, passages by others on key papers, and abstracts of works that were not read.
    key_ids = [PaperId(name) for cluster in clusters for name in cluster.key_paper_ids]
    read_ids = {quote.paper_id for quote in readings.quotes}
    more_quotes = [
        quote
        for quote in quotes_of(question, key_ids, texts, expansion.links)
        if quote.section is None or quote.paper_id not in read_ids
    ]
    return Survey(
        question_id=unit.question_id,
        question=unit.question,
        translation=translation,
        cutoff_date=cutoff,
        end=expansion.end,
        judged_count=len(papers),
        kept_count=len(heaviest(papers)),
        queries=expansion.queries,
        layers=expansion.layers,
        papers=papers,
        clusters=review.clusters,
        quotes=(*readings.quotes, *more_quotes),
        read_count=len(readings.texts),
        full_text_count=len(readings.full_text),
        sections=review.sections,
        removed=review.removed,
        joins=material.joins,
        links=expansion.links,
        failures=(*expansion.failures, *readings.failures, *review.failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        provenance=plan.provenance,
    )


async def _nearest(
    question: str, kept_papers: Sequence[SurveyPaper], embedder: Embedder
) -> list[Paper]:
    """Order papers by relevance, then by closeness to the question.

    For an answer, unlike for a survey, citations and age do not count.
    """
    papers = [paper.text for paper in kept_papers]
    texts_to_embed = [paper_text(paper.title, paper.abstract) for paper in papers]
    nearness = await Nearness(question, embedder).of(texts_to_embed)
    order = sorted(
        range(len(kept_papers)),
        key=lambda place: (-(kept_papers[place].relevance_0_to_5 or 0), -nearness[place]),
    )
    return [papers[place] for place in order]


def failed_survey(
    question: SurveyQuestion,
    cutoff: date | None,
    reason: Reason,
    detail: str,
    ledger: Ledger,
    failures: Sequence[Failure] = (),
) -> Survey:
    failure = Failure(stage=STAGE, subject=question.question_id, reason=reason, detail=detail)
    return Survey(
        question_id=question.question_id,
        question=question.question,
        cutoff_date=cutoff,
        end=None,
        judged_count=0,
        kept_count=None,
        unscored_reason=reason,
        unscored_detail=detail,
        failures=(failure, *failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


MOST_CLUSTERS = 8
PAPERS_PER_CLUSTER = 8
"""Average in a survey with few papers."""
LINK_NEARNESS = 0.25
"""Added to the similarity of two papers if one cites the other."""
KEY_PAPERS = 3
NAME_PHRASES = 2
PHRASES_PER_TITLE = 4


async def cluster_papers(
    papers: Sequence[SurveyPaper],
    texts: Mapping[PaperId, Paper],
    links: Sequence[CitationEdge],
    embedder: Embedder,
) -> tuple[tuple[SurveyCluster, ...], dict[PaperId, str]]:
    """Return clusters, largest first, and the cluster id of each paper.

    Args:
        papers: in descending order of weight.
    """
    if not papers:
        return (), {}
    names = [paper.paper_id for paper in papers]
    vectors = await embedder.embed(
        [paper_text(texts[name].title, texts[name].abstract) for name in names]
    )
    members: dict[int, list[PaperId]] = defaultdict(list)
    for name, label in zip(names, _labels(_nearness(vectors, names, links)), strict=True):
        members[label].append(name)
    ordered_groups = sorted(
        members.values(), key=lambda group: (-len(group), names.index(group[0]))
    )
    titles = [[texts[name].title for name in group] for group in ordered_groups]
    clusters: list[SurveyCluster] = []
    cluster_of: dict[PaperId, str] = {}
    for number, group in enumerate(ordered_groups, start=1):
        cluster_of |= dict.fromkeys(group, f"c{number}")
        years = [year for name in group if (year := texts[name].year) is not None]
        clusters.append(
            SurveyCluster(
                cluster_id=f"c{number}",
                name=_name(titles[number - 1], titles),
                paper_count=len(group),
                first_year=min(years, default=None),
                last_year=max(years, default=None),
                key_paper_ids=tuple(group[:KEY_PAPERS]),
            )
        )
    return tuple(clusters), cluster_of


def _nearness(
    vectors: NDArray[np.float32], names: Sequence[PaperId], links: Sequence[CitationEdge]
) -> NDArray[np.float64]:
    place = {name: number for number, name in enumerate(names)}
    nearness = np.asarray(vectors @ vectors.T, dtype=np.float64)
    for link in links:
        one, other = place.get(link.citing_paper_id), place.get(link.cited_paper_id)
        if one is not None and other is not None:
            nearness[one, other] += LINK_NEARNESS
            nearness[other, one] += LINK_NEARNESS
    return nearness.round(6)


def _labels(nearness: NDArray[np.float64]) -> list[int]:
    count = min(MOST_CLUSTERS, math.ceil(len(nearness) / PAPERS_PER_CLUSTER))
    # Papers on one question are all close to each other. Centered profiles show to which papers
    # each is closer than usual; with raw distances all but a few outliers form one cluster.
    profiles = nearness - nearness.mean(axis=1, keepdims=True)
    return clusters_by_count(profiles, count, "ward", "euclidean")


def _name(titles: Sequence[str], all_titles: Sequence[Sequence[str]]) -> str:
    """Choose phrases that many titles of the cluster share and few titles of others contain."""
    stems_of_cluster = [set(content_words(title)) for title in titles]
    stems_of_all = [set(content_words(title)) for others in all_titles for title in others]
    phrases = Counter(
        phrase
        for title in titles
        for phrase in dict.fromkeys(key_phrases(title, PHRASES_PER_TITLE))
    )

    def worth(phrase: str) -> float:
        stems = set(content_words(phrase))
        in_cluster = sum(stems <= each for each in stems_of_cluster)
        in_all = sum(stems <= each for each in stems_of_all)
        return in_cluster * in_cluster / in_all * math.sqrt(len(stems)) if stems and in_all else 0.0

    best_phrases: list[str] = []
    named_stems: set[str] = set()
    for phrase in sorted(phrases, key=lambda phrase: (-worth(phrase), phrase)):
        stems = set(content_words(phrase))
        if len(best_phrases) < NAME_PHRASES and not stems & named_stems:
            best_phrases.append(phrase)
            named_stems |= stems
    return ", ".join(best_phrases) or titles[0]
