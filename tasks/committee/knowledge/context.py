"""What every part of one search shares."""

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.committee import KnowledgePhase
from schemas.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from tasks.committee.knowledge.failure_log import FailureLog
from tasks.committee.knowledge.outline import Outline
from tasks.committee.knowledge.tools import LITERATURE, KnowledgeTools
from tasks.judging.step import Engine


@dataclass(frozen=True, slots=True)
class Context:
    """One idea, the means, and the failures met so far."""

    outline: Outline
    parameters: CommitteeParameters
    engine: Engine
    tools: KnowledgeTools
    failures: FailureLog

    @property
    def phases(self) -> tuple[KnowledgePhase, ...]:
        """Without a cutoff everything is known before; later knowledge is searched where the
        profile wants it.
        """
        later = self.outline.cutoff is not None and self.parameters.use_later_knowledge
        return (KnowledgePhase.BEFORE, KnowledgePhase.AFTER) if later else (KnowledgePhase.BEFORE,)

    @property
    def kinds(self) -> tuple[SourceKind, ...]:
        """Kinds for which some source named by the profile stands open."""
        open_kinds = {SourceKind.PAPERS} if LITERATURE in self.parameters.sources else set()
        open_kinds |= {
            source.kind
            for name, source in self.tools.sources.items()
            if name in self.parameters.sources
        }
        return tuple(kind for kind in SourceKind if kind in open_kinds)

    @property
    def as_of_year(self) -> int:
        """The year against which the age of things is reckoned."""
        return self.outline.cutoff.year if self.outline.cutoff else datetime.now(UTC).year
