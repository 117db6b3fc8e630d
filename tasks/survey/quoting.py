"""Passages that say something of a kept paper, word for word: of its own abstract what is nearest
to the question, how kept papers cite it, and works that only a third one joins.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, SectionKind
from schemas.literature.survey import SurveyQuote
from schemas.literature.survey_review import SurveyJoin
from tasks.text.words import rank_sentences, sentences

CONTEXTS_PER_PAPER = 2
LONGEST_QUOTE = 600
"""Characters; a longer passage is not cut, it is left out: a quote is whole or absent."""


def quotes_of(
    question: str,
    paper_ids: Sequence[PaperId],
    texts: Mapping[PaperId, Paper],
    links: Sequence[CitationEdge],
) -> tuple[SurveyQuote, ...]:
    """For each of `paper_ids` one sentence of its abstract,
    then passages of papers that cite it.
    """
    return tuple(
        quote
        for paper_id in paper_ids
        for quote in (
            *_own(question, texts[paper_id]),
            *quotes_by_others(question, paper_id, links),
        )
    )


def _own(question: str, paper: Paper) -> Iterator[SurveyQuote]:
    for sentence in _nearest(question, sentences(paper.abstract or ""), 1):
        yield SurveyQuote(
            paper_id=paper.paper_id,
            said_in_paper_id=paper.paper_id,
            quote=sentence,
            section=SectionKind.ABSTRACT,
        )


def quotes_by_others(
    question: str, paper_id: PaperId, links: Sequence[CitationEdge]
) -> Iterator[SurveyQuote]:
    """The passages nearest to the question in which papers cite one."""
    said = {
        context: link.citing_paper_id
        for link in links
        if link.cited_paper_id == paper_id
        for context in link.contexts or ()
    }
    for context in _nearest(question, list(said), CONTEXTS_PER_PAPER):
        yield SurveyQuote(paper_id=paper_id, said_in_paper_id=said[context], quote=context)


def _nearest(question: str, passages: Sequence[str], limit: int) -> list[str]:
    short = [passage for passage in passages if 0 < len(passage) <= LONGEST_QUOTE]
    return [passage for _, passage in rank_sentences(question, short, limit)]


MOST_JOINS = 30
MOST_OF_A_PASSAGE = 8
"""Works of one passage that are paired, the heaviest first: a list of citations joins little."""


def joins_of(heaviest: Sequence[PaperId], links: Sequence[CitationEdge]) -> tuple[SurveyJoin, ...]:
    """The pairs among `heaviest` that only a third joins, the heaviest first, each once.

    A passage too long to be quoted whole joins nothing.
    """
    place = {paper_id: number for number, paper_id in enumerate(heaviest)}
    cited: dict[tuple[PaperId, str], set[PaperId]] = defaultdict(set)
    direct = {frozenset((link.citing_paper_id, link.cited_paper_id)) for link in links}
    for link in links:
        for context in link.contexts or ():
            if link.cited_paper_id in place and 0 < len(context.strip()) <= LONGEST_QUOTE:
                cited[link.citing_paper_id, context].add(link.cited_paper_id)
    found: dict[tuple[PaperId, PaperId], SurveyJoin] = {}
    for (third, passage), works in cited.items():
        ordered = sorted(works, key=place.__getitem__)[:MOST_OF_A_PASSAGE]
        for one, other in combinations(ordered, 2):
            if frozenset((one, other)) not in direct:
                join = SurveyJoin(
                    paper_id=one, other_paper_id=other, said_in_paper_id=third, passage=passage
                )
                found.setdefault((one, other), join)
    pairs = sorted(found, key=lambda pair: (place[pair[0]] + place[pair[1]], pair))
    return tuple(found[pair] for pair in pairs[:MOST_JOINS])
