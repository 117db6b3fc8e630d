"""Recommendation of resources (data sets, baselines, metrics) that works near an idea used.

Chain: a work near the idea used a data set; other works used it too; what they compare with is a
baseline. Everything recommended is the paper of a reference, or a metric that a work names.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import attrgetter

from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.recommendation import (
    RECOMMENDED,
    Recommendation,
    Resource,
    ResourceKind,
    Use,
)
from tasks.embeddings.similarity import Nearness, SharedWords, fused, paper_text
from tasks.literature.client import LiteratureClient
from tasks.recommendation.uses import STATED, data_sets_in, metrics_in, passages, plainness, uses_of
from tasks.text.words import key_phrases

SHARPNESS = 6
"""Exponent of a work's nearness in its weight; it favours the nearest works."""
BY_WORKS, BY_DESCRIPTION, BY_WORDS = 2.0, 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for a resource, compared with that for the other resources.

    Attributes:
        works: for each work that used it, its nearness to the idea, 0 to 1, and how explicitly it says
            so, 1: in a passage.
        description: similarity of the resource's own text to the idea; None: it has none.
        words: what the two texts share, by BM25; None: it has no text.
    """

    works: Sequence[tuple[float, float]] = ()
    description: float | None = None
    words: float | None = None


def in_order(evidence: Mapping[str, Evidence]) -> list[tuple[str, float]]:
    """Return names with scores from 0 to 1, best first.

    Ties are ordered by name.
    """
    total, total_weight = dict.fromkeys(evidence, 0.0), 0.0
    for weight, value_of in (
        (BY_WORKS, _worth_of_works),
        (BY_DESCRIPTION, attrgetter("description")),
        (BY_WORDS, attrgetter("words")),
    ):
        values = {name: value_of(each) for name, each in evidence.items()}
        present = [value for value in values.values() if value is not None]
        if not present or max(present) <= 0.0:
            continue
        # Each part is scaled from its least value, 0, to its best; an unknown value is the least.
        all_differ = len(present) == len(values) and max(present) > min(present)
        least = min(present) if all_differ else 0.0
        total_weight += weight
        for name, value in values.items():
            if value is not None:
                total[name] += weight * (value - least) / (max(present) - least)
    scores = {name: round(value / (total_weight or 1.0), 4) for name, value in total.items()}
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))


def _worth_of_works(evidence: Evidence) -> float:
    return math.fsum(plainly * nearness**SHARPNESS for nearness, plainly in evidence.works)


CHAINED = 0.5
"""Weight of a use found through a data set, relative to one by a work near the idea."""
_VERBS = {
    ResourceKind.DATA_SET: "used",
    ResourceKind.BASELINE: "compared with",
    ResourceKind.METRIC: "measured by",
}


EarlierUses = Callable[[Sequence[PaperId]], Sequence[Resource]]
"""Look-up of the resources that papers used, as from earlier evaluations."""


def no_earlier_uses(papers: Sequence[PaperId]) -> tuple[Resource, ...]:
    del papers
    return ()


_QUERIES, _PAPERS_PER_QUERY, _REFERENCES_PER_WORK = 4, 25, 100
_CHAINED_DATA_SETS, _WORKS_PER_DATA_SET, _SHOWN_USES = 3, 8, 3


@dataclass(frozen=True, slots=True)
class Recommended:
    """Recommendations by kind and rank.

    Attributes:
        near_works: number of works near the idea.
        known_contexts: of how many citations it is known how they cite; without any, baselines
            cannot be told from other references.
        citations: number of citations read.
        known_resources: number of uses known from earlier evaluations.
        failures: look-ups that failed, so that recommendations may be missing.
    """

    recommendations: tuple[Recommendation, ...]
    near_works: int
    citations: int
    known_contexts: int
    failures: tuple[SourceFailure, ...]
    known_resources: int = 0


@dataclass(frozen=True, slots=True)
class _ResourceUse:
    kind: ResourceKind
    name: str
    paper: Paper | None
    weight: float
    use: Use


async def recommend(
    idea: str,
    literature: LiteratureClient,
    nearness: Nearness,
    cutoff: date | None,
    earlier_uses: EarlierUses = no_earlier_uses,
    *,
    limit: int = 5,
    most_works: int = 25,
) -> Recommended:
    """Recommend resources that works near the idea used, best first by kind.

    Each has the passages that mention it.

    Works published after `cutoff` are excluded.

    Args:
        limit: recommendations of each kind.
        most_works: limit of works near the idea.
    """
    look_up = _LookUp(idea, literature, nearness, cutoff, earlier_uses)
    near_works = await look_up.near_works(most_works)
    uses = await look_up.uses_in(near_works, {})
    uses += look_up.in_abstracts(near_works)
    ranked_resources = _rank(uses, limit, await look_up.about(uses))
    data_sets = [each for each in ranked_resources if each.kind is ResourceKind.DATA_SET]
    near_ids = {each.paper_id for each in near_works}
    uses += await look_up.chained(data_sets[:_CHAINED_DATA_SETS], near_ids)
    return Recommended(
        tuple(_rank(uses, limit, await look_up.about(uses))),
        len(near_works),
        look_up.citations,
        look_up.known_contexts,
        tuple(dict.fromkeys(look_up.failures)),
        look_up.known_resources,
    )


@dataclass(slots=True)
class _LookUp:
    idea: str
    literature: LiteratureClient
    nearness: Nearness
    cutoff: date | None
    earlier_uses: EarlierUses
    nearness_of: dict[PaperId, float] = field(default_factory=dict)
    failures: list[SourceFailure] = field(default_factory=list)
    citations: int = 0
    known_contexts: int = 0
    known_resources: int = 0

    async def near_works(self, limit: int) -> list[Paper]:
        """Return the works nearest to the idea, by embedding and shared words alike."""
        works: dict[PaperId, Paper] = {}
        for query in dict.fromkeys([self.idea[:300], *key_phrases(self.idea, _QUERIES - 1)]):
            answer = await self.literature.search_papers(query, _PAPERS_PER_QUERY, self.cutoff)
            self.failures.extend(answer.failures)
            works.update((paper.paper_id, paper) for paper in answer.items)
        return await self._nearest(list(works.values()), limit)

    async def _nearest(self, papers: Sequence[Paper], limit: int) -> list[Paper]:
        if not papers:
            return []
        values = await self.nearness.of([paper_text(each.title, each.abstract) for each in papers])
        similarities = {paper.paper_id: value for paper, value in zip(papers, values, strict=True)}
        self.nearness_of.update(similarities)
        fused_scores = fused([similarities, SharedWords(papers).with_text(self.idea)])
        return sorted(papers, key=lambda each: (-fused_scores[each.paper_id], each.paper_id))[
            :limit
        ]

    async def uses_in(
        self, works: Sequence[Paper], data_set_by_paper: dict[PaperId, str]
    ) -> list[_ResourceUse]:
        by_id = {work.paper_id: work for work in works}
        answer = await self.literature.references(list(by_id), _REFERENCES_PER_WORK, self.cutoff)
        self.failures.extend(answer.failures)
        uses: list[_ResourceUse] = []
        for edge, cited_paper in answer.items:
            self.citations += 1
            self.known_contexts += edge.contexts is not None
            work = by_id.get(edge.citing_paper_id)
            if work is None or cited_paper.paper_id == work.paper_id:
                continue
            data_set_name = data_set_by_paper.get(work.paper_id)
            for stated_use in uses_of(edge, cited_paper):
                use = self._use(work, stated_use.quote, stated_use.section, data_set_name)
                uses.append(
                    _ResourceUse(
                        stated_use.kind, cited_paper.title, cited_paper, stated_use.weight, use
                    )
                )
            for passage, section in passages(edge):
                for name, quote in data_sets_in(passage).items():
                    use = self._use(work, quote, section, data_set_name)
                    uses.append(_ResourceUse(ResourceKind.DATA_SET, name, None, STATED, use))
        return [*uses, *self._earlier_uses(by_id, data_set_by_paper)]

    def _earlier_uses(
        self, works: Mapping[PaperId, Paper], data_set_by_paper: Mapping[PaperId, str]
    ) -> Iterator[_ResourceUse]:
        """Yield the uses that earlier evaluations found in the works.

        A work's statement about its own resource is not a use.
        """
        for row in self.earlier_uses(list(works)):
            work, resource_id = works.get(row.paper_id), row.resource_paper_id
            if work is None or resource_id == row.paper_id or row.kind not in RECOMMENDED:
                continue
            self.known_resources += 1
            paper = Paper(paper_id=resource_id, title=row.name) if resource_id is not None else None
            use = self._use(work, row.quote, row.section, data_set_by_paper.get(work.paper_id))
            yield _ResourceUse(row.kind, row.name, paper, plainness(row.section), use)

    async def chained(
        self, data_sets: Sequence[Recommendation], near_ids: set[PaperId]
    ) -> list[_ResourceUse]:
        """Return baselines of other works that used the same data sets."""
        data_set_by_paper: dict[PaperId, str] = {}
        other_works: dict[PaperId, Paper] = {}
        for each in data_sets:
            users = [one for one in await self._users(each) if one.paper_id not in near_ids]
            for work in await self._nearest(users, _WORKS_PER_DATA_SET):
                data_set_by_paper.setdefault(work.paper_id, each.name)
                other_works.setdefault(work.paper_id, work)
        uses = (
            await self.uses_in(list(other_works.values()), data_set_by_paper) if other_works else []
        )
        return [each for each in uses if each.kind is ResourceKind.BASELINE]

    async def _users(self, data_set: Recommendation) -> list[Paper]:
        """Return works that use the data set, by citations of its paper.

        Of a data set known by name alone, they are the works whose abstract names it.
        """
        limit = 10 * _WORKS_PER_DATA_SET
        if data_set.paper_id is None:
            hits = await self.literature.search_papers(data_set.name, limit, self.cutoff)
            self.failures.extend(hits.failures)
            name = data_set.name.casefold()
            return [work for work in hits.items if name in (work.abstract or "").casefold()]
        data_set_paper = Paper(paper_id=data_set.paper_id, title=data_set.name)
        answer = await self.literature.citations([data_set.paper_id], limit, self.cutoff)
        self.failures.extend(answer.failures)
        return [work for edge, work in answer.items if uses_of(edge, data_set_paper)]

    async def about(self, uses: Iterable[_ResourceUse]) -> dict[PaperId, tuple[float, float]]:
        """Return similarity and shared words of the papers of resources with the idea."""
        # A paper that was looked up takes precedence over the same paper known by name alone.
        resource_papers = [each.paper for each in uses if each.paper is not None]
        papers = list({paper.paper_id: paper for paper in reversed(resource_papers)}.values())
        if not papers:
            return {}
        nearness = await self.nearness.of(
            [paper_text(each.title, each.abstract) for each in papers]
        )
        words = SharedWords(papers).with_text(self.idea)
        return {
            paper.paper_id: (value, words[paper.paper_id])
            for paper, value in zip(papers, nearness, strict=True)
        }

    def in_abstracts(self, works: Iterable[Paper]) -> Iterator[_ResourceUse]:
        """Yield the metrics and data sets that the abstracts of works name."""
        for work in works:
            abstract = work.abstract or ""
            for kind, quote_by_name in (
                (ResourceKind.METRIC, metrics_in(abstract)),
                (ResourceKind.DATA_SET, data_sets_in(abstract)),
            ):
                for name, quote in quote_by_name.items():
                    use = self._use(work, quote, "Abstract", None)
                    yield _ResourceUse(kind, name, None, STATED, use)

    def _use(self, work: Paper, quote: str | None, section: str, data_set_name: str | None) -> Use:
        return Use(
            paper_id=work.paper_id,
            title=work.title,
            year=work.year,
            url=work.url,
            quote=quote,
            section=section,
            nearness_0_to_1=self.nearness_of.get(work.paper_id, 0.0),
            through=data_set_name,
        )


def _rank(
    resource_uses: Iterable[_ResourceUse],
    limit: int,
    closeness_by_paper: Mapping[PaperId, tuple[float, float]],
) -> list[Recommendation]:
    """Return the best resources of each kind."""
    by_kind: dict[ResourceKind, dict[str, list[_ResourceUse]]] = {kind: {} for kind in RECOMMENDED}
    for each in resource_uses:
        name = each.paper.paper_id if each.paper is not None else each.name.casefold()
        by_kind[each.kind].setdefault(name, []).append(each)
    recommendations = []
    for kind, by_name in by_kind.items():
        evidence = {name: _evidence(uses, closeness_by_paper) for name, uses in by_name.items()}
        for rank, (name, score) in enumerate(in_order(evidence)[:limit], start=1):
            first, plainest = by_name[name][0], sorted(by_name[name], key=lambda use: use.weight)
            use_of_work = {each.use.paper_id: each.use for each in plainest}
            uses = sorted(
                use_of_work.values(), key=lambda use: (-use.nearness_0_to_1, use.paper_id)
            )
            recommendations.append(
                Recommendation(
                    rank=rank,
                    kind=kind,
                    name=first.name,
                    paper_id=first.paper.paper_id if first.paper is not None else None,
                    url=first.paper.url if first.paper is not None else "",
                    score_0_to_1=score,
                    reason=_reason(kind, uses),
                    uses=tuple(uses[:_SHOWN_USES]),
                )
            )
    return recommendations


def _evidence(
    uses: Sequence[_ResourceUse], closeness_by_paper: Mapping[PaperId, tuple[float, float]]
) -> Evidence:
    works: dict[PaperId, tuple[float, float]] = {}
    for each in uses:
        plainly = each.weight * (CHAINED if each.use.through is not None else 1.0)
        earlier_values = works.get(each.use.paper_id, (0.0, 0.0))
        works[each.use.paper_id] = (each.use.nearness_0_to_1, max(plainly, earlier_values[1]))
    paper = uses[0].paper
    description, words = (
        closeness_by_paper.get(paper.paper_id, (None, None)) if paper else (None, None)
    )
    return Evidence(tuple(works.values()), description, words)


def _reason(kind: ResourceKind, uses: Sequence[Use]) -> str:
    near_uses = [use for use in uses if use.through is None]
    via_data_set = [use for use in uses if use.through is not None]
    verb = _VERBS[kind]
    parts = []
    if near_uses:
        parts.append(f"{_works(len(near_uses))} near the idea {verb} it")
    if via_data_set:
        sets = ", ".join(dict.fromkeys(f"“{use.through}”" for use in via_data_set))
        parts.append(f"{_works(len(via_data_set))} that used {sets} {verb} it")
    unquoted_count = sum(use.quote is None for use in uses)
    if unquoted_count:
        parts.append(f"{unquoted_count} by citing its paper alone")
    return "; ".join(parts)


def _works(count: int) -> str:
    return "1 work" if count == 1 else f"{count} works"
