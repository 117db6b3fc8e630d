"""Ideas of any shape in six parts: by headings, by wording, or with parts missing."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.committee import IdeaPart
from schemas.reasons import Reason
from tasks.committee.evaluate import StructuredIdea, structure_idea
from tasks.committee.steps.structure_idea import (
    CLAIMS_PER_PART,
    StructureInput,
    StructureReply,
    baseline_structure,
)
from tasks.judging.step import BaselineTools, NoAnswer
from tests.support.contribution_fakes import FakeEngine, WordEmbedder

TOOLS = BaselineTools(embedder=WordEmbedder())
HEADED = """# Learned hashing for sparse attention

## Problem
Transformers read long documents slowly. It is unclear whether learned buckets keep accuracy.

## Method
We train a hash function jointly with the model; each query attends to the keys of its own bucket only.

## Experiment Design
We compare with dense attention on three benchmarks of long documents. We expect half the memory at equal accuracy.
"""
PLAIN = (
    "Dense attention is too expensive for long documents. We propose to route queries by learned"
    " hashing. We will evaluate on two benchmarks against dense baselines. We expect that memory"
    " falls by half. Can accuracy be kept?"
)


async def claims(text: str) -> dict[IdeaPart, tuple[str, ...]]:
    reply = await baseline_structure(StructureInput(idea=text), TOOLS)
    assert isinstance(reply, StructureReply)
    return reply.claims()


async def test_headings_and_wording_sort_the_sentences() -> None:
    found = await claims(HEADED)
    assert found[IdeaPart.TLDR] == ("Learned hashing for sparse attention",)
    assert found[IdeaPart.MOTIVATIONS] == ("Transformers read long documents slowly.",)
    assert found[IdeaPart.RESEARCH_QUESTIONS] == (
        "It is unclear whether learned buckets keep accuracy.",
    )
    assert found[IdeaPart.METHODS][0].startswith("We train a hash function")
    assert found[IdeaPart.EXPERIMENTAL_SETTINGS] == (
        "We compare with dense attention on three benchmarks of long documents.",
    )
    assert found[IdeaPart.EXPECTED_RESULTS] == ("We expect half the memory at equal accuracy.",)


async def test_free_text_is_sorted_by_its_wording_alone() -> None:
    found = await claims(PLAIN)
    assert [len(found[part]) for part in IdeaPart] == [1, 1, 1, 1, 1, 1]
    assert found[IdeaPart.METHODS] == ("We propose to route queries by learned hashing.",)


async def structured(
    text: str = "Something.", reply: StructureReply | None = None
) -> StructuredIdea:
    answers = {"structure_idea": lambda _: reply} if reply else {}
    idea = Idea(idea_id=IdeaId("bare"), title="Bare", text=text)
    return await structure_idea(idea, FakeEngine(WordEmbedder(), answers))


async def test_an_idea_without_a_method_goes_on_and_says_what_it_lacks() -> None:
    found = await structured(
        "Dense attention is too expensive for long documents. However, nobody knows why."
    )
    assert found.unscored is None
    assert {claim.part for claim in found.claims} == {IdeaPart.TLDR, IdeaPart.MOTIVATIONS}
    (failure,) = found.failures
    assert "does not have: methods, experimental settings" in failure.detail
    assert [bool(part.claims) for part in found.parts] == [True, True] + 4 * [False]


def claiming(**parts: tuple[str, ...]) -> StructureReply:
    return StructureReply(**(dict.fromkeys(map(str, IdeaPart), ()) | parts))


async def test_a_text_or_a_reply_that_claims_nothing_is_nothing_to_judge() -> None:
    answer = await baseline_structure(StructureInput(idea="Hm."), TOOLS)
    assert isinstance(answer, NoAnswer)
    found = await structured(reply=claiming(motivations=(" ",)))
    assert answer.reason is found.unscored.reason is Reason.NOTHING_TO_JUDGE


async def test_claims_are_numbered_in_the_order_of_the_parts_and_none_is_said_twice() -> None:
    reply = claiming(tldr=("One.", "One."), methods=("Two\n lines.",), experimental_settings=("S",))
    found = await structured(reply=reply)
    assert [(claim.claim_id, claim.statement) for claim in found.claims] == [
        ("c1", "One."),
        ("c2", "Two lines."),
        ("c3", "S"),
    ]


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([*HEADED.splitlines(), *PLAIN.split(". "), "- ", "```", "# "])).map(
        "\n".join
    )
)
async def test_no_text_breaks_the_baseline_and_every_claim_is_the_idea_s_own(text: str) -> None:
    if not text:
        return
    reply = await baseline_structure(StructureInput(idea=text), TOOLS)
    if isinstance(reply, NoAnswer):
        return
    flat = " ".join(text.split())
    for statements in reply.claims().values():
        assert len(statements) <= CLAIMS_PER_PART
        assert all(word in flat for statement in statements for word in statement.split())
