"""The citation graph by SQL: whatever the graph, answers are bounded, and nothing is invented."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import SnapshotError
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.graph import MOST_NEIGHBOURS, CitationGraph, Related
from tests.support.paper_files import paper_rows, write_jsonl

HUB_CITATIONS = 50_000


def graph_of(edges: Iterable[tuple[int, int]], folder: Path, name: str = "g") -> CitationGraph:
    return CitationGraph.of(edges, folder, name=name, memory_limit="200MB")


def test_papers_cited_together_are_near_and_so_are_papers_that_cite_the_same(
    tmp_path: Path,
) -> None:
    edges = [(10, 1), (10, 2), (11, 1), (11, 2), (11, 3), (12, 3)]
    with graph_of(edges, tmp_path) as graph:
        assert graph.co_cited([1], 5).papers == (Related(2, 2, 1.0), Related(3, 1, 0.5))
        assert graph.coupled([10], 5).papers == (Related(11, 2, 0.816497),)
        assert graph.co_cited([1, 2], 5).papers == (Related(3, 2, 0.5),)
        assert graph.co_cited([99], 5).papers == ()
        assert graph.co_cited([], 5).papers == ()


def test_cycles_duplicates_and_papers_that_cite_themselves_change_no_path(tmp_path: Path) -> None:
    edges = [(1, 1), (1, 2), (1, 2), (2, 3), (3, 1), (3, 4), (5, 4), (7, 8)]
    with graph_of(edges, tmp_path) as graph:
        assert graph.edge_count() == 6
        assert graph.path(1, 5).numbers == (1, 3, 4, 5)
        assert graph.path(4, 4).numbers == (4,)
        apart = graph.path(1, 8)
        assert (apart.numbers, apart.complete) == (None, True)
        unknown = graph.path(1, 99)
        assert (unknown.numbers, unknown.complete) == (None, True)


def test_a_path_that_would_visit_too_much_says_that_it_was_not_looked_for_to_the_end(
    tmp_path: Path,
) -> None:
    with graph_of([(number, 0) for number in range(1, 200)], tmp_path) as graph:
        found = graph.path(1, 999, most_visited=100)
        assert (found.numbers, found.complete) == (None, False)


def test_a_hub_with_fifty_thousand_citations_is_looked_at_in_part_and_named(tmp_path: Path) -> None:
    def edges() -> Iterable[tuple[int, int]]:
        for number in range(2, HUB_CITATIONS + 2):
            yield number, 0
            yield number, 1 + number % 2

    with graph_of(edges(), tmp_path) as graph:
        near = graph.co_cited([0], 10)
        assert near.hubs == (0,)
        assert [each.number for each in near.papers] in ([1, 2], [2, 1])
        assert sum(each.shared for each in near.papers) == MOST_NEIGHBOURS
        assert graph.co_cited([0], 10) == near
        assert graph.path(4, 6).numbers == (4, 0, 6)


def test_communities_are_those_planted_and_come_largest_first(tmp_path: Path) -> None:
    def clique(first: int, size: int) -> list[tuple[int, int]]:
        members = range(first, first + size)
        return [(one, other) for one in members for other in members if one > other]

    with graph_of([*clique(0, 12), *clique(100, 8), (100, 11), (900, 901)], tmp_path) as graph:
        found = list(graph.communities())
    by_label: dict[int, set[int]] = {}
    for paper, label in found:
        by_label.setdefault(label, set()).add(paper)
    assert list(by_label.values()) == [set(range(12)), set(range(100, 108))]


def test_an_empty_graph_answers_and_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path,
) -> None:
    with graph_of([], tmp_path) as graph:
        assert graph.co_cited([1], 5).papers == graph.coupled([1], 5).papers == ()
        assert list(graph.communities()) == []
        assert graph.path(1, 2).numbers is None
    (tmp_path / "file").write_text("")
    with pytest.raises(SnapshotError, match="citation graph"):
        graph_of([], tmp_path / "file")


@settings(max_examples=settings.default.max_examples // 3)  # each writes a graph
@given(edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_a_path_is_a_chain_of_edges_no_longer_than_any_other(
    edges: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    near: dict[int, set[int]] = {number: set() for number in range(10)}
    for one, other in edges:
        near[one].add(other)
        near[other].add(one)
    reached, front, hops = {0: 0}, {0}, 0
    while front:
        hops += 1
        front = {each for number in front for each in near[number]} - reached.keys()
        reached |= dict.fromkeys(front, hops)
    with graph_of(edges, tmp_path_factory.mktemp("graph")) as graph:
        numbers = graph.path(0, 9, most_hops=10).numbers
    assert (None if numbers is None else len(numbers) - 1) == reached.get(9)
    assert all(other in near[one] for one, other in pairwise(numbers or ()))


def test_the_graph_of_a_snapshot_speaks_of_its_papers(tmp_path: Path) -> None:
    rows = [
        row | {"url": f"https://example.org/{number}", "doi": None}
        for number, row in enumerate(paper_rows(5))
    ]
    rows[3] |= {"references": ["https://example.org/1", "https://example.org/2", "W77"]}
    rows[4] |= {"references": ["https://example.org/1", "https://example.org/4"]}
    snapshot = build_snapshot(write_jsonl(tmp_path / "papers.jsonl", rows), tmp_path / "index")
    with snapshot.graph(tmp_path / "graphs") as graph:
        (seed,) = snapshot.numbers(["URL:https://example.org/3"])
        assert seed is not None
        near = graph.coupled([seed], 5).papers
        assert [paper.url for paper in snapshot.by_number([each.number for each in near])] == [
            "https://example.org/4"
        ]
        assert graph.edge_count() == 3
    assert snapshot.numbers(["CorpusId:1"]) == [None]
