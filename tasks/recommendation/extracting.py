"""Resources used by the papers of an idea, by rule and optionally by a model.

Every quote occurs in a text of its paper and contains the name. Uses and descriptions of a data set
have the same `resource_paper_id`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.recommendation import RECOMMENDED, Resource, ResourceKind
from schemas.outcome import Unscored
from schemas.profile import ResourceParameters
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.judging.findings import omission_failures
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.step import Engine
from tasks.recommendation.steps import (
    EXTRACT_RESOURCES,
    LEAST_QUOTED_CHARACTERS,
    PaperText,
    ResourcesInput,
)
from tasks.recommendation.uses import introduces_data, named_in, names_data, passages, uses_of
from tasks.text.quotations import normal, stands_in
from tasks.text.words import sentences, shorten_words

STAGE = "resources"
MOST_CHARACTERS = 20_000
"""Limit of the texts of a paper that the rules read, abstract first."""
_LEAST_NAME = 3
_ORDER = {kind: place for place, kind in enumerate(ResourceKind)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A text of a paper, and the heading above it; empty: unknown."""

    paper_id: PaperId
    text: str
    section: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """Rows by paper, kind and name, and defects of the model's replies."""

    resources: tuple[Resource, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(slots=True)
class _PaperTexts:
    """The texts of each paper, within `MOST_CHARACTERS`."""

    papers: Mapping[PaperId, Paper]
    texts: dict[PaperId, dict[str, str]] = field(default_factory=dict)
    _read: Counter[PaperId] = field(default_factory=Counter)

    def add(self, stretch: Stretch) -> None:
        room = MOST_CHARACTERS - self._read[stretch.paper_id]
        text = stretch.text[:room].strip()
        texts = self.texts.setdefault(stretch.paper_id, {})
        if stretch.paper_id in self.papers and text and text not in texts:
            texts[text] = stretch.section
            self._read[stretch.paper_id] += len(text)

    def of(self, paper_id: PaperId) -> Mapping[str, str]:
        return self.texts.get(paper_id, {})


async def extract_resources(
    papers: Sequence[Paper],
    edges: Sequence[CitationEdge],
    stretches: Iterable[Stretch],
    parameters: ResourceParameters,
    engine: Engine,
) -> Extracted:
    """Return the resources that `papers` used.

    They are taken from abstracts, passages that cite the papers, and `stretches`. No look-up is
    made, and a model is asked only about `parameters.asked_papers`.
    """
    reading = _read(papers, edges, stretches)
    by_model = await _ask_model(reading, parameters, engine)
    resources = [*by_model.resources, *_by_rule(edges, reading)]
    return Extracted(
        _select_resources(resources, reading, parameters.maximum_per_paper), by_model.failures
    )


def found_by_rule(
    papers: Sequence[Paper],
    edges: Sequence[CitationEdge],
    stretches: Iterable[Stretch],
    maximum_per_paper: int,
) -> tuple[Resource, ...]:
    reading = _read(papers, edges, stretches)
    return _select_resources(_by_rule(edges, reading), reading, maximum_per_paper)


def _read(
    papers: Sequence[Paper], edges: Iterable[CitationEdge], stretches: Iterable[Stretch]
) -> _PaperTexts:
    reading = _PaperTexts({paper.paper_id: paper for paper in papers})
    for paper in papers:
        reading.add(Stretch(paper.paper_id, paper.abstract or "", "Abstract"))
    for stretch in stretches:
        reading.add(stretch)
    for edge in edges:
        for passage, section in passages(edge):
            reading.add(Stretch(edge.citing_paper_id, passage, section))
    return reading


def _by_rule(edges: Iterable[CitationEdge], reading: _PaperTexts) -> list[Resource]:
    cited_resources = list(_resources_by_citation(edges, reading))
    described_resources = _resources_by_description(
        {row.resource_paper_id for row in cited_resources}, reading
    )
    return [*cited_resources, *described_resources, *_resources_by_name(reading)]


def _resources_by_citation(
    edges: Iterable[CitationEdge], reading: _PaperTexts
) -> Iterator[Resource]:
    """Yield data sets and baselines by the passages that cite their papers."""
    for edge in edges:
        cited_paper = reading.papers.get(edge.cited_paper_id)
        if cited_paper is None or edge.citing_paper_id not in reading.papers:
            continue
        for use in uses_of(edge, cited_paper):
            if use.quote is not None and cited_paper.title:
                yield Resource(
                    kind=use.kind,
                    name=cited_paper.title,
                    paper_id=edge.citing_paper_id,
                    quote=use.quote,
                    section=use.section,
                    resource_paper_id=cited_paper.paper_id,
                )


def _resources_by_description(
    used_ids: Collection[PaperId | None], reading: _PaperTexts
) -> Iterator[Resource]:
    """Yield the data sets that papers introduce themselves.

    A title may mention corpora without naming one. Then the paper must state that it describes one,
    or other papers must be known to have used it.
    """
    for paper in reading.papers.values():
        if not names_data(paper.title):
            continue
        data_sentences = list(filter(names_data, sentences(paper.abstract or "")))
        introductions = list(filter(introduces_data, data_sentences))
        quotes = introductions or (data_sentences if paper.paper_id in used_ids else [])
        for quote in quotes[:1]:
            yield Resource(
                kind=ResourceKind.DATA_SET,
                name=paper.title,
                paper_id=paper.paper_id,
                quote=quote,
                section="Abstract",
                resource_paper_id=paper.paper_id,
            )


def _resources_by_name(reading: _PaperTexts) -> Iterator[Resource]:
    for paper_id in reading.papers:
        for text, section in reading.of(paper_id).items():
            for each in named_in(text):
                if _occurs(each.quote, text):
                    yield Resource(
                        kind=each.kind,
                        name=each.name,
                        paper_id=paper_id,
                        quote=each.quote,
                        section=section,
                        value=each.value,
                    )


async def _ask_model(
    reading: _PaperTexts, parameters: ResourceParameters, engine: Engine
) -> Extracted:
    ranked_papers = sorted(
        reading.papers, key=lambda each: (-sum(map(len, reading.of(each))), each)
    )
    chosen_papers = sorted(
        each for each in ranked_papers[: parameters.asked_papers] if reading.of(each)
    )
    batches = even_batches(chosen_papers, parameters.papers_per_call)
    answers = await side_by_side(
        _ask_batch(batch, reading, parameters, engine) for batch in batches
    )
    return Extracted(
        tuple(row for answer in answers for row in answer.resources),
        tuple(failure for answer in answers for failure in answer.failures),
    )


async def _ask_batch(
    batch: Sequence[PaperId], reading: _PaperTexts, parameters: ResourceParameters, engine: Engine
) -> Extracted:
    text_by_key = {}
    for number, asked_id in enumerate(batch, start=1):
        paper_text = "\n\n".join(reading.of(asked_id))
        text_by_key[f"P{number}"] = asked_id, shorten_words(paper_text, parameters.words)[0]
    question = ResourcesInput(
        papers=tuple(
            PaperText(key=key, title=reading.papers[paper_id].title, text=text)
            for key, (paper_id, text) in text_by_key.items()
        ),
        maximum_per_paper=parameters.maximum_per_paper,
    )
    outcome = await engine.run(EXTRACT_RESOURCES, question)
    if isinstance(outcome, Unscored):
        return Extracted(failures=call_failures([outcome], STAGE, ", ".join(batch)))
    rows: list[Resource] = []
    proposals = outcome.value.resources
    for each in proposals:
        paper_id, text = text_by_key.get(each.key, (None, ""))
        quote = normal(each.quote)
        if (
            paper_id is None
            or each.kind is None
            or not _occurs(each.quote, text)
            or normal(each.name) not in quote
            or normal(each.value) not in quote
        ):
            continue
        texts = reading.of(paper_id).items()
        rows.append(
            Resource(
                kind=each.kind,
                name=each.name,
                paper_id=paper_id,
                quote=each.quote,
                section=next((section for one, section in texts if _occurs(each.quote, one)), ""),
                value=each.value if each.kind is ResourceKind.HYPER_PARAMETER else "",
                provenance=outcome.provenance,
            )
        )
    dropped_count = len(proposals) - len(rows)
    detail = (
        f"{dropped_count} of {len(proposals)} resources were left out: they quote words that do not stand in"
        " the paper, or words without the name"
    )
    reason, subject = Reason.PASSAGE_NOT_FOUND, EXTRACT_RESOURCES.name
    return Extracted(tuple(rows), omission_failures(STAGE, subject, detail, dropped_count, reason))


def _occurs(quote: str, text: str) -> bool:
    return stands_in(quote, text, least_characters=LEAST_QUOTED_CHARACTERS)


def _select_resources(
    resources: Iterable[Resource], reading: _PaperTexts, maximum_per_paper: int
) -> tuple[Resource, ...]:
    """Return distinct rows, at most `maximum_per_paper` for each paper.

    A row gets the resource's own paper if only one paper can be it.

    A row gets the resource's own paper if only one paper can be it.
    """
    homes = _homes(reading.papers.values())
    distinct: dict[tuple[PaperId, ResourceKind, str], Resource] = {}
    for each in resources:
        home = each.resource_paper_id or homes.get((each.kind, each.name.casefold()))
        row = replace(each, resource_paper_id=home)
        distinct.setdefault((each.paper_id, each.kind, home or each.name.casefold()), row)
    counts: Counter[PaperId] = Counter()
    rows: list[Resource] = []
    for each in sorted(
        distinct.values(), key=lambda row: (row.paper_id, _ORDER[row.kind], row.name)
    ):
        counts[each.paper_id] += 1
        if counts[each.paper_id] <= maximum_per_paper:
            rows.append(each)
    return tuple(rows)


def _homes(papers: Iterable[Paper]) -> dict[tuple[ResourceKind, str], PaperId]:
    """Return papers that introduce a resource, by its kind and name.

    Their titles have the form `Name: what it is`. A name with which several titles begin is left
    out.
    """
    by_name: dict[tuple[ResourceKind, str], list[PaperId]] = {}
    for paper in papers:
        name, colon, _ = paper.title.partition(":")
        if colon and len(name) >= _LEAST_NAME:
            for kind in (ResourceKind.DATA_SET, ResourceKind.MODEL):
                by_name.setdefault((kind, name.strip().casefold()), []).append(paper.paper_id)
    return {name: paper_ids[0] for name, paper_ids in by_name.items() if len(paper_ids) == 1}


_KEYS_SHOWN = 3
_NAME_WORDS = 16
_ROWS_PER_PAPER = 20
_NO_PAPERS = show(())


@dataclass(frozen=True, slots=True)
class ResourceLines:
    """Return lines such as `data set: AlpSpeech [P1] [P4]`, and the works under these keys.

    Without a line, the resources of the works are unknown, which does not mean that they used none.
    """

    lines: tuple[str, ...] = ()
    prompt_papers: Shown = _NO_PAPERS


def resource_lines(
    papers: Sequence[Paper], passages: Iterable[Passage], limit: int
) -> ResourceLines:
    """Return up to `limit` resources that most of `papers` name as used.

    Data sets, baselines and metrics take turns. No look-up is made.
    """
    passage_list = [*passages]
    edges = [edge for passage in passage_list for edge in _edges(passage)]
    stretches = (Stretch(each.paper_id, each.text, each.section or "") for each in passage_list)
    rows = found_by_rule(papers, edges, stretches, _ROWS_PER_PAPER)
    groups = _most_used(rows, limit)
    by_id = {paper.paper_id: paper for paper in papers}
    user_ids = [[row.paper_id for row in each][:_KEYS_SHOWN] for each in groups]
    prompt_papers = show([by_id[paper_id] for of_line in user_ids for paper_id in of_line])
    lines = (
        _line(each[0], [prompt_papers.key_of(paper_id) for paper_id in of_line])
        for each, of_line in zip(groups, user_ids, strict=True)
    )
    return ResourceLines(tuple(lines), prompt_papers)


def _edges(passage: Passage) -> Iterable[CitationEdge]:
    return (
        CitationEdge(
            citing_paper_id=passage.paper_id,
            cited_paper_id=cited_id,
            contexts=(passage.text,),
            sections=(passage.section or "",),
        )
        for cited_id in passage.cited_paper_ids
        if cited_id != passage.paper_id
    )


def _most_used(rows: Iterable[Resource], limit: int) -> list[list[Resource]]:
    """Return rows by resource, the most used of each kind first."""
    by_resource: dict[tuple[ResourceKind, PaperId | str], list[Resource]] = {}
    for row in rows:
        if row.kind in RECOMMENDED and row.resource_paper_id != row.paper_id:
            by_resource.setdefault(
                (row.kind, row.resource_paper_id or row.name.casefold()), []
            ).append(row)
    ranked_users: list[tuple[int, int, list[Resource]]] = []
    for place, kind in enumerate(RECOMMENDED):
        of_kind = [
            users for (resource_kind, _), users in by_resource.items() if resource_kind is kind
        ]
        of_kind.sort(key=lambda users: (-len(users), users[0].name))
        ranked_users += [(rank, place, users) for rank, users in enumerate(of_kind)]
    return [users for _, _, users in sorted(ranked_users, key=lambda each: each[:2])][:limit]


def _line(row: Resource, keys: Sequence[str]) -> str:
    name = shorten_words(" ".join(row.name.split()), _NAME_WORDS)[0]
    return f"{row.kind.replace('_', ' ')}: {name} {' '.join(f'[{key}]' for key in keys)}"
