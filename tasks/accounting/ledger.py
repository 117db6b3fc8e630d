"""The ledger of one idea's evaluation: every call made for it, in order, and the citations that its
look-ups met.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.identifiers import IdeaId, PaperId
from schemas.judging import JudgeVote
from schemas.paper import CitationEdge
from tasks.telemetry.reporting import model_calls, source_calls


@dataclass(slots=True)
class Ledger:
    """Collects the calls and failures of one idea while its evaluation runs.

    Not shared between ideas.

    Attributes:
        unit: whose landing takes the calls along, by `Kind.unit_path`; empty: nothing lands.
    """

    idea_id: IdeaId
    unit: str = ""
    llm_calls: list[LlmCall] = field(default_factory=model_calls)
    api_calls: list[ApiCall] = field(default_factory=source_calls)
    failures: list[Failure] = field(default_factory=list)
    judge_votes: list[JudgeVote] = field(default_factory=list)
    _edges: dict[tuple[PaperId, PaperId], CitationEdge] = field(default_factory=dict)
    counted_requests: int = 0
    requests_counted_before: int = 0

    @property
    def citation_edges(self) -> list[CitationEdge]:
        """By the identifiers of their papers: parts of an evaluation go on side by side."""
        return [self._edges[ends] for ends in sorted(self._edges)]

    def meet(self, edges: Iterable[CitationEdge]) -> None:
        """Keep each citation once; one that knows its passages rather than one that does not."""
        for edge in edges:
            known = self._edges.get((edge.citing_paper_id, edge.cited_paper_id))
            if known is None or known.contexts is None:
                self._edges[edge.citing_paper_id, edge.cited_paper_id] = edge

    def is_new_request(self) -> bool:
        """Whether the next literature request is one that no earlier start of the idea made."""
        self.counted_requests += 1
        return self.counted_requests > self.requests_counted_before
