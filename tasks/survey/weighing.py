"""Which of the relevant papers a survey keeps, and in what order: relevance first, then quality and
recency.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.survey import Edge, SurveyPaper, SurveyParameters
from tasks.judging.relevance import Judgement

LINK_SHARE = 0.2
QUALITY_SHARE = 0.1
RECENCY_SHARE = 0.05
"""What links to other relevant papers, citations and age may add to a weight of 1 for the highest
relevance: together they outweigh one point of relevance, never two.
"""
HALF_LIFE_YEARS = 8
UNKNOWN = 0.5
"""Counted for a paper whose citations or year are not known: neither for nor against it."""


@dataclass(slots=True)
class Lead:
    """A paper that was reached, and how.

    `links`: the relevant papers it is joined to, each with how relevant that one is. `versions`:
    the other versions of the work that were reached.
    """

    paper: Paper
    layer: int
    edge: Edge
    reached_from: str
    links: dict[PaperId, int] = field(default_factory=dict)
    versions: tuple[PaperId, ...] = ()

    @property
    def pull(self) -> float:
        """How strongly relevant papers point to it; a hub, to which everything points, counts
        less for each link.
        """
        return sum(self.links.values()) / math.log2(4 + (self.paper.citation_count or 0))


def weighed(
    leads: Sequence[Lead],
    judged: Mapping[PaperId, Judgement],
    parameters: SurveyParameters,
    cutoff: date | None,
) -> tuple[SurveyPaper, ...]:
    """Every lead with its judgement, weight and whether it is kept; in the order given.

    The heaviest `maximum_papers` of the relevant ones are kept; ties go to the smaller paper_id.
    """
    scores = {lead.paper.paper_id: judged[lead.paper.paper_id].score for lead in leads}
    relevant = [
        lead.paper
        for lead in leads
        if (scores[lead.paper.paper_id] or 0) >= parameters.least_relevance
    ]
    now = _newest_year(relevant, cutoff)
    rates = {paper.paper_id: _citations_a_year(paper, now) for paper in relevant}
    quality = _shares_below(rates)
    joined = _shares_below(
        {lead.paper.paper_id: lead.pull for lead in leads if lead.paper.paper_id in rates}
    )
    recency = {paper.paper_id: _recency(paper, now) for paper in relevant}
    weights = {
        paper.paper_id: _weight(
            scores[paper.paper_id] or 0,
            joined[paper.paper_id],
            quality[paper.paper_id],
            recency[paper.paper_id],
        )
        for paper in relevant
    }
    kept = set(
        sorted(weights, key=lambda name: (-weights[name], name))[: parameters.maximum_papers]
    )
    return tuple(
        SurveyPaper(
            paper_id=(name := lead.paper.paper_id),
            text=lead.paper,
            layer=lead.layer,
            edge=lead.edge,
            reached_from=lead.reached_from,
            link_count=len(lead.links),
            other_version_ids=lead.versions,
            relevance_0_to_5=scores[name],
            rationale=judged[name].rationale,
            kept=name in kept,
            weight=weights.get(name),
            quality_0_to_1=quality.get(name),
            recency_0_to_1=recency.get(name),
            unscored_reason=judged[name].unscored_reason,
            provenance=judged[name].provenance,
        )
        for lead in leads
    )


def _newest_year(papers: Sequence[Paper], cutoff: date | None) -> int | None:
    """The year of the cutoff; without one, that of the newest paper, so that a survey made again
    weighs alike.
    """
    if cutoff is not None:
        return cutoff.year
    return max((paper.year for paper in papers if paper.year is not None), default=None)


def _citations_a_year(paper: Paper, now: int | None) -> float | None:
    if paper.citation_count is None or paper.year is None or now is None:
        return None
    return paper.citation_count / max(now - paper.year + 1, 1)


def _shares_below(values: Mapping[PaperId, float | None]) -> dict[PaperId, float | None]:
    """Of each the share of the known values that are smaller."""
    known = sorted(value for value in values.values() if value is not None)
    return {
        name: round(bisect_left(known, value) / len(known), 4) if value is not None else None
        for name, value in values.items()
    }


def _recency(paper: Paper, now: int | None) -> float | None:
    if paper.year is None or now is None:
        return None
    return round(math.pow(0.5, max(now - paper.year, 0) / HALF_LIFE_YEARS), 4)


def _weight(
    score: int, joined: float | None, quality: float | None, recency: float | None
) -> float:
    added = LINK_SHARE * (joined or 0.0)
    added += QUALITY_SHARE * (UNKNOWN if quality is None else quality)
    added += RECENCY_SHARE * (UNKNOWN if recency is None else recency)
    return round(score / 5 + added, 4)
