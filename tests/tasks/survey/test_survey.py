"""A question from end to end: searches, relevance, clusters, quotes, and what is said where there is nothing."""

from datetime import date
from typing import Any

import pytest

from schemas.identifiers import IdeaId, PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import Survey, SurveyParameters, heaviest
from schemas.reasons import Reason
from schemas.works.survey_run import SurveyQuestion
from tasks.accounting.ledger import Ledger
from tasks.documents.document import AbstractLibrary
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.relevance import ShownPaper
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.survey.reading import LONGEST_QUOTE, quotes_of
from tasks.survey.steps import (
    PlanInput,
    PlanReply,
    SurveyRelevanceInput,
    baseline_plan,
    baseline_relevance,
    relevance_score,
)
from tasks.survey.survey import MOST_CLUSTERS, survey
from tests.support.contribution_fakes import WordEmbedder
from tests.support.survey_fakes import GraphLiterature, failed

QUESTION = "How do bats hunt moths by echo calls?"
BATS = "Bats hunt moths by echo calls at night. The recorder is cheap."
EMBEDDER = WordEmbedder()


def paper(name: str, abstract: str | None = BATS, year: int = 2010) -> Paper:
    title = f"Echo calls of bats and moths, part {name}"
    return Paper(paper_id=PaperId(name), title=title, abstract=abstract, year=year)


async def surveyed(literature: GraphLiterature, question: str = QUESTION, **bounds: Any) -> Survey:
    return await survey(
        SurveyQuestion(question_id="q001", question=question),
        SurveyParameters(**bounds),
        date(2020, 12, 31),
        engine=ExtractiveEngine(BaselineTools(EMBEDDER), 0),
        literature=literature,
        embedder=EMBEDDER,
        ledger=Ledger(IdeaId("q001")),
        documents=AbstractLibrary(),
    )


class Everything(dict[str, list[str]]):
    """Whatever is searched for finds the same papers."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def get(self, query: str, default: Any = None) -> list[str]:  # type: ignore[override]
        return self.names


async def test_every_kept_paper_stands_in_one_cluster_with_a_name() -> None:
    names = [f"p{number}" for number in range(30)]
    cites = dict.fromkeys(names[3:], names[:3])
    found = await surveyed(GraphLiterature(map(paper, names), cites, Everything(names)))
    assert found.kept_count == len(heaviest(found.papers)) == 30
    assert 1 <= len(found.clusters) <= MOST_CLUSTERS
    counted = {cluster.cluster_id: cluster.paper_count for cluster in found.clusters}
    for cluster_id, count in counted.items():
        assert count == sum(paper.cluster_id == cluster_id for paper in found.papers)
    assert all(cluster.name for cluster in found.clusters)


async def test_a_quote_stands_in_its_paper_word_for_word() -> None:
    found = await surveyed(
        GraphLiterature([paper("a"), paper("b", "Tax law.")], {}, Everything(["a", "b"]))
    )
    texts = {paper.paper_id: paper.text for paper in found.papers}
    assert found.quotes
    for quote in found.quotes:
        assert quote.quote in (texts[quote.said_in_paper_id].abstract or "")
    assert found.quotes[0].quote == "Bats hunt moths by echo calls at night."


def test_passages_that_cite_a_paper_are_quoted_whole_or_not_at_all() -> None:
    a, b = PaperId("a"), PaperId("b")
    long = "bats " * LONGEST_QUOTE
    edge = CitationEdge(citing_paper_id=b, cited_paper_id=a, contexts=(long, "Bats call [1]."))
    unknown = CitationEdge(citing_paper_id=PaperId("c"), cited_paper_id=a)
    quotes = quotes_of(QUESTION, [a], {a: paper("a", None)}, [edge, unknown])
    assert [(quote.said_in_paper_id, quote.quote) for quote in quotes] == [("b", "Bats call [1].")]


async def test_an_empty_field_is_a_survey_of_no_paper() -> None:
    found = await surveyed(GraphLiterature([], {}, {}))
    assert (found.kept_count, found.unscored_reason, found.clusters) == (0, None, ())


async def test_a_dead_source_gives_a_reason_and_no_paper() -> None:
    dead = {"search": failed("paper/search"), "bulk": failed("paper/search/bulk")}
    found = await surveyed(GraphLiterature([], {}, {}, dead))
    assert (found.kept_count, found.unscored_reason) == (None, Reason.SOURCE_UNAVAILABLE)
    assert Reason.SERVER_ERROR in {failure.reason for failure in found.failures}


async def test_a_spent_budget_is_called_by_its_name() -> None:
    spent = failed("paper/search", Reason.BUDGET_EXHAUSTED)
    found = await surveyed(GraphLiterature([], {}, {}, {"search": spent, "bulk": spent}))
    assert (found.kept_count, found.unscored_reason) == (None, Reason.BUDGET_EXHAUSTED)


async def test_a_question_without_a_noun_is_not_searched_for() -> None:
    literature = GraphLiterature([paper("a")], {}, Everything(["a"]))
    found = await surveyed(literature, "Why is it so?")
    assert (found.kept_count, found.unscored_reason) == (None, Reason.NOTHING_TO_JUDGE)
    assert literature.asked == []


async def test_what_appeared_after_the_cutoff_is_nowhere() -> None:
    papers = [paper("old"), paper("new", year=2022)]
    found = await surveyed(GraphLiterature(papers, {"new": ["old"]}, Everything(["old", "new"])))
    assert [paper.text.paper_id for paper in found.papers] == ["old"]
    assert found.links == ()


TOOLS = BaselineTools(WordEmbedder())


async def planned(question: str) -> PlanReply | NoAnswer:
    asked = PlanInput(question=question, maximum_sub_questions=3, maximum_queries=2)
    return await baseline_plan(asked, TOOLS)


async def test_the_first_search_holds_the_whole_question() -> None:
    plan = await planned("How do bats use echo calls to hunt moths at night?")
    assert isinstance(plan, PlanReply)
    assert plan.sub_questions[0].queries[0] == "bats echo calls hunt moths night"


@pytest.mark.parametrize("question", ["Why is it so?", "?", "and then what about this", "2021"])
async def test_a_question_without_a_noun_has_a_reason_and_no_search(question: str) -> None:
    plan = await planned(question)
    assert isinstance(plan, NoAnswer)
    assert plan.reason is Reason.NOTHING_TO_JUDGE


async def test_relevance_grows_with_both_signals_and_vocabulary_alone_is_not_enough() -> None:
    assert relevance_score(0.0, 1.0) < SurveyParameters().least_relevance
    assert relevance_score(0.2, 0.2) < relevance_score(0.6, 0.2) < relevance_score(0.6, 1.0)
    papers = (
        ShownPaper(key="P1", title="Echo calls of bats", abstract="Bats hunt moths by echo calls."),
        ShownPaper(key="P2", title="Tax law", abstract="Courts decide on taxes."),
    )
    asked = SurveyRelevanceInput(question="How do bats hunt moths by echo calls?", papers=papers)
    reply = await baseline_relevance(asked, TOOLS)
    near, far = reply.papers
    assert near.score >= 3 > far.score
