"""One question from end to end: plan, expansion, clusters, quotes, and a review or an answer, which
says which parts of the question nothing answers.
"""

from collections.abc import Mapping, Sequence
from datetime import date

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.survey import (
    Expansion,
    Survey,
    SurveyCluster,
    SurveyPaper,
    SurveyParameters,
    SurveyQuery,
    SurveyQuote,
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
from tasks.embeddings.similarity import Nearness, paper_text
from tasks.judging.relevance import Judgements, judge_papers, shown_papers
from tasks.judging.step import Engine
from tasks.judging.verifying import verifies
from tasks.literature.client import LiteratureClient
from tasks.survey.checking import check_drafts, draft
from tasks.survey.clustering import clustered, in_clusters
from tasks.survey.expanding import STAGE, Judge, expand
from tasks.survey.reading import Read, joins_of, quotes_of, read_works
from tasks.survey.steps import (
    SURVEY_ANSWER,
    SURVEY_PLAN,
    SURVEY_RELEVANCE,
    AnswerInput,
    PlanInput,
    SurveyRelevanceInput,
    SurveyRelevanceReply,
)
from tasks.survey.writing import Material, Review, failed_drafts, listed, write_review


async def plan_queries(
    question: str, parameters: SurveyParameters, engine: Engine
) -> Outcome[tuple[SurveyQuery, ...]]:
    """The searches of a question, each once; a question that names nothing has a reason instead."""
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
    asked: dict[str, str] = {}
    for planned in outcome.value.sub_questions[: parameters.maximum_sub_questions]:
        for query in planned.queries[: parameters.queries_per_sub_question]:
            asked.setdefault(" ".join(query.split()), planned.sub_question)
    if not asked:
        detail = "the question asks about nothing that literature could answer"
        return Unscored(Reason.NOTHING_TO_JUDGE, detail, outcome.provenance)
    queries = (
        SurveyQuery(query_id=f"q{number}", sub_question=sub_question, query=query)
        for number, (query, sub_question) in enumerate(asked.items(), start=1)
    )
    return Scored(tuple(queries), outcome.provenance)


def relevance_to(question: str, parameters: SurveyParameters, engine: Engine) -> Judge:
    """Judges papers by whether a survey of the question would discuss them."""

    async def asked(batch: Shown) -> Outcome[SurveyRelevanceReply]:
        return await engine.run(
            SURVEY_RELEVANCE,
            SurveyRelevanceInput(question=question, papers=shown_papers(batch)),
        )

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return await judge_papers(
            papers,
            parameters.papers_per_call,
            asked,
            stage=STAGE,
            subject=f"{SURVEY_RELEVANCE.name} of papers",
        )

    return judge


ANSWER_HEADING = "Answer"
NOT_FOUND_HEADING = "Not in what was found"


async def write_answer(material: Material, parameters: SurveyParameters, engine: Engine) -> Review:
    """The answer as it was checked; parts of the question without one stand as questions.

    Of an answer of which nothing is left the whole question is not found.
    """
    shown = show(material.papers)
    question = AnswerInput(
        question=material.question,
        papers=tuple(material.work(shown, paper) for paper in shown.papers),
        words=parameters.words_per_answer,
    )
    outcome = await engine.run(SURVEY_ANSWER, question)
    if isinstance(outcome, Unscored):
        lost = draft(ReviewPart.ANSWER, ANSWER_HEADING, outcome, None, shown)
        checked = await check_drafts([lost], material.stored, engine, numbers=[1])
        return Review(material.clusters, checked.sections, failures=failed_drafts([lost]))
    parts = [draft(ReviewPart.ANSWER, ANSWER_HEADING, outcome, outcome.value.answer, shown)]
    if outcome.value.not_found:
        text = listed(outcome.value.not_found)
        parts.append(draft(ReviewPart.NOT_FOUND, NOT_FOUND_HEADING, outcome, text, shown))
    checked = await check_drafts(parts, material.stored, engine, numbers=range(1, len(parts) + 1))
    return Review(material.clusters, checked.sections, checked.removed, checked.failures)


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
    question = asked.question
    planned = await plan_queries(question, parameters, engine)
    if isinstance(planned, Unscored):
        return unsurveyed(asked, cutoff, planned.reason, planned.detail, ledger)
    judge = relevance_to(question, parameters, engine)
    expansion = await expand(question, planned.value, parameters, literature, judge, cutoff)
    if all(query.found_count is None for query in expansion.queries):
        return _unsearched(asked, cutoff, expansion, ledger)
    texts = {paper.paper_id: paper.text for paper in expansion.papers}
    clusters, cluster_of = await clustered(expansion.kept, texts, expansion.links, embedder)
    papers = in_clusters(expansion.papers, cluster_of)
    leading = await _leading(question, expansion.kept, texts, parameters, engine, embedder)
    read = await read_works(question, leading, parameters, engine, documents)
    asked_of = dict.fromkeys(query.sub_question for query in planned.value)
    material = _material(question, tuple(asked_of), expansion, clusters, cluster_of, leading, read)
    review = await _written(material, parameters, engine)
    return Survey(
        question_id=asked.question_id,
        question=question,
        cutoff_date=cutoff,
        end=expansion.end,
        judged_count=len(papers),
        kept_count=len(heaviest(papers)),
        queries=expansion.queries,
        layers=expansion.layers,
        papers=papers,
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


def _material(
    question: str,
    sub_questions: tuple[str, ...],
    expansion: Expansion,
    clusters: tuple[SurveyCluster, ...],
    cluster_of: Mapping[PaperId, str],
    leading: Sequence[Paper],
    read: Read,
) -> Material:
    return Material(
        question=question,
        sub_questions=sub_questions,
        papers=tuple(paper for paper in leading if paper.paper_id in read.texts),
        clusters=clusters,
        cluster_of=cluster_of,
        read=read,
        links=expansion.links,
        joins=joins_of([paper.paper_id for paper in expansion.kept], expansion.links),
    )


async def _written(material: Material, parameters: SurveyParameters, engine: Engine) -> Review:
    if not (material.papers and verifies(engine)):
        return Review(material.clusters)
    write = write_answer if parameters.written is Written.ANSWER else write_review
    return await write(material, parameters, engine)


async def _leading(
    question: str,
    kept: Sequence[SurveyPaper],
    texts: Mapping[PaperId, Paper],
    parameters: SurveyParameters,
    engine: Engine,
    embedder: Embedder,
) -> list[Paper]:
    """Return what is read, the first first: none for a survey by an engine that cannot write."""
    if parameters.written is Written.ANSWER:
        found = await _nearest(question, kept, texts, embedder)
    else:
        found = [texts[paper.paper_id] for paper in kept] if verifies(engine) else []
    return found[: parameters.papers_read]


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


def _unsearched(
    asked: SurveyQuestion, cutoff: date | None, expansion: Expansion, ledger: Ledger
) -> Survey:
    spent = any(failure.reason is Reason.BUDGET_EXHAUSTED for failure in expansion.failures)
    reason = Reason.BUDGET_EXHAUSTED if spent else Reason.SOURCE_UNAVAILABLE
    detail = f"none of {len(expansion.queries)} searches was answered"
    return unsurveyed(asked, cutoff, reason, detail, ledger, expansion.failures)


def unsurveyed(
    asked: SurveyQuestion,
    cutoff: date | None,
    reason: Reason,
    detail: str,
    ledger: Ledger,
    failures: Sequence[Failure] = (),
) -> Survey:
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
    """Return what was read; and of key papers what others say, and a sentence of those that were
    not.
    """
    found = quotes_of(
        material.question,
        [PaperId(paper_id) for cluster in material.clusters for paper_id in cluster.key_paper_ids],
        texts,
        material.links,
    )
    read = {quote.paper_id for quote in material.read.quotes}
    more = [quote for quote in found if quote.section is None or quote.paper_id not in read]
    return (*material.read.quotes, *more)
