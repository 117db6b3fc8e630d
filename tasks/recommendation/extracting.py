"""What the papers of an idea used, as rows: by rule from every text at hand, and from a model where
the profile asks one; and as a few lines for whoever reviews a plan.

Every quote stands in a text of its paper and holds the name. What citing papers say of a data set
and what it says of itself bear the same `resource_paper_id`.
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
    ProposedResource,
    ResourcesInput,
)
from tasks.recommendation.uses import introduces_data, named_in, names_data, passages, uses_of
from tasks.text.quotations import normal, stands_in
from tasks.text.words import sentences, shorten_words

STAGE = "resources"
MOST_CHARACTERS = 20_000
"""Of each paper, abstract first: the bound of what the rules read."""
_LEAST_NAME = 3
_ORDER = {kind: place for place, kind in enumerate(ResourceKind)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A text of a paper, and the heading above it; empty: not told."""

    paper_id: PaperId
    text: str
    section: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """Rows by paper, kind and name, and what the model's replies got wrong."""

    resources: tuple[Resource, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(slots=True)
class _Reading:
    """The texts of each paper, within `MOST_CHARACTERS`."""

    papers: Mapping[PaperId, Paper]
    texts: dict[PaperId, dict[str, str]] = field(default_factory=dict)
    _read: Counter[PaperId] = field(default_factory=Counter)

    def add(self, stretch: Stretch) -> None:
        room = MOST_CHARACTERS - self._read[stretch.paper_id]
        text = stretch.text[:room].strip()
        known = self.texts.setdefault(stretch.paper_id, {})
        if stretch.paper_id in self.papers and text and text not in known:
            known[text] = stretch.section
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
    """Return what `papers` used, by their abstracts, the passages by which they cite, and
    `stretches`.

    No look-up is made, and no model is asked unless `parameters.asked_papers` says so.
    """
    reading = _read(papers, edges, stretches)
    asked = await _asked(reading, parameters, engine)
    found = [*asked.resources, *_by_rule(edges, reading)]
    return Extracted(_settled(found, reading, parameters.maximum_per_paper), asked.failures)


def found_by_rule(
    papers: Sequence[Paper],
    edges: Sequence[CitationEdge],
    stretches: Iterable[Stretch],
    maximum_per_paper: int,
) -> tuple[Resource, ...]:
    reading = _read(papers, edges, stretches)
    return _settled(_by_rule(edges, reading), reading, maximum_per_paper)


def _read(
    papers: Sequence[Paper], edges: Iterable[CitationEdge], stretches: Iterable[Stretch]
) -> _Reading:
    reading = _Reading({paper.paper_id: paper for paper in papers})
    for paper in papers:
        reading.add(Stretch(paper.paper_id, paper.abstract or "", "Abstract"))
    for stretch in stretches:
        reading.add(stretch)
    for edge in edges:
        for passage, section in passages(edge):
            reading.add(Stretch(edge.citing_paper_id, passage, section))
    return reading


def _by_rule(edges: Iterable[CitationEdge], reading: _Reading) -> list[Resource]:
    cited = list(_cited(edges, reading))
    own = _own({row.resource_paper_id for row in cited}, reading)
    return [*cited, *own, *_named(reading)]


def _cited(edges: Iterable[CitationEdge], reading: _Reading) -> Iterator[Resource]:
    """Data sets and baselines by the passages that cite their papers."""
    for edge in edges:
        cited = reading.papers.get(edge.cited_paper_id)
        if cited is None or edge.citing_paper_id not in reading.papers:
            continue
        for said in uses_of(edge, cited):
            if said.quote is not None and cited.title:
                yield Resource(
                    kind=said.kind,
                    name=cited.title,
                    paper_id=edge.citing_paper_id,
                    quote=said.quote,
                    section=said.section,
                    resource_paper_id=cited.paper_id,
                )


def _own(described: Collection[PaperId | None], reading: _Reading) -> Iterator[Resource]:
    """Yield what the papers of data sets say of them.

    A title may speak of corpora without naming one: the paper says that it describes one, or others
    are known to have used its.
    """
    for paper in reading.papers.values():
        if not names_data(paper.title):
            continue
        said = list(filter(names_data, sentences(paper.abstract or "")))
        introducing = list(filter(introduces_data, said))
        quotes = introducing or (said if paper.paper_id in described else [])
        for quote in quotes[:1]:
            yield Resource(
                kind=ResourceKind.DATA_SET,
                name=paper.title,
                paper_id=paper.paper_id,
                quote=quote,
                section="Abstract",
                resource_paper_id=paper.paper_id,
            )


def _named(reading: _Reading) -> Iterator[Resource]:
    for paper_id in reading.papers:
        for text, section in reading.of(paper_id).items():
            for each in named_in(text):
                if stands_in(each.quote, text, least_characters=LEAST_QUOTED_CHARACTERS):
                    yield Resource(
                        kind=each.kind,
                        name=each.name,
                        paper_id=paper_id,
                        quote=each.quote,
                        section=section,
                        value=each.value,
                    )


async def _asked(reading: _Reading, parameters: ResourceParameters, engine: Engine) -> Extracted:
    most = sorted(reading.papers, key=lambda each: (-sum(map(len, reading.of(each))), each))
    chosen = sorted(each for each in most[: parameters.asked_papers] if reading.of(each))
    batches = even_batches(chosen, parameters.papers_per_call)
    answers = await side_by_side(_ask(batch, reading, parameters, engine) for batch in batches)
    return Extracted(
        tuple(row for answer in answers for row in answer.resources),
        tuple(failure for answer in answers for failure in answer.failures),
    )


async def _ask(
    batch: Sequence[PaperId], reading: _Reading, parameters: ResourceParameters, engine: Engine
) -> Extracted:
    shown = {
        f"P{number}": (
            paper_id,
            shorten_words("\n\n".join(reading.of(paper_id)), parameters.words)[0],
        )
        for number, paper_id in enumerate(batch, start=1)
    }
    question = ResourcesInput(
        papers=tuple(
            PaperText(key=key, title=reading.papers[paper_id].title, text=text)
            for key, (paper_id, text) in shown.items()
        ),
        maximum_per_paper=parameters.maximum_per_paper,
    )
    outcome = await engine.run(EXTRACT_RESOURCES, question)
    if isinstance(outcome, Unscored):
        return Extracted(failures=call_failures([outcome], STAGE, ", ".join(batch)))
    rows: list[Resource] = []
    given = outcome.value.resources
    for each in given:
        paper_id, text = shown.get(each.key, (None, ""))
        if paper_id is not None and each.kind is not None and _holds(each, text):
            rows.append(
                Resource(
                    kind=each.kind,
                    name=each.name,
                    paper_id=paper_id,
                    quote=each.quote,
                    section=_section(each.quote, reading.of(paper_id)),
                    value=each.value if each.kind is ResourceKind.HYPER_PARAMETER else "",
                    provenance=outcome.provenance,
                )
            )
    dropped = len(given) - len(rows)
    detail = (
        f"{dropped} of {len(given)} resources were left out: they quote words that do not stand in"
        " the paper, or words without the name"
    )
    reason, subject = Reason.PASSAGE_NOT_FOUND, EXTRACT_RESOURCES.name
    return Extracted(tuple(rows), omission_failures(STAGE, subject, detail, dropped, reason))


def _holds(proposed: ProposedResource, text: str) -> bool:
    quote = normal(proposed.quote)
    return (
        stands_in(proposed.quote, text, least_characters=LEAST_QUOTED_CHARACTERS)
        and normal(proposed.name) in quote
        and normal(proposed.value) in quote
    )


def _section(quote: str, texts: Mapping[str, str]) -> str:
    least = LEAST_QUOTED_CHARACTERS
    return next(
        (
            section
            for text, section in texts.items()
            if stands_in(quote, text, least_characters=least)
        ),
        "",
    )


def _settled(
    found: Iterable[Resource], reading: _Reading, maximum_per_paper: int
) -> tuple[Resource, ...]:
    """Each thing once a paper, tied to its own paper where one paper alone can be it."""
    homes = _homes(reading.papers.values())
    once: dict[tuple[PaperId, ResourceKind, str], Resource] = {}
    for each in found:
        home = each.resource_paper_id or homes.get((each.kind, each.name.casefold()))
        row = replace(each, resource_paper_id=home)
        once.setdefault((each.paper_id, each.kind, home or each.name.casefold()), row)
    counted: Counter[PaperId] = Counter()
    kept: list[Resource] = []
    for each in sorted(once.values(), key=lambda row: (row.paper_id, _ORDER[row.kind], row.name)):
        counted[each.paper_id] += 1
        if counted[each.paper_id] <= maximum_per_paper:
            kept.append(each)
    return tuple(kept)


def _homes(papers: Iterable[Paper]) -> dict[tuple[ResourceKind, str], PaperId]:
    """Papers that introduce something, by its kind and name: `Name: what it is` as a title.

    A name that several titles begin with is left out.
    """
    claimed: dict[tuple[ResourceKind, str], list[PaperId]] = {}
    for paper in papers:
        name, colon, _ = paper.title.partition(":")
        if colon and len(name) >= _LEAST_NAME:
            for kind in (ResourceKind.DATA_SET, ResourceKind.MODEL):
                claimed.setdefault((kind, name.strip().casefold()), []).append(paper.paper_id)
    return {name: found[0] for name, found in claimed.items() if len(found) == 1}


_KEYS_SHOWN = 3
_NAME_WORDS = 16
_ROWS_PER_PAPER = 20
_NOBODY = show(())


@dataclass(frozen=True, slots=True)
class Offered:
    """Lines such as `data set: AlpSpeech [P1] [P4]`, and the works under these keys.

    No line: nothing is known of what the works used, which does not say that they used nothing.
    """

    lines: tuple[str, ...] = ()
    shown: Shown = _NOBODY


def offered(papers: Sequence[Paper], passages: Iterable[Passage], limit: int) -> Offered:
    """Up to `limit` data sets, baselines and metrics that most of `papers` name as used, the kinds
    in turn. No look-up is made.
    """
    own = [*passages]
    rows = found_by_rule(
        papers,
        [edge for passage in own for edge in _edges(passage)],
        [Stretch(each.paper_id, each.text, each.section or "") for each in own],
        _ROWS_PER_PAPER,
    )
    chosen = _chosen(rows, limit)
    by_id = {paper.paper_id: paper for paper in papers}
    users = [[row.paper_id for row in each][:_KEYS_SHOWN] for each in chosen]
    shown = show([by_id[paper_id] for of_line in users for paper_id in of_line])
    lines = (
        _line(each[0], [shown.key_of(paper_id) for paper_id in of_line])
        for each, of_line in zip(chosen, users, strict=True)
    )
    return Offered(tuple(lines), shown)


def _edges(passage: Passage) -> Iterable[CitationEdge]:
    return (
        CitationEdge(
            citing_paper_id=passage.paper_id,
            cited_paper_id=cited,
            contexts=(passage.text,),
            sections=(passage.section or "",),
        )
        for cited in passage.cited_paper_ids
        if cited != passage.paper_id
    )


def _chosen(rows: Iterable[Resource], limit: int) -> list[list[Resource]]:
    """Rows by the thing they name, the most used of each kind first."""
    named: dict[tuple[ResourceKind, PaperId | str], list[Resource]] = {}
    for row in rows:
        if row.kind in RECOMMENDED and row.resource_paper_id != row.paper_id:
            named.setdefault((row.kind, row.resource_paper_id or row.name.casefold()), []).append(
                row
            )
    ranked: list[tuple[int, int, list[Resource]]] = []
    for place, kind in enumerate(RECOMMENDED):
        of_kind = [found for (found_kind, _), found in named.items() if found_kind is kind]
        of_kind.sort(key=lambda found: (-len(found), found[0].name))
        ranked += [(rank, place, found) for rank, found in enumerate(of_kind)]
    return [found for _, _, found in sorted(ranked, key=lambda each: each[:2])][:limit]


def _line(row: Resource, keys: Sequence[str]) -> str:
    name = shorten_words(" ".join(row.name.split()), _NAME_WORDS)[0]
    return f"{row.kind.replace('_', ' ')}: {name} {' '.join(f'[{key}]' for key in keys)}"
