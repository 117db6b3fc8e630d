"""What the offline engine proposes: sentences that judge, classified by words and headings."""

import pytest

from schemas.works.curation import StatementAxis, StatementSeverity, StatementType
from tasks.curation.steps import (
    About,
    CriticismInput,
    CriticismReply,
    ShownSentence,
    StatementsInput,
    baseline_criticism,
    baseline_statements,
)
from tasks.judging.step import BaselineTools, NoAnswer
from tests.support.contribution_fakes import WordEmbedder

TOOLS = BaselineTools(WordEmbedder())
IDEA = "We will train a router that skips layers for easy tokens."


async def proposed(review: str) -> dict[str, About | None]:
    reply = await baseline_criticism(CriticismInput(idea=IDEA, review=review), TOOLS)
    assert isinstance(reply, CriticismReply)
    return {each.quote: each.about for each in reply.sentences}


@pytest.mark.parametrize(
    ("sentence", "about"),
    [
        ("The router lacks any knowledge of the context.", About.IDEA),
        ("The results on the router are not convincing at all.", About.RESULTS),
        ("The text about the router has many typos in it.", About.WRITING),
        ("The choice of colleagues is a serious limitation here.", About.OTHER),
    ],
)
async def test_a_sentence_that_judges_is_sorted_by_what_it_is_about(
    sentence: str, about: About
) -> None:
    assert await proposed(f"## Weaknesses\n\n{sentence}") == {sentence: about}


async def test_summaries_of_the_paper_are_no_criticism() -> None:
    review = (
        "## Summary\n\nA novel router is trained to skip layers.\n\n## Comments\n\nThis paper"
        " proposes a novel router that skips layers."
    )
    assert await proposed(review) == {}


async def test_a_review_without_a_sentence_has_no_answer() -> None:
    reply = await baseline_criticism(CriticismInput(idea=IDEA, review="## ?"), TOOLS)
    assert isinstance(reply, NoAnswer)


@pytest.mark.parametrize(
    ("heading", "text", "kind"),
    [
        ("Strengths", "It could be useful.", ("strength", "soundness", "minor")),
        ("Minor comments", "A major concern is cost.", ("weakness", "soundness", "minor")),
        ("Main concerns", "The novelty is small.", ("weakness", "contribution", "major")),
        ("", "A serious flaw is that it is not tested.", ("weakness", "soundness", "major")),
    ],
)
async def test_headings_go_before_words(heading: str, text: str, kind: tuple[str, ...]) -> None:
    shown = (ShownSentence(key="s1", heading=heading, text=text),)
    (found,) = (
        await baseline_statements(StatementsInput(idea=IDEA, sentences=shown), TOOLS)
    ).statements
    assert (found.type, found.axis, found.severity) == (
        StatementType(kind[0]),
        StatementAxis(kind[1]),
        StatementSeverity(kind[2]),
    )
