"""Recommendation of resources (data sets, baselines, metrics) that works near an idea used.

Chain: a work near the idea used a data set; other works used it too; what they compare with is a
baseline. Everything recommended is the paper of a reference, or a metric that a work names.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

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
"""A work counts by this power of its nearness: the nearest ones say most."""
BY_WORKS, BY_DESCRIPTION, BY_WORDS = 2.0, 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for a resource; each value is compared with those of the other resources alone.

    Attributes:
        works: of each work that used it, its nearness to the idea, 0 to 1, and how plainly it says
            so, 1: in a passage.
        description: similarity of the resource's own text to the idea; None: it has none.
        words: what the two texts share, by BM25; None: it has no text.
    """

    works: Sequence[tuple[float, float]] = ()
    description: float | None = None
    words: float | None = None


def scores(evidence: Mapping[str, Evidence]) -> dict[str, float]:
    """Resources by name with a score from 0 to 1;
    the parts are scaled to the best and the least.
    """
    parts = (
        (
            BY_WORKS,
            {
                name: math.fsum(plainly * nearness**SHARPNESS for nearness, plainly in each.works)
                for name, each in evidence.items()
            },
        ),
        (BY_DESCRIPTION, {name: each.description for name, each in evidence.items()}),
        (BY_WORDS, {name: each.words for name, each in evidence.items()}),
    )
    total, whole = dict.fromkeys(evidence, 0.0), 0.0
    for weight, values in parts:
        scaled_values = _scale(values)
        whole += weight if scaled_values else 0.0
        for name, value in scaled_values.items():
            total[name] += weight * value
    return {name: round(value / (whole or 1.0), 4) for name, value in total.items()}


def in_order(evidence: Mapping[str, Evidence]) -> list[tuple[str, float]]:
    """Names with their scores, best first; ties by name."""
    return sorted(scores(evidence).items(), key=lambda each: (-each[1], each[0]))


def _scale(values: Mapping[str, float | None]) -> dict[str, float]:
    """From 0, the least, to 1; what is unknown counts as the least."""
    present = [value for value in values.values() if value is not None]
    if not present or max(present) <= 0.0:
        return {}
    minimum = min(present) if len(present) == len(values) and max(present) > min(present) else 0.0
    span = max(present) - minimum
    return {name: (value - minimum) / span for name, value in values.items() if value is not None}


CHAINED = 0.5
"""What a use counts that was reached through a data set, beside one of a work near the idea."""
_VERBS = {
    ResourceKind.DATA_SET: "used",
    ResourceKind.BASELINE: "compared with",
    ResourceKind.METRIC: "measured by",
}


EarlierUses = Callable[[Sequence[PaperId]], Sequence[Resource]]
"""What is known already of what some papers used, as from earlier evaluations."""


def no_earlier_uses(papers: Sequence[PaperId]) -> tuple[Resource, ...]:
    del papers
    return ()


@dataclass(frozen=True, slots=True)
class Breadth:
    """Bounds of a look-up, in requests or papers."""

    queries: int = 4
    papers_per_query: int = 25
    near_works: int = 25
    references_per_work: int = 100
    chained_data_sets: int = 3
    works_per_data_set: int = 8
    recommended: int = 5
    shown_uses: int = 3


@dataclass(frozen=True, slots=True)
class Recommended:
    """Recommendations by kind and rank.

    Attributes:
        near_works: how many works near the idea were looked at.
        known_contexts: of how many citations it is known how they cite; without any, baselines
            cannot be told from other references.
        citations: how many citations were looked at.
        known_resources: how many uses were known from earlier evaluations.
        failures: look-ups that failed; something may be missing.
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
    breadth: Breadth = Breadth(),
    earlier_uses: EarlierUses = no_earlier_uses,
) -> Recommended:
    """Return what works near the idea used, best first of each kind, with the passages that say so.

    Nothing published after `cutoff` is looked at.
    """
    look_up = _LookUp(idea, literature, nearness, cutoff, breadth, earlier_uses)
    near_works = await look_up.near_works()
    uses = await look_up.uses_in(near_works, {})
    uses += look_up.in_abstracts(near_works)
    ranked_resources = _rank(uses, breadth, await look_up.about(uses))
    data_sets = [each for each in ranked_resources if each.kind is ResourceKind.DATA_SET]
    leading = data_sets[: breadth.chained_data_sets]
    uses += await look_up.chained(leading, {each.paper_id for each in near_works})
    return Recommended(
        tuple(_rank(uses, breadth, await look_up.about(uses))),
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
    breadth: Breadth
    earlier_uses: EarlierUses
    nearness_of: dict[PaperId, float] = field(default_factory=dict)
    failures: list[SourceFailure] = field(default_factory=list)
    citations: int = 0
    known_contexts: int = 0
    known_resources: int = 0

    async def near_works(self) -> list[Paper]:
        """The works nearest to the idea, by embedding and shared words alike."""
        works: dict[PaperId, Paper] = {}
        queries = [self.idea[:300], *key_phrases(self.idea, self.breadth.queries - 1)]
        for query in dict.fromkeys(queries):
            answer = await self.literature.search_papers(
                query, self.breadth.papers_per_query, self.cutoff
            )
            self.failures.extend(answer.failures)
            works.update((paper.paper_id, paper) for paper in answer.items)
        return await self._nearest(list(works.values()), self.breadth.near_works)

    async def _nearest(self, papers: Sequence[Paper], limit: int) -> list[Paper]:
        if not papers:
            return []
        values = await self.nearness.of([paper_text(each.title, each.abstract) for each in papers])
        similarities = {paper.paper_id: value for paper, value in zip(papers, values, strict=True)}
        self.nearness_of.update(similarities)
        worth = fused([similarities, SharedWords(papers).with_text(self.idea)])
        return sorted(papers, key=lambda each: (-worth[each.paper_id], each.paper_id))[:limit]

    async def uses_in(
        self, works: Sequence[Paper], through: dict[PaperId, str]
    ) -> list[_ResourceUse]:
        by_id = {work.paper_id: work for work in works}
        answer = await self.literature.references(
            list(by_id), self.breadth.references_per_work, self.cutoff
        )
        self.failures.extend(answer.failures)
        uses: list[_ResourceUse] = []
        for edge, cited_paper in answer.items:
            self.citations += 1
            self.known_contexts += edge.contexts is not None
            work = by_id.get(edge.citing_paper_id)
            if work is None or cited_paper.paper_id == work.paper_id:
                continue
            by = through.get(work.paper_id)
            for stated_use in uses_of(edge, cited_paper):
                use = self._use(work, stated_use.quote, stated_use.section, by)
                uses.append(
                    _ResourceUse(
                        stated_use.kind, cited_paper.title, cited_paper, stated_use.weight, use
                    )
                )
            for passage, section in passages(edge):
                for name, quote in data_sets_in(passage).items():
                    use = self._use(work, quote, section, by)
                    uses.append(_ResourceUse(ResourceKind.DATA_SET, name, None, STATED, use))
        return [*uses, *self._earlier_uses(by_id, through)]

    def _earlier_uses(
        self, works: Mapping[PaperId, Paper], through: Mapping[PaperId, str]
    ) -> Iterator[_ResourceUse]:
        """Yield what was read out of the works before; what a work says of itself is no use of it."""
        for row in self.earlier_uses(list(works)):
            work, resource_id = works.get(row.paper_id), row.resource_paper_id
            if work is None or resource_id == row.paper_id or row.kind not in RECOMMENDED:
                continue
            self.known_resources += 1
            paper = Paper(paper_id=resource_id, title=row.name) if resource_id is not None else None
            use = self._use(work, row.quote, row.section, through.get(work.paper_id))
            yield _ResourceUse(row.kind, row.name, paper, plainness(row.section), use)

    async def chained(
        self, data_sets: Sequence[Recommendation], near_ids: set[PaperId]
    ) -> list[_ResourceUse]:
        """Baselines of other works that used the same data sets."""
        through: dict[PaperId, str] = {}
        others: dict[PaperId, Paper] = {}
        for each in data_sets:
            users = [one for one in await self._users(each) if one.paper_id not in near_ids]
            for work in await self._nearest(users, self.breadth.works_per_data_set):
                through.setdefault(work.paper_id, each.name)
                others.setdefault(work.paper_id, work)
        uses = await self.uses_in(list(others.values()), through) if others else []
        return [each for each in uses if each.kind is ResourceKind.BASELINE]

    async def _users(self, data_set: Recommendation) -> list[Paper]:
        """Works that cite the data set's paper for its data; of one known by name alone, those
        whose abstract names it.
        """
        limit = 10 * self.breadth.works_per_data_set
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
        """Of the papers of resources, how near they are to the idea and what words they share."""
        # Of a paper known by name alone and looked up as well, what was looked up stands first.
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
        """The metrics and data sets that the abstracts of works name."""
        for work in works:
            abstract = work.abstract or ""
            for kind, quote_by_name in (
                (ResourceKind.METRIC, metrics_in(abstract)),
                (ResourceKind.DATA_SET, data_sets_in(abstract)),
            ):
                for name, quote in quote_by_name.items():
                    use = self._use(work, quote, "Abstract", None)
                    yield _ResourceUse(kind, name, None, STATED, use)

    def _use(self, work: Paper, quote: str | None, section: str, through: str | None) -> Use:
        return Use(
            paper_id=work.paper_id,
            title=work.title,
            year=work.year,
            url=work.url,
            quote=quote,
            section=section,
            nearness_0_to_1=self.nearness_of.get(work.paper_id, 0.0),
            through=through,
        )


def _rank(
    resource_uses: Iterable[_ResourceUse],
    breadth: Breadth,
    about: Mapping[PaperId, tuple[float, float]],
) -> list[Recommendation]:
    """By kind, the resources that speak most for themselves (see `ranking`)."""
    by_kind: dict[ResourceKind, dict[str, list[_ResourceUse]]] = {kind: {} for kind in RECOMMENDED}
    for each in resource_uses:
        name = each.paper.paper_id if each.paper is not None else each.name.casefold()
        by_kind[each.kind].setdefault(name, []).append(each)
    return [
        _recommendation(kind, rank, score, by_name[name], breadth.shown_uses)
        for kind, by_name in by_kind.items()
        for rank, (name, score) in enumerate(
            in_order({name: _evidence(uses, about) for name, uses in by_name.items()})[
                : breadth.recommended
            ],
            start=1,
        )
    ]


def _evidence(
    uses: Sequence[_ResourceUse], about: Mapping[PaperId, tuple[float, float]]
) -> Evidence:
    works: dict[PaperId, tuple[float, float]] = {}
    for each in uses:
        plainly = each.weight * (CHAINED if each.use.through is not None else 1.0)
        before = works.get(each.use.paper_id, (0.0, 0.0))
        works[each.use.paper_id] = (each.use.nearness_0_to_1, max(plainly, before[1]))
    paper = uses[0].paper
    description, words = about.get(paper.paper_id, (None, None)) if paper else (None, None)
    return Evidence(tuple(works.values()), description, words)


def _recommendation(
    kind: ResourceKind,
    rank: int,
    score: float,
    resource_uses: Sequence[_ResourceUse],
    use_limit: int,
) -> Recommendation:
    first = resource_uses[0]
    plainest = {
        each.use.paper_id: each.use for each in sorted(resource_uses, key=lambda each: each.weight)
    }
    uses = sorted(plainest.values(), key=lambda use: (-use.nearness_0_to_1, use.paper_id))
    return Recommendation(
        rank=rank,
        kind=kind,
        name=first.name,
        paper_id=first.paper.paper_id if first.paper is not None else None,
        url=first.paper.url if first.paper is not None else "",
        score_0_to_1=score,
        reason=_reason(kind, uses),
        uses=tuple(uses[:use_limit]),
    )


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
