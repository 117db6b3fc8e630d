"""The evidence about a manuscript: what is looked up, each work once, and what could not be had."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from schemas.failure import Answer
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Provenance, Scored
from tasks.judging.relevance import RelevanceEntry
from tasks.judging.step import Engine, Step
from tasks.manuscripts.reference_pool import (
    MOST_SEARCHED,
    Pool,
    entries_of,
    gather_pool,
    look_up_cited,
    strong_claims,
)
from tasks.manuscripts.steps.reading import Reading
from tasks.survey.steps import SURVEY_PLAN, PlannedSubQuestion, PlanReply, SurveyRelevanceReply
from tests.support.survey_fakes import GraphLiterature, failed

CLAIM = "We are the first to weigh pebbles by ear."
TEXT = f"""# On pebbles

Abstract
We sort pebbles in spring. {CLAIM}

## 1 Introduction
First, we washed them. The state of the art is slow. {CLAIM.replace("weigh", "then weigh")}

## References
[1] A. Stone. A long history of weighing pebbles. 1999.
[2] B. Stone. Rocks. 2001. doi:10.1234/rocks.5.
[3] C. Stone. A title that no source has ever held. 1950.
"""
READING = Reading("text", TEXT)
SAID = Provenance(
    step="survey_plan",
    step_version=1,
    prompt_sha256="ab",
    engine="test",
    model_requested="test",
    model_answered="test",
    seed=None,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def work(name: str, title: str = "", **fields: Any) -> Paper:
    told = {"year": 2010, "abstract": f"About {name} and pebbles.", **fields}
    return Paper(paper_id=PaperId(name), title=title or f"On the matter of {name}", **told)


PAPERS = [
    work("sorting"),
    work("ears"),
    work("itself", "On pebbles"),
    work("history", "RETRACTED ARTICLE: A long history of weighing pebbles", year=1999),
    work("rocks", "Rocks", doi="10.1234/rocks.5"),
    work("future", year=2030),
]
FOUND = {
    "sort pebbles": ["sorting", "itself", "future"],
    "weigh by ear": ["ears", "sorting"],
}


class Library(GraphLiterature):
    """Finds papers by DOI too, and by any words of their title."""

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        if query in self.found:
            return await super().search_papers(query, limit, cutoff)
        self.asked.append(("search", (query,)))
        words = set(query.casefold().split())
        near = [
            name
            for name, one in self.papers_by_id.items()
            if len(words & set(one.title.casefold().split())) > 2
        ]
        return self._answer("search", near, limit, cutoff)

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        self.asked.append(("papers", tuple(paper_ids)))
        known = [name for name, one in self.papers_by_id.items() if f"DOI:{one.doi}" in paper_ids]
        return self._answer("papers", known, 100, cutoff)


class Planning:
    """Plans one search about the claim and one about the whole; every paper is relevant."""

    name = "test"

    async def run(self, step: Step[Any, Any], inputs: Any) -> Outcome[Any]:
        if step is SURVEY_PLAN:
            query = "weigh by ear" if inputs.question.startswith("We are the") else "sort pebbles"
            planned = PlannedSubQuestion(sub_question=inputs.question, queries=[query])
            return Scored(PlanReply(sub_questions=[planned]), SAID)
        entries = [RelevanceEntry(key=one.key, rationale="Near.", score=4) for one in inputs.papers]
        return Scored(SurveyRelevanceReply(papers=entries), SAID)


ENGINE: Engine = Planning()  # type: ignore[assignment]


def library(**more: Any) -> Library:
    return Library(PAPERS, {}, FOUND, **more)


async def pooled(literature: Library, cutoff: date | None = None) -> Pool:
    return await gather_pool("On Pebbles", READING, ENGINE, literature, cutoff)


async def test_each_work_stands_once_with_all_ways_it_was_found_and_the_paper_itself_does_not() -> (
    None
):
    pool = await pooled(library(), date(2020, 1, 1))
    ways = {
        work.paper_id: (work.relevance_0_to_5, work.about_claim, work.cited_as[:3])
        for work in pool.works
    }
    assert ways == {
        "sorting": (4, CLAIM, ""),
        "ears": (None, CLAIM, ""),
        "history": (None, "", "[1]"),
        "rocks": (None, "", "[2]"),
    }
    assert (pool.reference_count, pool.searched_reference_count, pool.unanswered_count) == (3, 3, 0)
    assert [work.paper_id for work in pool.works if work.retracted] == ["history"]


async def test_an_engine_reads_date_and_standing_of_a_work_under_its_key() -> None:
    pool = await pooled(library())
    (told,) = pool.describe(pool.about("a long history of weighing", 1))
    assert told.startswith("P1 (1999, cited by the manuscript, retracted): ")
    assert len(pool.about("jellyfish", 5)) == 0


async def test_a_work_bears_what_it_names_as_used_and_an_engine_reads_it() -> None:
    told = "We evaluate on the PebbleNet dataset and sort by ear."
    literature = Library([*PAPERS[1:], work("sorting", abstract=told)], {}, FOUND)
    pool = await pooled(literature)
    uses = {one.paper_id: one.uses for one in pool.works}
    assert uses["sorting"] == ("PebbleNet (data set)",)
    assert uses["ears"] == ()
    (shown,) = pool.describe(pool.about("evaluate on PebbleNet", 1))
    assert shown.endswith("It uses PebbleNet (data set).")


async def test_a_source_that_is_down_is_counted_and_nothing_is_concluded_from_it() -> None:
    dead = {name: failed(name) for name in ("search", "papers", "bulk")}
    pool = await pooled(library(dead=dead))
    assert pool.works == ()
    assert pool.unanswered_count == len(pool.failures) > 0
    assert {failure.stage for failure in pool.failures} == {"evidence_pool"}


def test_only_what_the_authors_say_of_their_own_work_is_a_strong_claim() -> None:
    assert strong_claims(READING) == [CLAIM]
    assert strong_claims(Reading("text", "We present the first map of the shop. It is red.")) == [
        "We present the first map of the shop."
    ]


def test_references_are_found_in_the_shapes_they_are_printed_in() -> None:
    latex = "\\section{A} Text.\n\\begin{thebibliography}{9}\n\\bibitem{a} One.\n\\bibitem{b} Two."
    bibtex = "Text.\n@article{a,\n title={One}}\n@book{b,\n title={Two}}"
    numbered = f"{'Text. ' * 40}\n\nReferences\n1. One.\n2. Two\nand more.\n"
    named = f"{'Text. ' * 40}\n\nReferences\n\nStone, A. One.\n\nStone, B. Two.\n"
    for form, text in (("latex", latex), ("latex", bibtex), ("text", numbered), ("text", named)):
        found = entries_of(Reading(form, text))
        assert ["One" in found[0], "Two" in found[1], len(found)] == [True, True, 2], found
    assert entries_of(Reading("text", "No list stands here.")) == []


async def test_no_more_references_are_searched_than_the_limit_and_the_others_are_counted() -> None:
    listed = "\n".join(f"[{number}] Someone. Some title." for number in range(1, 61))
    reading = Reading("text", f"{'Text. ' * 400}\n\nReferences\n{listed}\n")
    literature = library()
    cited = await look_up_cited(reading, literature, None)
    assert (cited.reference_count, cited.searched_reference_count) == (60, MOST_SEARCHED)
    assert sum(kind == "search" for kind, _ in literature.asked) == MOST_SEARCHED
    assert cited.works == ()
