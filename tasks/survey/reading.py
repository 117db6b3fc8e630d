"""Verbatim passages read from the works of a survey, each labeled by aspect.

A passage counts only if it occurs in the text of its work.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from schemas.failure import Failure, call_failures, look_up_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, PaperSection, SectionKind
from schemas.literature.survey import SurveyParameters, SurveyQuote
from schemas.literature.survey_review import Aspect, SurveyJoin
from schemas.outcome import Unscored
from tasks.citations.keys import show
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
"""Characters. Longer passages are dropped rather than cut: a quote is complete."""


def quotes_of(
    question: str,
    paper_ids: Sequence[PaperId],
    texts: Mapping[PaperId, Paper],
    links: Sequence[CitationEdge],
) -> tuple[SurveyQuote, ...]:
    """Return for each paper one sentence of its abstract, then passages that cite it."""
    quotes: list[SurveyQuote] = []
    for paper_id in paper_ids:
        for sentence in _nearest(question, sentences(texts[paper_id].abstract or ""), 1):
            quotes.append(
                SurveyQuote(
                    paper_id=paper_id,
                    said_in_paper_id=paper_id,
                    quote=sentence,
                    section=SectionKind.ABSTRACT,
                )
            )
        quotes += quotes_by_others(question, paper_id, links)
    return tuple(quotes)


def quotes_by_others(
    question: str, paper_id: PaperId, links: Sequence[CitationEdge]
) -> Iterator[SurveyQuote]:
    """Yield the passages closest to the question in which other papers cite this one."""
    paper_of_context = {
        context: link.citing_paper_id
        for link in links
        if link.cited_paper_id == paper_id
        for context in link.contexts or ()
    }
    for context in _nearest(question, list(paper_of_context), CONTEXTS_PER_PAPER):
        yield SurveyQuote(
            paper_id=paper_id, said_in_paper_id=paper_of_context[context], quote=context
        )


def _nearest(question: str, passages: Sequence[str], limit: int) -> list[str]:
    short = [passage for passage in passages if 0 < len(passage) <= LONGEST_QUOTE]
    return [passage for _, passage in rank_sentences(question, short, limit)]


MOST_JOINS = 30
MOST_OF_A_PASSAGE = 8
"""Works of one passage that are paired, heaviest first: long citation lists join little."""


def joins_of(heaviest: Sequence[PaperId], links: Sequence[CitationEdge]) -> tuple[SurveyJoin, ...]:
    """Return pairs of works that only a third work joins, heaviest first, without duplicates.

    A passage too long to quote joins nothing.
    """
    place = {paper_id: number for number, paper_id in enumerate(heaviest)}
    works_by_passage: dict[tuple[PaperId, str], set[PaperId]] = defaultdict(set)
    direct = {frozenset((link.citing_paper_id, link.cited_paper_id)) for link in links}
    for link in links:
        for context in link.contexts or ():
            if link.cited_paper_id in place and 0 < len(context.strip()) <= LONGEST_QUOTE:
                works_by_passage[link.citing_paper_id, context].add(link.cited_paper_id)
    joins: dict[tuple[PaperId, PaperId], SurveyJoin] = {}
    for (third, passage), works in works_by_passage.items():
        ordered_works = sorted(works, key=place.__getitem__)[:MOST_OF_A_PASSAGE]
        for one, other in combinations(ordered_works, 2):
            if frozenset((one, other)) not in direct:
                join = SurveyJoin(
                    paper_id=one, other_paper_id=other, said_in_paper_id=third, passage=passage
                )
                joins.setdefault((one, other), join)
    pairs = sorted(joins, key=lambda pair: (place[pair[0]] + place[pair[1]], pair))
    return tuple(joins[pair] for pair in pairs[:MOST_JOINS])


_READ_KINDS = (
    SectionKind.ABSTRACT,
    SectionKind.METHODS,
    SectionKind.RESULTS,
    SectionKind.DISCUSSION,
)
DOCUMENTS = "documents"
"""Stage of failures to get a text."""
ANSWERS_PER_WORK = 2
"""Passages of one work that answer the question; other aspects have one each."""


@dataclass(frozen=True, slots=True)
class Readings:
    """Passages and texts of the works that were read, in their order.

    Attributes:
        texts: text read, by work.
        full_text: works read beyond their abstract.
    """

    quotes: tuple[SurveyQuote, ...]
    texts: Mapping[PaperId, str]
    full_text: frozenset[PaperId]
    failures: tuple[Failure, ...]

    def quotes_of(self, paper_id: PaperId) -> list[SurveyQuote]:
        return [quote for quote in self.quotes if quote.paper_id == paper_id]


_Readable = tuple[Paper, tuple[PaperSection, ...]]
"""A work with its sections, in the order of `_READ_KINDS`."""


async def read_works(
    question: str,
    papers: Sequence[Paper],
    parameters: SurveyParameters,
    engine: Engine,
    documents: DocumentLibrary,
) -> Readings:
    """Read `papers` in concurrent batches: full text if available, else the abstract.

    A work with neither is not read and has a failure.
    """
    answers = await side_by_side(documents.sections((paper,)) for paper in papers)
    failures = [
        failure
        for paper, answer in zip(papers, answers, strict=True)
        for failure in look_up_failures(answer.failures, DOCUMENTS, paper.paper_id)
    ]
    readable: list[_Readable] = []
    for paper, answer in zip(papers, answers, strict=True):
        sections = tuple(
            section
            for kind in _READ_KINDS
            for section in answer.items
            if (section.paper_id, section.section) == (paper.paper_id, kind)
            and section.text.strip()
        )
        if sections:
            readable.append((paper, sections))
    batches = even_batches(readable, parameters.papers_per_reading_call)
    results = await first_alone(
        [partial(_read, question, batch, parameters, engine) for batch in batches]
    )
    return Readings(
        quotes=tuple(quote for quotes, _ in results for quote in quotes),
        texts={
            paper.paper_id: "\n\n".join(section.text for section in sections)
            for paper, sections in readable
        },
        full_text=frozenset(
            paper.paper_id
            for paper, sections in readable
            if any(section.section is not SectionKind.ABSTRACT for section in sections)
        ),
        failures=(*failures, *(failure for _, more in results for failure in more)),
    )


async def _read(
    question: str,
    batch: Sequence[_Readable],
    parameters: SurveyParameters,
    engine: Engine,
) -> tuple[list[SurveyQuote], Sequence[Failure]]:
    prompt_papers = show([paper for paper, _ in batch])
    works = []
    for paper, sections in batch:
        limit = max(parameters.words_per_paper // len(sections), 1)
        shown_sections = []
        for section in sections:
            text, left_out = nearest_sentences(question, section.text, limit)
            kind = section.section.value
            shown_sections.append(ReadSection(kind=kind, text=text, words_left_out=left_out))
        key = prompt_papers.key_of(paper.paper_id)
        works.append(ReadWork(key=key, title=paper.title, sections=tuple(shown_sections)))
    inputs = ReadingInput(question=question, papers=tuple(works))
    outcome = await engine.run(SURVEY_READING, inputs)
    subject = f"reading of {len(batch)} works"
    if isinstance(outcome, Unscored):
        return [], call_failures([outcome], STAGE, subject)
    prompt_keys = [key for key, _ in prompt_papers]
    entries = by_key(outcome.value.papers, prompt_keys)
    quotes: list[SurveyQuote] = []
    absent_count = 0
    for paper, sections in batch:
        entry = entries.get(prompt_papers.key_of(paper.paper_id))
        if entry is not None:
            quotes_of_work, absent = _quotes(paper, sections, entry)
            quotes += quotes_of_work
            absent_count += absent
    reply_keys = {entry.key.casefold() for entry in outcome.value.papers}
    invented_count = len(reply_keys - {key.casefold() for key in prompt_keys})
    missing_count = len(prompt_keys) - len(entries)
    counts = {
        f"{absent_count} passages do not occur in the work they were attributed to": absent_count,
        f"{invented_count} replies were for keys not in the prompt": invented_count,
        f"{missing_count} works had no reply": missing_count,
    }
    return quotes, [
        failure
        for detail, count in counts.items()
        for failure in omission_failures(STAGE, subject, detail, count)
    ]


def _quotes(
    paper: Paper, sections: Sequence[PaperSection], entry: ReadEntry
) -> tuple[list[SurveyQuote], int]:
    """Return the passages that occur in the work, and the number of those that do not."""
    quotes: dict[str, SurveyQuote] = {}
    count_of_aspect: dict[Aspect, int] = {}
    absent = 0
    for passage in entry.passages:
        quote, aspect = " ".join(passage.quote.split()), passage.aspect
        if aspect is None or not quote:
            continue
        section = next((one for one in sections if stands_in(quote, one.text)), None)
        if section is None or len(quote) > LONGEST_QUOTE:
            absent += 1
            continue
        maximum_count = ANSWERS_PER_WORK if aspect is Aspect.ANSWER else 1
        if quote not in quotes and count_of_aspect.get(aspect, 0) < maximum_count:
            count_of_aspect[aspect] = count_of_aspect.get(aspect, 0) + 1
            quotes[quote] = SurveyQuote(
                paper_id=paper.paper_id,
                said_in_paper_id=paper.paper_id,
                quote=quote,
                aspect=aspect,
                section=section.section,
            )
    return list(quotes.values()), absent
