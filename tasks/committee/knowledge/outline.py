"""The idea as the search sees it: its parts with their claims, its gist, and which kinds of
knowledge bear on which part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from schemas.committee import Claim, IdeaPart
from schemas.idea import Idea
from schemas.knowledge import SourceKind
from tasks.committee.knowledge.steps.shown import PartShown
from tasks.text.words import shorten_words

GROUNDED: dict[SourceKind, tuple[IdeaPart, ...]] = {
    SourceKind.PAPERS: tuple(IdeaPart),
    SourceKind.WEB: (
        IdeaPart.TLDR,
        IdeaPart.MOTIVATIONS,
        IdeaPart.RESEARCH_QUESTIONS,
        IdeaPart.METHODS,
    ),
    SourceKind.CODE: (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS),
}
"""Parts each kind is held against, as InnoEval's release has it (grounding_agent.py, `part_list`),
with expected results for papers.
"""
GIST_WORDS = 120


@dataclass(frozen=True, slots=True)
class Outline:
    """An idea's parts in their fixed order; parts without claims are absent."""

    idea: Idea
    claims: dict[IdeaPart, tuple[str, ...]]

    @property
    def cutoff(self) -> date | None:
        """The time point t."""
        return self.idea.cutoff_date

    @property
    def parts(self) -> tuple[IdeaPart, ...]:
        return tuple(self.claims)

    @property
    def gist(self) -> str:
        """Title and TLDR: enough to read a claim by, a tenth of the whole text."""
        tldr = (
            " ".join(self.claims.get(IdeaPart.TLDR, ()))
            or shorten_words(self.idea.text, GIST_WORDS)[0]
        )
        return f"{self.idea.title}\n\n{tldr}".strip() or self.idea.text

    def shown(self, part: IdeaPart) -> PartShown:
        return PartShown(part=part.value, claims=self.claims[part])

    def searched(self, kind: SourceKind) -> tuple[IdeaPart, ...]:
        """Parts for which a kind is searched and against which its finds are held; all there are if
        none of its own is.
        """
        return tuple(part for part in self.parts if part in GROUNDED[kind]) or self.parts


def outline_of(idea: Idea, claims: Sequence[Claim]) -> Outline:
    """The claims by part, in the order of the parts."""
    by_part = {
        part: tuple(claim.statement for claim in claims if claim.part is part) for part in IdeaPart
    }
    return Outline(idea, {part: statements for part, statements in by_part.items() if statements})
