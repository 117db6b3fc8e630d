"""`assay evaluate --survey`: modules draw on one survey of the idea, within its cutoff."""

from datetime import date
from inspect import iscoroutinefunction
from typing import Any

from schemas.failure import Answer
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId
from schemas.literature.paper import Paper, Passage
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.evaluation.surveyed_literature import SurveyedLiterature
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from tasks.literature.client import LiteratureClient
from tests.support.contribution_fakes import WordEmbedder
from tests.support.survey_fakes import GraphLiterature, failed

IDEA = "Bats hunt moths by echo calls. We record echo calls of bats that hunt moths at night."
TITLE = "What bats hunt at night"
CUTOFF = date(2015, 12, 31)


def paper(name: str, year: int = 2010, **fields: Any) -> Paper:
    told = {"title": f"Echo calls of bats that hunt moths, part {name}", "abstract": IDEA[:60]}
    return Paper(paper_id=PaperId(name), year=year, **(told | fields))


class Everything(dict[str, list[str]]):
    """The surveyor's searches find `names`; a module's own search finds nothing."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)

    def get(self, query: str, default: Any = None) -> list[str]:  # type: ignore[override]
        return [] if query == "bats of a module" else self.names


class Snippets(GraphLiterature):
    """With one passage for whatever is searched for."""

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        del query, limit, cutoff
        return Answer(
            (Passage(passage_id="s1", paper_id=PaperId("s"), text="Bats.", kind="body", score=0.5),)
        )


def surveyed(literature: GraphLiterature, idea: str = IDEA) -> tuple[SurveyedLiterature, Ledger]:
    ledger = Ledger(IdeaId("idea"))
    asked = Idea(idea_id=IdeaId("idea"), text=idea, title=TITLE, cutoff_date=CUTOFF)
    engine = ExtractiveEngine(BaselineTools(WordEmbedder()), 0)
    return SurveyedLiterature(literature, asked, engine, ledger), ledger


async def test_a_search_brings_what_hops_found_although_no_search_finds_it() -> None:
    papers = [paper("found"), paper("cited"), paper("late", 2016)]
    inner = GraphLiterature(papers, {"found": ["cited", "late"]}, Everything("found"))
    literature, _ = surveyed(inner)
    answer = await literature.search_papers("bats of a module", 10, CUTOFF)
    assert {one.paper_id for one in answer.items} == {"found", "cited"}
    assert await literature.search_papers("tax law", 10, CUTOFF) == await inner.search_papers(
        "tax law", 10, CUTOFF
    )


async def test_the_idea_is_surveyed_once_however_often_modules_search() -> None:
    inner = GraphLiterature([paper("found")], {}, Everything("found"))
    literature, _ = surveyed(inner)
    await literature.search_papers("bats of a module", 10, CUTOFF)
    walked = [name for name, _ in inner.asked].count("references")
    await literature.search_papers("bats of a module", 10, CUTOFF)
    await literature.search_bulk(["bats of a module"], 1, CUTOFF)
    assert [name for name, _ in inner.asked].count("references") == walked == 1


async def test_abstracts_of_the_survey_stand_among_the_passages_of_a_search() -> None:
    inner = Snippets([paper("found"), paper("cited")], {"found": ["cited"]}, Everything("found"))
    literature, _ = surveyed(inner)
    answer = await literature.search_snippets("echo calls of bats", 10, CUTOFF)
    assert answer.items[0].paper_id == "s"
    assert {passage.paper_id for passage in answer.items} == {"s", "found", "cited"}
    assert all(passage.kind == "abstract" for passage in answer.items[1:])


async def test_the_ideas_own_publication_is_not_followed_to_what_it_cites() -> None:
    own = paper("own", abstract=IDEA, title=f"{TITLE}: a study")
    inner = GraphLiterature([own, paper("cited")], {"own": ["cited"]}, Everything("own"))
    literature, _ = surveyed(inner)
    assert await literature.survey_papers() == ()
    assert all("own" not in seeds for name, seeds in inner.asked if name == "references")


async def test_a_survey_that_cannot_be_made_adds_nothing_and_says_why() -> None:
    dead = {"search": failed("paper/search"), "bulk": failed("paper/search/bulk")}
    literature, ledger = surveyed(GraphLiterature([], {}, {}, dead))
    answer = await literature.search_papers("bats of a module", 10, CUTOFF)
    assert answer.items == ()
    assert not answer.complete
    assert Reason.SERVER_ERROR in {failure.reason for failure in ledger.failures}
    literature, ledger = surveyed(GraphLiterature([], {}, {}), "Why is it so?")
    await literature.survey_papers()
    assert [failure.reason for failure in ledger.failures] == [Reason.NOTHING_TO_JUDGE]


def test_every_look_up_goes_to_the_client_behind() -> None:
    look_ups = {name for name, each in vars(LiteratureClient).items() if iscoroutinefunction(each)}
    assert "search_papers" in look_ups
    assert look_ups <= vars(SurveyedLiterature).keys()
