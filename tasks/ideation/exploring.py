"""Where an idea may go: concepts beside its keywords, with what papers say,
kept apart by clusters.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from schemas.works.ideation_run import IdeationParameters
from tasks.embeddings import Embedder
from tasks.embeddings.clusters import clusters_by_count
from tasks.ideation.network import Concept, ConceptNetwork, Link
from tasks.literature.snapshot.records import PaperRecord
from tasks.text.phrases import specific_stems
from tasks.text.words import nearest_sentences

MOST_BRIDGES = 3
_WORDS_OF_A_PAPER = 60
_LEAST_ROOT = 4  # characters


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept beside a keyword. `bridges` and papers that name one, where no paper names both."""

    link: Link
    bridges: tuple[Concept, ...]
    papers: tuple[PaperRecord, ...]

    @property
    def passages(self) -> tuple[str, ...]:
        """Of each paper its title, year and what of its abstract is nearest to both concepts."""
        names = (self.link.first, self.link.second, *self.bridges)
        asked = " ".join(concept.name for concept in names)
        return tuple(passage_of(paper, asked) for paper in self.papers)


def passage_of(paper: PaperRecord, asked: str) -> str:
    """A paper's title and year, and what of its abstract is nearest to the words asked about."""
    said, _ = nearest_sentences(asked, paper.abstract or "", _WORDS_OF_A_PAPER)
    return f"{paper.title} ({paper.year or 'no year'}). {said}".strip()


def links_of(
    network: ConceptNetwork,
    keywords: Sequence[Concept],
    parameters: IdeationParameters,
    without: Collection[str] = (),
) -> list[Link]:
    """Links of the keywords to other concepts, existing and missing ones in turn, each concept
    once. One that only adds to a keyword's words, or lacks some, leads nowhere; so does one of
    those named in `without`.
    """
    found: list[Iterable[Link]] = []
    for keyword in keywords:
        found.append(network.missing_links(keyword, parameters.missing_links_per_keyword))
        found.append(network.neighbours(keyword, parameters.neighbours_per_keyword))
    in_turn = (link for link in chain.from_iterable(zip_longest(*found)) if link is not None)
    known: dict[int, Link] = {}
    for link in in_turn:
        other = link.second
        if other.name not in without and not any(_same(other, keyword) for keyword in keywords):
            known.setdefault(other.concept_id, link)
    return list(known.values())


def _same(one: Concept, other: Concept) -> bool:
    """Whether one says nothing that the other does not: `tactile sensor` and `tactile sensing`."""
    first, second = (specific_stems(each.name) for each in (one, other))
    return _within(first, second) or _within(second, first)


def _within(some: Collection[str], others: Collection[str]) -> bool:
    """Whether each stem begins as one of the others does: the stems of a noun and of a verb differ
    at their ends.
    """
    return all(any(_one_root(stem, other) for other in others) for stem in some)


def _one_root(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _LEAST_ROOT and longer.startswith(shorter))


async def clustered(links: Sequence[Link], count: int, embedder: Embedder) -> list[list[Link]]:
    """At most `count` clusters of links by what the new concepts are called,
    in the links' order.
    """
    if len(links) <= 1 or count <= 1:
        return [list(links)] if links else []
    vectors = await embedder.embed([link.second.name for link in links])
    labels = clusters_by_count(vectors, count, "average", "cosine")
    found: dict[int, list[Link]] = {}
    for link, label in zip(links, labels, strict=True):
        found.setdefault(label, []).append(link)
    return list(found.values())


def candidates(
    network: ConceptNetwork, links: Sequence[Link], parameters: IdeationParameters
) -> list[Candidate]:
    """The first of the links, with the papers that carry each."""
    return [
        _candidate(network, link, parameters.papers_per_relation)
        for link in links[: parameters.candidates_shown]
    ]


def _candidate(network: ConceptNetwork, link: Link, paper_count: int) -> Candidate:
    if link.shared_count:
        papers = network.papers_of([link.first, link.second], paper_count)
        return Candidate(link, (), tuple(papers))
    bridges = network.bridges(link.first, link.second, MOST_BRIDGES)
    if not bridges:
        return Candidate(link, (), ())
    sides = [network.papers_of([bridges[0], end], 1) for end in (link.first, link.second)]
    papers = list({paper.paper_id: paper for side in sides for paper in side}.values())
    return Candidate(link, tuple(bridges), tuple(papers))
