"""The concept network: what papers name together, by when, what nobody has linked yet, and where an idea may go."""

from collections.abc import Iterator
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import SnapshotError
from schemas.works.ideation_run import IdeationParameters
from tasks.ideation.network import (
    Concept,
    ConceptNetwork,
    Link,
    key_of,
    mentioned_keys,
    named_phrases,
    open_network,
)
from tasks.ideation.versions import links_of
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.records import record_of
from tests.support.paper_files import write_jsonl

TACTILE, GRASP, SLIP, KERNELS = (
    "tactile sensing",
    "robot grasping",
    "slip detection",
    "graph kernels",
)
TITLES = (
    # (year, title): slip detection and graph kernels meet in 2020 alone.
    (2010, "Tactile sensing for robot grasping"),
    (2011, "Robot grasping with tactile sensing again"),
    (2012, "Slip detection by tactile sensing"),
    (2013, "Tactile sensing with slip detection"),
    (2014, "Graph kernels under robot grasping"),
    (2015, "Robot grasping under graph kernels"),
    (2016, "Robot grasping with slip detection"),
    (2017, "Slip detection for robot grasping"),
    (2020, "Slip detection during graph kernels"),
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A snapshot, and the home in which its network is kept."""
    home = tmp_path_factory.mktemp("home")
    told = {"abstract": None, "authors": ["Ada Author"], "venue": "Pebbles"}
    rows = [told | {"title": title, "year": year, "url": title} for year, title in TITLES]
    papers = write_jsonl(home / "papers.jsonl", rows)
    build_snapshot(papers, home / "snapshot")
    return home / "snapshot", home


@pytest.fixture
def network(folders: tuple[Path, Path]) -> Iterator[ConceptNetwork]:
    with open_network(*folders) as opened:
        yield opened


def one(network: ConceptNetwork, name: str) -> Concept:
    (found,) = network.named_in(name)
    return found


def test_a_text_names_concepts_in_its_order_whatever_their_endings(network: ConceptNetwork) -> None:
    text = "A graph kernel for grasping: robots grasp. Tactile sensing, with slip detections."
    assert [found.name for found in network.named_in(text)] == [KERNELS, GRASP, TACTILE, SLIP]
    assert network.named_in("of the and") == []


def test_neighbours_carry_how_many_papers_name_both_and_since_when(network: ConceptNetwork) -> None:
    found = {link.second.name: link for link in network.neighbours(one(network, TACTILE))}
    assert set(found) == {GRASP, SLIP}
    assert (found[SLIP].shared_count, str(found[SLIP].first_day)[:4]) == (2, "2012")
    papers = network.papers_of([found[SLIP].first, found[SLIP].second])
    assert [paper.year for paper in papers] == [2013, 2012]


def test_what_no_paper_names_together_is_a_missing_link_with_its_bridges(
    network: ConceptNetwork,
) -> None:
    kernels = one(network, KERNELS)
    missing = network.missing_links(kernels)
    assert TACTILE in {link.second.name for link in missing}
    assert not {link.second.name for link in missing} & {GRASP, SLIP, KERNELS}
    assert all(link.shared_count == 0 and 0 <= link.score <= 1 for link in missing)
    assert {each.name for each in network.bridges(kernels, one(network, TACTILE))} == {GRASP, SLIP}


def test_nothing_after_the_cutoff_is_known(folders: tuple[Path, Path]) -> None:
    with open_network(*folders, date(2019, 12, 31)) as before:
        kernels = one(before, KERNELS)
        assert SLIP not in {link.second.name for link in before.neighbours(kernels)}
        assert SLIP in {link.second.name for link in before.missing_links(kernels)}
    with open_network(*folders, date(2011, 12, 31)) as early:
        assert early.named_in(f"{KERNELS}, {SLIP}") == []


def test_a_network_is_built_once_and_a_snapshot_that_is_not_there_is_one_line(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    told: list[int] = []
    with open_network(*folders, progress=lambda done, _total, _stage: told.append(done)):
        assert told == []
    with open_network(folders[0], tmp_path, progress=lambda done, *_: told.append(done)):
        assert told == [len(TITLES), 2 * len(TITLES)]
    with (
        pytest.raises(SnapshotError, match="no snapshot at"),
        open_network(tmp_path / "no", tmp_path),
    ):
        raise AssertionError


def test_keywords_of_a_venue_lose_what_stands_before_the_colon() -> None:
    record = record_of(
        {"title": "Pebbles", "keywords": ["Machine Learning: Graph Kernels", "learning"]}
    )
    assert record is not None
    assert list(named_phrases(record).values()) == ["graph kernels"]


@given(st.text(max_size=200))
def test_any_text_names_what_is_known_alone(text: str) -> None:
    known = {key_of(pair) for pair in combinations(text.split(), 2)}
    found = mentioned_keys(text, known)
    assert set(found) <= known
    assert len(found) == len(set(found))


KEYWORD = Concept(1, "tactile sensing", 90)


class OneNeighbour:
    """Stands for a network in which a concept has one neighbour."""

    def __init__(self, name: str) -> None:
        self.neighbour = Concept(2, name, 80)

    def missing_links(self, concept: Concept, limit: int) -> list[Link]:
        del concept, limit
        return []

    def neighbours(self, concept: Concept, limit: int) -> list[Link]:
        del limit
        return [Link(concept, self.neighbour, shared_count=70, first_day=20100101, score=0.9)]


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("tactile sensor", False),
        ("sensing", False),
        ("tactile sensing skin", False),
        ("tactile exploration", True),
        ("slip detection", True),
    ],
)
def test_a_concept_that_only_says_it_otherwise_leads_nowhere(name: str, leads: bool) -> None:
    network = cast(ConceptNetwork, OneNeighbour(name))
    found = links_of(network, [KEYWORD], IdeationParameters())
    assert bool(found) is leads
