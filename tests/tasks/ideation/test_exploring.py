"""Where an idea may go: to concepts that say something its own do not."""

from typing import cast

import pytest

from schemas.works.ideation_run import IdeationParameters
from tasks.ideation.network import Concept, ConceptNetwork, Link
from tasks.ideation.versions import links_of

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
