"""Draws and masks that can be repeated: who reviews, and what each of them knows."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.judgement.committee import IdeaPart, KnowledgePhase, KnowledgeRecord
from schemas.literature.knowledge import SourceKind
from tasks.committee.reviewing import (
    PanelMember,
    draw_personas,
    familiar_knowledge,
    nearest_personas,
)
from tasks.personas.roster import load_roster
from tests.support.contribution_fakes import WordEmbedder

PERSONAS = load_roster(None).personas
IDEA = IdeaId("idea")


def record(number: int, kind: SourceKind = SourceKind.PAPERS) -> KnowledgeRecord:
    return KnowledgeRecord(
        knowledge_id=f"k{number}",
        kind=kind,
        source="literature",
        phase=KnowledgePhase.BEFORE,
        part=IdeaPart.METHODS,
        query="q",
        round=1,
        title=f"Item {number}",
        url=f"https://example.org/{number}",
    )


RECORDS = [record(number, list(SourceKind)[number % 3]) for number in range(30)]


@given(st.integers(0, 2**31), st.integers(1, len(PERSONAS)), st.randoms(use_true_random=False))
def test_a_draw_is_repeatable_without_repeats_and_blind_to_the_order_of_the_file(
    seed: int, count: int, shuffler: random.Random
) -> None:
    drawn = draw_personas(PERSONAS, count, seed, IDEA)
    shuffled = list(PERSONAS)
    shuffler.shuffle(shuffled)
    assert draw_personas(shuffled, count, seed, IDEA) == drawn
    assert len({each.persona.persona_id for each in drawn}) == count


def test_seeds_and_ideas_draw_differently_and_every_persona_has_a_turn() -> None:
    draws = [
        tuple(
            each.persona.persona_id for each in draw_personas(PERSONAS, 3, 7, IdeaId(f"idea-{n}"))
        )
        for n in range(60)
    ]
    assert len(set(draws)) > 40
    assert {name for draw in draws for name in draw} == {persona.persona_id for persona in PERSONAS}
    assert draw_personas(PERSONAS, 5, 7, IDEA) != draw_personas(PERSONAS, 5, 8, IDEA)


def test_the_same_panel_meets_every_idea_and_another_seed_draws_another() -> None:
    def panel(seed: int, idea_id: str) -> list[str]:
        drawn = draw_personas(PERSONAS, 4, seed, IdeaId(idea_id), same_panel=True)
        return [each.persona.persona_id for each in drawn]

    assert len({tuple(panel(7, f"idea-{number}")) for number in range(30)}) == 1
    assert len({tuple(panel(seed, "idea")) for seed in range(30)}) > 20
    masks = {
        draw_personas(PERSONAS, 1, 7, IdeaId(f"idea-{number}"), same_panel=True)[0].mask_seed
        for number in range(30)
    }
    assert len(masks) == 30, "what is withheld is drawn for each idea"


async def test_half_of_a_panel_is_drawn_near_a_field_and_nobody_twice() -> None:
    field = "Hospital physician, experienced in trials, safety and populations"
    near = await nearest_personas(PERSONAS, 2, field, WordEmbedder())
    assert near[0].persona_id == "clinician"
    assert await nearest_personas(PERSONAS[::-1], 2, field, WordEmbedder()) == near
    assert await nearest_personas(PERSONAS, 0, field, WordEmbedder()) == ()
    for seed in range(20):
        drawn = draw_personas(PERSONAS, 5, seed, IDEA, near=near)
        assert tuple(each.persona for each in drawn[:2]) == near
        assert len({each.persona.persona_id for each in drawn}) == 5


def test_more_personas_than_there_are_is_a_clear_error() -> None:
    with pytest.raises(ConfigurationError, match="ask for fewer, or add some"):
        draw_personas(PERSONAS[:2], 3, 7, IDEA)


@given(st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1), st.randoms(use_true_random=False))
def test_masks_are_nested_of_the_share_the_persona_knows_and_blind_to_order(
    seed: int, one: float, other: float, shuffler: random.Random
) -> None:
    less, more = sorted((one, other))
    knows = [
        familiar_knowledge(
            PanelMember(replace(PERSONAS[0], familiarity_papers_0_to_1=share), seed), RECORDS
        )
        for share in (less, more)
    ]
    assert knows[0] <= knows[1]
    papers = {each.knowledge_id for each in RECORDS if each.kind is SourceKind.PAPERS}
    assert len(knows[1] & papers) >= more * len(papers) - 1e-6
    assert len(knows[1] & papers) < more * len(papers) + 1
    shuffled = list(RECORDS)
    shuffler.shuffle(shuffled)
    assert (
        familiar_knowledge(
            PanelMember(replace(PERSONAS[0], familiarity_papers_0_to_1=more), seed), shuffled
        )
        == knows[1]
    )


def test_what_is_found_besides_does_not_change_which_of_two_items_is_known_first() -> None:
    """Masks go by what an item is: its number among the finds may differ from run to run."""
    persona = replace(PERSONAS[0], familiarity_papers_0_to_1=0.5)
    two = [record(1), record(2)]
    (known,) = familiar_knowledge(PanelMember(persona, 3), two)
    renumbered = [replace(each, knowledge_id=f"k{n + 7}") for n, each in enumerate(two)]
    (again,) = familiar_knowledge(PanelMember(persona, 3), renumbered)
    assert {"k1": "k7", "k2": "k8"}[known] == again
