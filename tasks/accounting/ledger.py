"""Ledger of an idea: ordered calls, failures, and citations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from schemas.calls import ApiCall, LlmCall
from schemas.failure import LEFT_OUT, Failure
from schemas.identifiers import IdeaId, PaperId
from schemas.judging import JudgeVote
from schemas.literature.paper import CitationEdge
from schemas.reasons import Reason
from tasks.telemetry.reporting import model_calls, source_calls
from tasks.text.words import shorten_words

_NAME_CHARACTERS = 12
"""Length of identifiers, as in the gateway's header of left-out papers."""
_TITLE_WORDS = 12
_MOST_NAMED = 5


@dataclass(slots=True)
class Ledger:
    """The calls and failures of one idea during its evaluation.

    It is not shared between ideas.

    Attributes:
        unit: path (`Kind.unit_path`) of the unit that the calls land with; empty: none.
        retracted: titles of excluded retracted works, by each of their identifiers.
    """

    idea_id: IdeaId
    unit: str = ""
    llm_calls: list[LlmCall] = field(default_factory=model_calls)
    api_calls: list[ApiCall] = field(default_factory=source_calls)
    failures: list[Failure] = field(default_factory=list)
    judge_votes: list[JudgeVote] = field(default_factory=list)
    _left_out: dict[Reason, dict[str, str]] = field(default_factory=dict)
    _edges: dict[tuple[PaperId, PaperId], CitationEdge] = field(default_factory=dict)
    retracted: dict[str, str] = field(default_factory=dict)
    counted_requests: int = 0
    requests_counted_before: int = 0

    @property
    def citation_edges(self) -> list[CitationEdge]:
        """The citations, ordered by paper ids.

        Parts of an evaluation run concurrently, so the order of arrival would vary.
        """
        return [self._edges[ends] for ends in sorted(self._edges)]

    def meet(self, edges: Iterable[CitationEdge]) -> None:
        """Add citations, each once; an edge with contexts replaces one without."""
        for edge in edges:
            known_edge = self._edges.get((edge.citing_paper_id, edge.cited_paper_id))
            if known_edge is None or known_edge.contexts is None:
                self._edges[edge.citing_paper_id, edge.cited_paper_id] = edge

    def leave_out(
        self, reason: Reason, papers: Mapping[str, str], cutoff: date | None = None
    ) -> None:
        """Record excluded papers, each once, in one failure per reason.

        Args:
            papers: titles by identifier; a title may be empty.
        """
        titles = self._left_out.setdefault(reason, {})
        size = len(titles)
        for paper_id, title in papers.items():
            name = paper_id[:_NAME_CHARACTERS]
            titles[name] = titles.get(name) or title
        if len(titles) > size:
            subject, detail = _in_words(reason, titles, cutoff)
            others = [one for one in self.failures if (one.reason, one.stage) != (reason, LEFT_OUT)]
            failure = Failure(stage=LEFT_OUT, subject=subject, reason=reason, detail=detail)
            self.failures[:] = [*others, failure]

    def is_new_request(self) -> bool:
        """Count a literature request.

        Return whether no earlier attempt of the idea made it.
        """
        self.counted_requests += 1
        return self.counted_requests > self.requests_counted_before


def _in_words(reason: Reason, papers: Mapping[str, str], cutoff: date | None) -> tuple[str, str]:
    """Return subject and detail of the failure for excluded papers."""
    count = "1 paper" if len(papers) == 1 else f"{len(papers):,} papers"
    if reason is Reason.AFTER_CUTOFF:
        detail = f"{count} may have appeared after the cutoff {cutoff} and counted for nothing"
        return f"papers after {cutoff}", detail
    if reason is Reason.NO_DATE:
        detail = (
            f"{count} without a date that can be read counted for nothing, as there is a cutoff"
        )
        return "papers without a date", detail
    titles = sorted(filter(None, papers.values()))
    listed_titles = [f"“{shorten_words(title, _TITLE_WORDS)[0]}”" for title in titles[:_MOST_NAMED]]
    unlisted_count = len(papers) - len(listed_titles)
    remainder = f" and {unlisted_count:,} more" if unlisted_count else ""
    examples = f" ({', '.join(listed_titles)}{remainder})" if listed_titles else ""
    detail = (
        f"{count} counted for nothing: retracted, withdrawn, under an expression of concern, or"
        f" a notice{examples}"
    )
    return "retracted or withdrawn papers", detail
