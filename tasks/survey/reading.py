"""Reads the heaviest works of a survey: passages word for word, each for what it says of its work.

A passage counts only where it stands in the text that it is said to be from.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from schemas.failure import Answer, Failure, call_failures, look_up_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, PaperSection, SectionKind
from schemas.literature.survey import SurveyParameters, SurveyQuote
from schemas.literature.survey_review import Aspect, SurveyJoin
from schemas.outcome import Unscored
from tasks.citations.keys import Shown, show
from tasks.documents.document import DocumentLibrary
from tasks.judging.findings import omission_failures
from tasks.judging.packing import even_batches, first_alone, side_by_side
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine
from tasks.survey.expanding import STAGE
from tasks.survey.steps import SURVEY_READING, ReadEntry, ReadingInput, ReadSection, ReadWork
from tasks.text.quotations import stands_in
from tasks.text.words import nearest_sentences, rank_sentences, sentences

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


_READ_KINDS = (
    SectionKind.ABSTRACT,
    SectionKind.METHODS,
    SectionKind.RESULTS,
    SectionKind.DISCUSSION,
)
DOCUMENTS = "documents"
"""The stage of failures to have a text."""
ANSWERS_PER_WORK = 2
"""Passages of one work that bear on the question; of any other aspect there is one."""


@dataclass(frozen=True, slots=True)
class Read:
    """Readings of works, in their order.

    Attributes:
        texts: of every work that could be read, all that it was read from.
        full_text: those read in more than their abstract.
    """

    quotes: tuple[SurveyQuote, ...]
    texts: Mapping[PaperId, str]
    full_text: frozenset[PaperId]
    failures: tuple[Failure, ...]

    def quotes_of(self, paper_id: PaperId) -> list[SurveyQuote]:
        return [quote for quote in self.quotes if quote.paper_id == paper_id]


@dataclass(frozen=True, slots=True)
class _Readable:
    paper: Paper
    sections: tuple[PaperSection, ...]


async def read_works(
    question: str,
    papers: Sequence[Paper],
    parameters: SurveyParameters,
    engine: Engine,
    documents: DocumentLibrary,
) -> Read:
    """Read `papers` in batches side by side: their full text where it can be had, else the
    abstract.

    A work without either is not read, and a failure says why.
    """
    answers = await side_by_side(documents.sections((paper,)) for paper in papers)
    failures = [
        failure
        for paper, answer in zip(papers, answers, strict=True)
        for failure in look_up_failures(answer.failures, DOCUMENTS, paper.paper_id)
    ]
    found = [
        _Readable(paper, _sections(paper, answer))
        for paper, answer in zip(papers, answers, strict=True)
    ]
    readable = [each for each in found if each.sections]
    batches = even_batches(readable, parameters.papers_per_reading_call)
    results = await first_alone(
        [partial(_read, question, batch, parameters, engine) for batch in batches]
    )
    return Read(
        quotes=tuple(quote for quotes, _ in results for quote in quotes),
        texts={
            each.paper.paper_id: "\n\n".join(section.text for section in each.sections)
            for each in readable
        },
        full_text=frozenset(
            each.paper.paper_id
            for each in readable
            if any(section.section is not SectionKind.ABSTRACT for section in each.sections)
        ),
        failures=(*failures, *(failure for _, more in results for failure in more)),
    )


def _sections(paper: Paper, answer: Answer[PaperSection]) -> tuple[PaperSection, ...]:
    own = [section for section in answer.items if section.paper_id == paper.paper_id]
    return tuple(
        section
        for kind in _READ_KINDS
        for section in own
        if section.section is kind and section.text.strip()
    )


def _shown(question: str, key: str, each: _Readable, word_limit: int) -> ReadWork:
    limit = max(word_limit // len(each.sections), 1)
    sections = []
    for section in each.sections:
        text, left_out = nearest_sentences(question, section.text, limit)
        sections.append(ReadSection(kind=section.section.value, text=text, words_left_out=left_out))
    return ReadWork(key=key, title=each.paper.title, sections=tuple(sections))


async def _read(
    question: str,
    batch: Sequence[_Readable],
    parameters: SurveyParameters,
    engine: Engine,
) -> tuple[list[SurveyQuote], Sequence[Failure]]:
    keys = show([each.paper for each in batch])
    asked = ReadingInput(
        question=question,
        papers=tuple(
            _shown(question, keys.key_of(each.paper.paper_id), each, parameters.words_per_paper)
            for each in batch
        ),
    )
    outcome = await engine.run(SURVEY_READING, asked)
    subject = f"reading of {len(batch)} works"
    if isinstance(outcome, Unscored):
        return [], call_failures([outcome], STAGE, subject)
    entries = by_key(outcome.value.papers, [key for key, _ in keys])
    quotes: list[SurveyQuote] = []
    wrong = 0
    for each in batch:
        entry = entries.get(keys.key_of(each.paper.paper_id))
        if entry is not None:
            own, unfound = _quotes(each, entry)
            quotes += own
            wrong += unfound
    return quotes, _what_is_wrong(outcome.value.papers, entries, keys, wrong, subject)


def _quotes(each: _Readable, entry: ReadEntry) -> tuple[list[SurveyQuote], int]:
    """The passages that stand in the work, and how many do not."""
    found: dict[str, SurveyQuote] = {}
    taken: dict[Aspect, int] = {}
    unfound = 0
    for passage in entry.passages:
        quote, aspect = " ".join(passage.quote.split()), passage.aspect
        if aspect is None or not quote:
            continue
        stands = next((one for one in each.sections if stands_in(quote, one.text)), None)
        if stands is None or len(quote) > LONGEST_QUOTE:
            unfound += 1
            continue
        most = ANSWERS_PER_WORK if aspect is Aspect.ANSWER else 1
        if quote not in found and taken.get(aspect, 0) < most:
            taken[aspect] = taken.get(aspect, 0) + 1
            found[quote] = SurveyQuote(
                paper_id=each.paper.paper_id,
                said_in_paper_id=each.paper.paper_id,
                quote=quote,
                aspect=aspect,
                section=stands.section,
            )
    return list(found.values()), unfound


def _what_is_wrong(
    given: Sequence[ReadEntry],
    entries: Mapping[str, ReadEntry],
    keys: Shown,
    unfound: int,
    subject: str,
) -> list[Failure]:
    shown = {key.casefold() for key, _ in keys}
    invented = len({entry.key for entry in given if entry.key.casefold() not in shown})
    missing = len(keys) - len(entries)
    wrong = {
        f"{unfound} passages do not stand in the work they were said to be from": unfound,
        f"{invented} keys were answered for that were not shown": invented,
        f"{missing} works were not answered for": missing,
    }
    return [
        failure
        for detail, count in wrong.items()
        for failure in omission_failures(STAGE, subject, detail, count)
    ]
