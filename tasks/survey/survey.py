"""One question from end to end: plan, expansion, clusters, quotes."""

from collections.abc import Sequence
from datetime import date

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import Unscored
from schemas.reasons import Reason
from schemas.survey import Survey, SurveyCluster, SurveyParameters, heaviest
from schemas.survey_run import SurveyQuestion
from tasks.accounting.ledger import Ledger
from tasks.embeddings import Embedder
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient
from tasks.survey.asking import plan_queries, relevance_to
from tasks.survey.clustering import clustered, in_clusters
from tasks.survey.expanding import STAGE, expand
from tasks.survey.quoting import quotes_of


async def survey(
    asked: SurveyQuestion,
    parameters: SurveyParameters,
    cutoff: date | None,
    *,
    engine: Engine,
    literature: LiteratureClient,
    embedder: Embedder,
    ledger: Ledger,
) -> Survey:
    """Survey one question.

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
    key_papers = _key_papers(clusters)
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
        clusters=clusters,
        quotes=quotes_of(asked.question, key_papers, texts, expansion.links),
        links=expansion.links,
        failures=(*expansion.failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        provenance=planned.provenance,
    )


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


def _key_papers(clusters: Sequence[SurveyCluster]) -> list[PaperId]:
    return [PaperId(paper_id) for cluster in clusters for paper_id in cluster.key_paper_ids]
