"""One question from end to end: plan, expansion, clusters, quotes,
and a review or an answer.
"""

from collections.abc import Mapping, Sequence
from datetime import date

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import Unscored
from schemas.paper import Paper
from schemas.reasons import Reason
from schemas.survey import (
    Survey,
    SurveyCluster,
    SurveyPaper,
    SurveyParameters,
    SurveyQuote,
    heaviest,
)
from schemas.survey_review import Written
from schemas.survey_run import SurveyQuestion
from tasks.accounting.ledger import Ledger
from tasks.documents.sections import DocumentLibrary
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, paper_text
from tasks.judging.step import Engine
from tasks.judging.verifying import verifies
from tasks.literature.client import LiteratureClient
from tasks.survey.answering import write_answer
from tasks.survey.asking import plan_queries, relevance_to
from tasks.survey.clustering import clustered, in_clusters
from tasks.survey.expanding import STAGE, expand
from tasks.survey.joining import joins_of
from tasks.survey.quoting import quotes_of
from tasks.survey.reading import read_works
from tasks.survey.writing import Material, Review, write_review


async def survey(
    asked: SurveyQuestion,
    parameters: SurveyParameters,
    cutoff: date | None,
    *,
    engine: Engine,
    literature: LiteratureClient,
    embedder: Embedder,
    ledger: Ledger,
    documents: DocumentLibrary,
) -> Survey:
    """Survey one question; an engine that can write reads the heaviest works and reviews them, or
    answers from them. For an answer any engine reads.

    A question that names nothing, and one of which no search was answered, have a reason instead of
    papers; a field in which nothing is relevant is a survey of no paper.
    """
    planned = await plan_queries(asked.question, parameters, engine)
    if isinstance(planned, Unscored):
        return unsurveyed(asked, cutoff, planned.reason, planned.detail, ledger)
    judge = relevance_to(asked.question, parameters, engine)
    expansion = await expand(asked.question, planned.value, parameters, literature, judge, cutoff)
    if all(query.found_count is None for query in expansion.queries):
        reasons = [failure.reason for failure in expansion.failures]
        spent = Reason.BUDGET_EXHAUSTED in reasons
        reason = Reason.BUDGET_EXHAUSTED if spent else Reason.SOURCE_UNAVAILABLE
        detail = f"none of {len(expansion.queries)} searches was answered"
        return unsurveyed(asked, cutoff, reason, detail, ledger, expansion.failures)
    texts = {text.paper_id: text for text in expansion.texts}
    clusters, cluster_of = await clustered(expansion.kept, texts, expansion.links, embedder)
    papers = in_clusters(expansion.papers, cluster_of)
    kept = [texts[paper.paper_id] for paper in expansion.kept]
    answers = parameters.written is Written.ANSWER
    leading = kept if verifies(engine) else []
    if answers:
        leading = await _nearest(asked.question, expansion.kept, texts, embedder)
    leading = leading[: parameters.papers_read]
    read = await read_works(asked.question, leading, parameters, engine, documents)
    material = Material(
        question=asked.question,
        sub_questions=tuple(dict.fromkeys(query.sub_question for query in planned.value)),
        papers=tuple(paper for paper in leading if paper.paper_id in read.texts),
        clusters=clusters,
        cluster_of=cluster_of,
        read=read,
        links=expansion.links,
        joins=joins_of([paper.paper_id for paper in kept], expansion.links),
    )
    review = Review(clusters)
    if material.papers and verifies(engine):
        write = write_answer if answers else write_review
        review = await write(material, parameters, engine)
    return Survey(
        question_id=asked.question_id,
        question=asked.question,
        cutoff_date=cutoff,
        end=expansion.end,
        judged_count=len(papers),
        kept_count=len(heaviest(papers)),
        queries=expansion.queries,
        layers=expansion.layers,
        papers=papers,
        texts=expansion.texts,
        clusters=review.clusters,
        quotes=_quotes(material, texts),
        read_count=len(read.texts),
        full_text_count=len(read.full_text),
        sections=review.sections,
        removed=review.removed,
        joins=material.joins,
        links=expansion.links,
        failures=(*expansion.failures, *read.failures, *review.failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        provenance=planned.provenance,
    )


async def _nearest(
    question: str, kept: Sequence[SurveyPaper], texts: Mapping[PaperId, Paper], embedder: Embedder
) -> list[Paper]:
    """The most relevant first; among those alike, the nearest to the question.

    For an answer it does not count, as it does for a survey, how well known a paper is.
    """
    papers = [texts[paper.paper_id] for paper in kept]
    told = [paper_text(paper.title, paper.abstract) for paper in papers]
    nearness = await Nearness(question, embedder).of(told)
    order = sorted(
        range(len(kept)),
        key=lambda place: (-(kept[place].relevance_0_to_5 or 0), -nearness[place]),
    )
    return [papers[place] for place in order]


def unsurveyed(
    asked: SurveyQuestion,
    cutoff: date | None,
    reason: Reason,
    detail: str,
    ledger: Ledger,
    failures: Sequence[Failure] = (),
) -> Survey:
    """A question that could not be followed, and why."""
    own = Failure(stage=STAGE, subject=asked.question_id, reason=reason, detail=detail)
    return Survey(
        question_id=asked.question_id,
        question=asked.question,
        cutoff_date=cutoff,
        end=None,
        judged_count=0,
        kept_count=None,
        unscored_reason=reason,
        unscored_detail=detail,
        failures=(own, *failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


def _quotes(material: Material, texts: Mapping[PaperId, Paper]) -> tuple[SurveyQuote, ...]:
    """What was read; and of key papers what others say, and a sentence of those that were not."""
    found = quotes_of(material.question, _key_papers(material.clusters), texts, material.links)
    read = {quote.paper_id for quote in material.read.quotes}
    more = [quote for quote in found if quote.section is None or quote.paper_id not in read]
    return (*material.read.quotes, *more)


def _key_papers(clusters: Sequence[SurveyCluster]) -> list[PaperId]:
    return [PaperId(paper_id) for cluster in clusters for paper_id in cluster.key_paper_ids]
