"""`structure_idea`: an idea's parts, each a list of atomic claims.

Baseline: sentences sorted into the six parts by the headings above them and by their wording.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.committee import IdeaPart
from schemas.reasons import Reason
from tasks.committee.steps.part_cues import part_of_heading, part_of_sentence
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import rank_sentences, sections_of_markdown, sentences, words


class StructureInput(Noun):
    """Input of `structure_idea`."""

    idea: str = Field(min_length=1)


def _listed(value: object) -> object:
    """Models write null for a part without claims, and a single claim without its brackets."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


Claims = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class StructureReply(Reply):
    """Reply to `structure_idea`: each part a list of atomic claims, empty where the idea has none."""

    tldr: Claims
    motivations: Claims
    research_questions: Claims
    methods: Claims
    experimental_settings: Claims
    expected_results: Claims

    def claims(self) -> dict[IdeaPart, tuple[str, ...]]:
        """Statements by part, in the order of the parts; blank and repeated ones are left out."""
        stated = {
            part: (" ".join(text.split()) for text in getattr(self, part.value))
            for part in IdeaPart
        }
        return {
            part: tuple(dict.fromkeys(text for text in texts if text))
            for part, texts in stated.items()
        }


CLAIMS_PER_PART = 8
_SHORTEST_CLAIM_WORDS = 4


async def baseline_structure(
    inputs: StructureInput, tools: BaselineTools
) -> StructureReply | NoAnswer:
    """Each claim is a sentence of the idea, word for word. A part that no sentence serves stays empty."""
    del tools
    sorted_claims = _sorted(inputs.idea)
    if not any(sorted_claims.values()):
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "the text holds no sentence that claims anything")
    return StructureReply(
        **{
            part.value: tuple(_weightiest(inputs.idea, claims))
            for part, claims in sorted_claims.items()
        }
    )


def _sorted(idea: str) -> dict[IdeaPart, list[str]]:
    found: dict[IdeaPart, list[str]] = {part: [] for part in IdeaPart}
    unsorted: list[str] = []
    sections = sections_of_markdown(idea)
    for heading, body in sections:
        under = part_of_heading(heading)
        for claim in _claims(body):
            part = part_of_sentence(claim, under)
            (found[part] if part is not None else unsorted).append(claim)
    if not found[IdeaPart.TLDR]:
        found[IdeaPart.TLDR] = _gist(
            sections, [claim for claims in found.values() for claim in claims] or unsorted, idea
        )
    return found


def _claims(body: str) -> list[str]:
    """Sentences, taken apart at semicolons where both sides can stand alone."""
    found: list[str] = []
    for sentence in sentences(body):
        pieces = [piece.strip() for piece in sentence.split("; ")]
        apart = all(len(words(piece)) >= 2 * _SHORTEST_CLAIM_WORDS for piece in pieces)
        found.extend(
            piece
            for piece in (pieces if apart else [sentence])
            if len(words(piece)) >= _SHORTEST_CLAIM_WORDS
        )
    return found


def _gist(sections: list[tuple[str, str]], claims: list[str], idea: str) -> list[str]:
    """The title where it says something, else the sentence nearest to the whole."""
    title = next((heading for heading, _ in sections if heading), "")
    if len(words(title)) >= _SHORTEST_CLAIM_WORDS and part_of_heading(title) is None:
        return [title]
    return [claim for _, claim in rank_sentences(idea, claims, 1)]


def _weightiest(idea: str, claims: list[str]) -> list[str]:
    """At most `CLAIMS_PER_PART`, those nearest to the whole text, in the order of the text."""
    unique = list(dict.fromkeys(claims))
    kept = {claim for _, claim in rank_sentences(idea, unique, CLAIMS_PER_PART)}
    return [claim for claim in unique if claim in kept]


STRUCTURE_IDEA = Step(
    name="structure_idea",
    version=1,
    package="tasks.committee",
    input_model=StructureInput,
    output_model=StructureReply,
    baseline=baseline_structure,
)
