"""From a question along the citation graph: what is kept and why, and what bounds it."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.survey import Edge, End, Expansion, SurveyParameters, SurveyQuery
from schemas.reasons import Reason
from tasks.survey.expanding import expand
from tests.support.survey_fakes import GraphLiterature, failed, judge_by, paper

QUERY = SurveyQuery(query_id="q1", sub_question="How do bats call?", query="bat calls")
CITES = {"found": ["cited", "offtopic"], "citing": ["found"], "cited": ["older"], "older": []}
NAMES = ("found", "cited", "citing", "older", "offtopic")
RELEVANT = ("found", "cited", "citing", "older")


def graph(**changes: Any) -> GraphLiterature:
    values: dict[str, Any] = {
        "papers": [paper(name) for name in NAMES],
        "cites": CITES,
        "found": {"bat calls": ["found"]},
    }
    return GraphLiterature(**{**values, **changes})


async def expanded(
    literature: GraphLiterature,
    relevant: Iterable[str] = RELEVANT,
    cutoff: date | None = None,
    queries: Sequence[SurveyQuery] = (QUERY,),
    **bounds: Any,
) -> Expansion:
    parameters = SurveyParameters(**{"saturation_share": 0.0, **bounds})
    return await expand(
        "How do bats call?", queries, parameters, literature, judge_by(relevant), cutoff
    )


async def test_every_paper_says_by_which_edge_and_in_which_layer_it_was_reached() -> None:
    found = await expanded(graph(), depth=2)
    assert {one.paper_id: (one.layer, one.edge, one.reached_from) for one in found.kept} == {
        "found": (0, Edge.SEARCH, "bat calls"),
        "cited": (1, Edge.REFERENCE, "found"),
        "citing": (1, Edge.CITATION, "found"),
        "older": (2, Edge.REFERENCE, "cited"),
    }
    assert [layer.relevant_count for layer in found.layers] == [1, 2, 1]
    assert found.end is End.DEPTH
    assert ("cited", "older") in {(one.citing_paper_id, one.cited_paper_id) for one in found.links}


async def test_what_is_not_relevant_is_judged_and_neither_kept_nor_followed() -> None:
    literature = graph(cites={**CITES, "offtopic": ["older"]}, papers=[paper(n) for n in NAMES])
    found = await expanded(literature, relevant=("found",), depth=2)
    assert [one.paper_id for one in found.kept] == ["found"]
    assert {one.paper_id for one in found.papers} == {"found", "cited", "citing", "offtopic"}
    assert all("offtopic" not in seeds for _, seeds in literature.asked)
    assert (found.end, len(found.layers)) == (End.NOTHING_LEFT, 2)


async def test_depth_0_is_the_searches_alone() -> None:
    literature = graph()
    found = await expanded(literature, depth=0)
    assert [one.paper_id for one in found.papers] == ["found"]
    assert [endpoint for endpoint, _ in literature.asked] == ["search", "bulk"]


async def test_the_cutoff_holds_at_every_hop() -> None:
    papers = [paper(name, 2019 if name in ("citing", "older") else 2010) for name in NAMES]
    found = await expanded(graph(papers=papers), cutoff=date(2015, 6, 30), depth=3)
    assert {one.paper_id for one in found.papers} == {"found", "cited", "offtopic"}
    assert [layer.inadmissible_count for layer in found.layers] == [0, 1, 1]


async def test_no_more_papers_are_judged_than_allowed_whatever_the_depth() -> None:
    names = [f"p{number}" for number in range(60)]
    found = {"bat calls": names[:30]}
    cites = dict.fromkeys(names[:30], names[30:])
    for depth in (0, 1, 2):
        literature = GraphLiterature([paper(name) for name in names], cites, found)
        walk = await expanded(literature, relevant=names, depth=depth, maximum_judged=24)
        assert len(walk.papers) == 24
        assert sum(layer.judged_count for layer in walk.layers) == 24


async def test_of_a_hub_only_the_allowed_number_is_read_and_the_layer_says_so() -> None:
    many = [f"c{number}" for number in range(300)]
    papers = [paper("found", citation_count=50_000), *map(paper, many)]
    literature = GraphLiterature(
        papers, {name: ["found"] for name in many}, {"bat calls": ["found"]}
    )
    found = await expanded(literature, depth=1, citations_per_paper=25)
    assert (found.layers[1].hub_count, found.layers[1].found_count) == (1, 25)


async def test_a_hub_to_which_everything_points_is_judged_after_papers_few_point_to() -> None:
    names = ["a", "b", "hub", "rare"]
    papers = [paper(name, citation_count=100_000 if name == "hub" else 3) for name in names]
    literature = GraphLiterature(
        papers, {"a": ["hub", "rare"], "b": ["hub", "rare"]}, {"bat calls": ["a", "b"]}
    )
    found = await expanded(literature, relevant=names, depth=1, maximum_judged=3)
    assert {one.paper_id for one in found.papers} == {"a", "b", "rare"}


async def test_many_searches_do_not_outvote_what_relevant_papers_cite() -> None:
    names = ["a", "b", "left1", "left2", "left3"]
    queries = [QUERY.model_copy(update={"query": f"bat calls {number}"}) for number in range(12)]
    literature = GraphLiterature(
        [paper(name) for name in (*names, "linked")],
        {"a": ["linked"], "b": ["linked"]},
        {query.query: names for query in queries},
    )
    found = await expanded(literature, names, queries=queries, depth=1, maximum_judged=3)
    assert {one.paper_id for one in found.papers} == {"a", "b", "linked"}


async def test_a_dead_source_is_named_and_nothing_is_invented() -> None:
    found = await expanded(graph(dead={"search": failed("paper/search"), "bulk": failed("bulk")}))
    assert (found.papers, found.end) == ((), End.NOTHING_LEFT)
    assert found.queries[0].found_count is None
    assert found.layers[0].failed_look_up_count == 2
    assert [failure.reason for failure in found.failures] == [Reason.SERVER_ERROR] * 2


async def test_references_that_cannot_be_had_leave_what_the_citations_gave() -> None:
    found = await expanded(graph(dead={"references": failed("paper/batch", Reason.WITHHELD)}))
    assert {one.paper_id for one in found.kept} == {"found", "citing"}
    assert found.layers[1].failed_look_up_count == 1
    assert {failure.reason for failure in found.failures} == {Reason.WITHHELD}


async def test_an_empty_field_is_no_failure() -> None:
    found = await expanded(graph(found={}))
    assert (found.papers, found.failures, found.end) == ((), (), End.NOTHING_LEFT)
    assert found.queries[0].found_count == 0


async def test_a_spent_budget_ends_it_with_all_it_has() -> None:
    spent = failed("paper/batch", Reason.BUDGET_EXHAUSTED)
    found = await expanded(graph(dead={"references": spent, "citations": spent}), depth=3)
    assert [one.paper_id for one in found.kept] == ["found"]
    assert found.end is End.BUDGET


async def test_a_layer_that_brings_next_to_nothing_is_the_last() -> None:
    found = await expanded(graph(), relevant=("found", "cited"), depth=3, saturation_share=0.5)
    assert [layer.relevant_count for layer in found.layers] == [1, 1]
    assert found.end is End.SATURATED


async def test_citations_order_equally_relevant_papers_and_the_unknown_is_no_zero() -> None:
    names = ["much", "little", "unknown"]
    counts = {"much": 900, "little": 1, "unknown": None}
    papers = [paper(name, citation_count=counts[name]) for name in names]
    literature = GraphLiterature(papers, {}, {"bat calls": names})
    found = await expanded(literature, relevant=names, depth=0)
    assert [one.paper_id for one in found.kept] == ["much", "unknown", "little"]
    assert found.kept[1].quality_0_to_1 is None


async def test_only_the_heaviest_are_kept() -> None:
    found = await expanded(graph(), depth=2, maximum_papers=2)
    assert len(found.kept) == 2
    weights = [one.weight or 0 for one in found.papers if (one.relevance_0_to_5 or 0) >= 3]
    assert sorted(weights)[-2:] == sorted(one.weight or 0 for one in found.kept)


async def test_it_is_the_same_however_often_it_is_asked() -> None:
    first, second = await expanded(graph(), depth=2), await expanded(graph(), depth=2)
    assert first == second


TITLE = "Echo calls of bats that hunt moths"


def version(name: str, title: str = TITLE, **fields: Any) -> Paper:
    told: dict[str, Any] = {"authors": ("Ada Lovelace", "Carl Gauss"), "year": 2010}
    return Paper(paper_id=PaperId(name), title=title, **(told | fields))


async def test_an_expansion_keeps_a_work_once_and_joins_the_links_of_its_versions() -> None:
    papers = [
        version("journal"),
        version("preprint", year=2009),
        version("seed", "How bats find what they hunt"),
    ]
    literature = GraphLiterature(
        papers, {"seed": ["preprint"]}, {"bat calls": ["journal", "preprint", "seed"]}
    )
    query = SurveyQuery(query_id="q1", sub_question="How do bats call?", query="bat calls")
    found = await expand(
        "How do bats call?",
        [query],
        SurveyParameters(depth=1, saturation_share=0.0),
        literature,
        judge_by(["journal", "preprint", "seed"]),
        None,
    )
    assert {one.paper_id: one.other_version_ids for one in found.kept} == {
        "journal": ("preprint",),
        "seed": (),
    }
    assert [(one.citing_paper_id, one.cited_paper_id) for one in found.links] == [
        ("seed", "journal")
    ]
