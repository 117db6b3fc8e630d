"""Context of a knowledge search: parts of the idea, tools and failures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from schemas.base import replace
from schemas.failure import Failure, SourceFailure, look_up_failures
from schemas.idea import Idea
from schemas.judgement.committee import Claim, IdeaPart, KnowledgePhase
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Unscored
from schemas.profile import CommitteeParameters
from schemas.reasons import Reason
from tasks.committee.knowledge.tools import LITERATURE, KnowledgeTools
from tasks.committee.steps.prompt_inputs import PartShown
from tasks.judging.step import Engine
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
"""Parts in which each kind is grounded, as in InnoEval's release (grounding_agent.py,
`part_list`), with expected results for papers.
"""
GIST_WORDS = 120


@dataclass(frozen=True, slots=True)
class Outline:
    """Parts of an idea in their fixed order, without empty ones."""

    idea: Idea
    claims: dict[IdeaPart, tuple[str, ...]]

    @property
    def cutoff(self) -> date | None:
        return self.idea.cutoff_date

    @property
    def parts(self) -> tuple[IdeaPart, ...]:
        return tuple(self.claims)

    @property
    def gist(self) -> str:
        """Return title and TLDR as context of a claim.

        They suffice, in a tenth of the whole text.
        """
        tldr = (
            " ".join(self.claims.get(IdeaPart.TLDR, ()))
            or shorten_words(self.idea.text, GIST_WORDS)[0]
        )
        return f"{self.idea.title}\n\n{tldr}".strip() or self.idea.text

    def shown(self, part: IdeaPart) -> PartShown:
        return PartShown(part=part.value, claims=self.claims[part])

    def searched(self, kind: SourceKind) -> tuple[IdeaPart, ...]:
        return tuple(part for part in self.parts if part in GROUNDED[kind]) or self.parts


def outline_of(idea: Idea, claims: Sequence[Claim]) -> Outline:
    by_part = {
        part: tuple(claim.statement for claim in claims if claim.part is part) for part in IdeaPart
    }
    return Outline(idea, {part: statements for part, statements in by_part.items() if statements})


STAGE = "committee"
READING_STAGE = "documents"
"""Stage of unreadable pages, repositories and full texts. They leave an evaluation complete, because
they would fail in every rerun.
"""


@dataclass(slots=True)
class FailureLog:
    """Collects and counts the failures of one idea's search, in order.

    Attributes:
        unanswered_searches: failed searches, and sources that could not be searched at all.
    """

    unanswered_searches: int = 0
    _counts: Counter[Failure] = field(default_factory=Counter)

    def add(self, subject: str, reason: Reason, detail: str, stage: str = STAGE) -> None:
        self._counts[Failure(stage=stage, subject=subject, reason=reason, detail=detail)] += 1

    def look_ups(self, failures: Iterable[SourceFailure], subject: str, stage: str = STAGE) -> None:
        """Count failed look-ups, whose results are unknown, not absent."""
        self._counts.update(look_up_failures(failures, stage, subject))

    def searches(self, failures: Iterable[SourceFailure], source: str) -> None:
        failures = tuple(failures)
        self.unanswered_searches += bool(failures)
        self.look_ups(failures, f"search in {source}")

    def not_searched(self, source: str, reason: Reason, detail: str) -> None:
        self.unanswered_searches += 1
        self.add(source, reason, f"{source} was not searched: {detail}")

    def unscored(self, outcome: Unscored, subject: str) -> None:
        self.add(subject, outcome.reason, outcome.detail)

    def omission(self, subject: str, detail: str) -> None:
        self.add(subject, Reason.REPLY_UNPARSABLE, detail)

    def rows(self) -> tuple[Failure, ...]:
        """Return one row per distinct failure, with its count in the detail."""
        return tuple(
            failure if count == 1 else replace(failure, detail=f"{count} times: {failure.detail}")
            for failure, count in self._counts.items()
        )


@dataclass(frozen=True, slots=True)
class Context:
    outline: Outline
    parameters: CommitteeParameters
    engine: Engine
    tools: KnowledgeTools
    failures: FailureLog

    @property
    def phases(self) -> tuple[KnowledgePhase, ...]:
        """Return the phases to search.

        Later knowledge is searched only with a cutoff, and if the profile uses it.
        """
        has_later_phase = self.outline.cutoff is not None and self.parameters.use_later_knowledge
        return (
            (KnowledgePhase.BEFORE, KnowledgePhase.AFTER)
            if has_later_phase
            else (KnowledgePhase.BEFORE,)
        )

    @property
    def kinds(self) -> tuple[SourceKind, ...]:
        """Return the kinds with an open source of the profile."""
        open_kinds = {SourceKind.PAPERS} if LITERATURE in self.parameters.sources else set()
        open_kinds |= {
            source.kind
            for name, source in self.tools.sources.items()
            if name in self.parameters.sources
        }
        return tuple(kind for kind in SourceKind if kind in open_kinds)

    @property
    def as_of_year(self) -> int:
        """Reference year for the age of items."""
        return self.outline.cutoff.year if self.outline.cutoff else datetime.now(UTC).year
