"""Related works by facet: a work that anticipates one side of an idea is not passed over."""

from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.profile import NoveltyParameters
from tasks.novelty.related_works import Facet, facet_texts, given_works
from tests.support.contribution_fakes import WordEmbedder, paper

IDEA = """## Problem

Nobody knows how bats share caves in winter.

## Method

A graph network is trained over echo calls. We measure recall beside a baseline.

## Applications

Wind farms could stop their rotors."""
OF_THE_WHOLE = "bats share caves winter echo calls wind farms stop rotors nobody knows"


def test_sentences_belong_to_the_facet_of_their_heading_or_else_of_their_wording() -> None:
    assert facet_texts(IDEA) == {
        Facet.PURPOSE: "Nobody knows how bats share caves in winter.",
        Facet.MECHANISM: (
            "A graph network is trained over echo calls. We measure recall beside a baseline."
        ),
        Facet.APPLICATION: "Wind farms could stop their rotors.",
    }
    plain = "A graph network is trained. We evaluate it beside a baseline. It is used by farmers."
    assert set(facet_texts(plain)) == {Facet.MECHANISM, Facet.EVALUATION, Facet.APPLICATION}
    assert facet_texts("") == {}


async def test_a_work_with_the_same_mechanism_is_read_though_the_whole_idea_is_far_from_it() -> (
    None
):
    works = [
        paper("a", f"{OF_THE_WHOLE} sleep"),
        paper("b", f"{OF_THE_WHOLE} food"),
        paper("c", f"{OF_THE_WHOLE} noise"),
        paper("mechanism", "Graph network trained, recall beside baseline measure."),
    ]
    idea = Idea(idea_id=IdeaId("bats"), title="Bats", text=IDEA)
    read = {}
    for by_facet in (False, True):
        parameters = NoveltyParameters(related_works=3, rerank_by_facet=by_facet)
        found = await given_works(idea, works, parameters, WordEmbedder())
        read[by_facet] = {work.paper_id for work in found.works}
    assert read[False] == {"a", "b", "c"}
    assert "mechanism" in read[True]
    assert len(read[True]) == 3
