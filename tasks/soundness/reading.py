"""Reading of papers for a method: relevance, methods and results (ScholarEval §2.1, B.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.base import replace
from schemas.failure import Answer, Failure
from schemas.identifiers import PaperId
from schemas.judgement.soundness import Method, MethodEvidence
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.citations.keys import Shown, show
from tasks.citations.spelled import spelled_out
from tasks.judging.findings import NO_PROMPT_PAPERS, omission_failures
from tasks.judging.packing import side_by_side
from tasks.judging.step import unasked_provenance, with_shortening
from tasks.soundness.gathering import STAGE, Context, MethodPapers
from tasks.soundness.steps.method_evidence import (
    METHOD_EVIDENCE,
    EvidenceInput,
    PaperReading,
    PaperShown,
    SectionShown,
)
from tasks.text.quotations import stands_in
from tasks.text.words import Excerpt, nearest_sentences, shorten_words

_SHOWN_KINDS = (
    SectionKind.ABSTRACT,
    SectionKind.METHODS,
    SectionKind.RESULTS,
    SectionKind.DISCUSSION,
)
PASSAGES, CITED_IN = "passages", "cited_in"
"""Section kinds: passages of the paper itself, and passages that cite it."""
_KEY = bounded(r"P\s?(\d+)", IGNORECASE)
_NUMBER = bounded(r"\d{1,12}(?:,\d{3}){0,3}(?:\.\d{1,9})?|\.\d{1,9}")
LEAST_CHARACTERS_OF_NUMBERS = 8
"""`n = 12 mice` suffices, because each number must stand in the quotation."""

_Readable = tuple[Paper, tuple[SectionShown, ...]]


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """Evidence in the order of the papers.

    `full_text` counts papers read beyond the abstract.
    """

    evidence: tuple[MethodEvidence, ...]
    full_text: frozenset[str]
    failures: tuple[Failure, ...]
    source_failed: bool

    def with_more(self, further: "ReadingResult") -> "ReadingResult":
        return ReadingResult(
            evidence=(*self.evidence, *further.evidence),
            full_text=self.full_text | further.full_text,
            failures=(*self.failures, *further.failures),
            source_failed=self.source_failed or further.source_failed,
        )


async def read_papers(
    context: Context,
    plan: Excerpt,
    method: Method,
    collection: MethodPapers,
    read_ids: Sequence[PaperId] = (),
) -> ReadingResult:
    """Read the papers of `collection` and their passages, in concurrent batches.

    Every paper gets a row, scored or not. Without methods and results (ScholarEval F.3, -MRE)
    papers are judged by their passages alone, and nothing is fetched.

    Args:
        plan: excerpt of the idea, equal in all readings.
        read_ids: papers already read.
    """
    parameters = context.parameters
    papers = [paper for paper in collection.papers if paper.paper_id not in read_ids]
    answers: list[Answer[PaperSection]] = [Answer(())] * len(papers)
    limit = parameters.section_word_limit
    if parameters.extract_methods_and_results:
        answers = await side_by_side(context.fetched.sections(paper) for paper in papers)
        sections = [
            _sections_shown(method, paper, answer.items, collection.passages, limit)
            for paper, answer in zip(papers, answers, strict=True)
        ]
    else:
        sections = [_passages_shown(paper, collection.passages, limit) for paper in papers]
    readable = [pair for pair in zip(papers, sections, strict=True) if pair[1]]
    size = parameters.papers_per_reading_call
    results = await side_by_side(
        _read_batch(context, plan, method, readable[start : start + size])
        for start in range(0, len(readable), size)
    )
    rows = {row.paper_id: row for batch_rows, _ in results for row in batch_rows}
    for paper, answer in zip(papers, answers, strict=True):
        if paper.paper_id not in rows:
            has_failed = any(each.reason is not Reason.NO_ABSTRACT for each in answer.failures)
            reason = Reason.SOURCE_UNAVAILABLE if has_failed else Reason.NO_EVIDENCE
            provenance = unasked_provenance(METHOD_EVIDENCE, context.engine)
            rows[paper.paper_id] = _row(method, paper, reason, NO_PROMPT_PAPERS, provenance)
    return ReadingResult(
        evidence=tuple(rows[paper.paper_id] for paper in papers),
        full_text=frozenset(
            paper.paper_id
            for paper, paper_sections in readable
            if {each.kind for each in paper_sections} - {SectionKind.ABSTRACT, PASSAGES, CITED_IN}
        ),
        failures=tuple(failure for _, failures in results for failure in failures),
        source_failed=any(
            row.unscored_reason is Reason.SOURCE_UNAVAILABLE for row in rows.values()
        ),
    )


def _passages_shown(
    paper: Paper, passages: Sequence[Passage], word_limit: int
) -> tuple[SectionShown, ...]:
    passage_text = "\n\n".join(
        passage.text for passage in passages if passage.paper_id == paper.paper_id
    )
    text, words_left_out = shorten_words(passage_text, word_limit)
    return (SectionShown(kind=PASSAGES, text=text or paper.title, words_left_out=words_left_out),)


def _sections_shown(
    method: Method,
    paper: Paper,
    sections: Sequence[PaperSection],
    passages: Sequence[Passage],
    word_limit: int,
) -> tuple[SectionShown, ...]:
    """Return the sections in reading order, other passages of the paper, and citing passages.

    Longer sections are cut to the sentences nearest to the method.
    """
    texts = {
        kind.value: "\n\n".join(section.text for section in sections if section.section is kind)
        for kind in _SHOWN_KINDS
    }
    if not any(texts.values()):
        return ()
    full_text = " ".join(" ".join(texts.values()).split())
    texts[PASSAGES] = "\n\n".join(
        passage.text
        for passage in passages
        if passage.paper_id == paper.paper_id and " ".join(passage.text.split()) not in full_text
    )
    texts[CITED_IN] = "\n\n".join(
        passage.text for passage in passages if paper.paper_id in passage.cited_paper_ids
    )
    excerpts = (
        (kind, nearest_sentences(method.text, text, word_limit))
        for kind, text in texts.items()
        if text.strip()
    )
    return tuple(
        SectionShown(kind=kind, text=text, words_left_out=words_left_out)
        for kind, (text, words_left_out) in excerpts
    )


async def _read_batch(
    context: Context, plan: Excerpt, method: Method, batch: Sequence[_Readable]
) -> tuple[list[MethodEvidence], list[Failure]]:
    keys = show([paper for paper, _ in batch])
    question = EvidenceInput(
        idea=plan.text,
        idea_words_left_out=plan.words_left_out,
        method=method.text,
        papers=tuple(
            PaperShown(key=keys.key_of(paper.paper_id), title=paper.title, sections=sections)
            for paper, sections in batch
        ),
        words_per_text=context.parameters.words_per_finding,
    )
    outcome = await context.readings.ask(lambda: context.engine.run(METHOD_EVIDENCE, question))
    # By number of the key: the first of two readings counts, and an invalid key is number 0.
    readings: dict[int, PaperReading] = {}
    detail = "the reply says nothing usable about this paper, although it was asked about it"
    missing = Reason.REPLY_UNPARSABLE
    if isinstance(outcome, Unscored):
        missing, detail = outcome.reason, outcome.detail
    else:
        for reading in outcome.value.papers:
            key = _KEY.search(reading.key)
            readings.setdefault(int(key.group(1)) if key else 0, reading)
    rows: list[MethodEvidence] = []
    failures: list[Failure] = []
    dropped_count = 0
    for place, (paper, sections) in enumerate(batch, start=1):
        provenance = with_shortening(outcome.provenance, _shortening(sections))
        row = _row(method, paper, readings.get(place, missing), keys, provenance)
        if row.relevant:
            text = "\n".join(each.text for each in sections)
            numbers, count = _numbers(readings[place], text)
            row, dropped_count = replace(row, **numbers), dropped_count + count
        rows.append(row)
        if row.unscored_reason is not None:
            subject = f"{method.method_id}/{row.paper_id}"
            failures.append(
                Failure(stage=STAGE, subject=subject, reason=row.unscored_reason, detail=detail)
            )
    unknown_keys = len(set(readings) - set(range(1, len(batch) + 1)))
    detail = (
        f"the reply answers for {unknown_keys} keys that were not shown; that part was left out"
    )
    failures += omission_failures(STAGE, method.method_id, detail, unknown_keys)
    detail = f"{dropped_count} numbers do not stand in the words quoted from the paper: left out"
    failures += omission_failures(
        STAGE, method.method_id, detail, dropped_count, Reason.PASSAGE_NOT_FOUND
    )
    return rows, failures


def _numbers(reading: PaperReading, text: str) -> tuple[dict[str, Any], int]:
    """Return the numbers that stand in their quotation, and how many others there are."""
    numbers = {name: getattr(reading, name) for name in ("sample_size", "effect", "spread")}
    given = {name: value for name, value in numbers.items() if value is not None}
    quote, stated = reading.numbers_quote.strip(), set()
    if stands_in(quote, text, least_characters=LEAST_CHARACTERS_OF_NUMBERS):
        stated = {float(each.replace(",", "")) for each in _NUMBER.findall(quote)}
    kept: dict[str, Any] = {
        name: value
        for name, value in given.items()
        if abs(value) in stated and (value > 0 or name == "effect")
    }
    if not float(kept.get("sample_size", 1)).is_integer():
        del kept["sample_size"]
    dropped_count = len(given) - len(kept)
    if "sample_size" in kept:
        kept["sample_size"] = int(kept["sample_size"])
    return ({**kept, "numbers_quote": quote} if kept else {}), dropped_count


def _shortening(sections: Sequence[SectionShown]) -> str | None:
    omissions = [
        f"{section.words_left_out} words of {section.kind}"
        for section in sections
        if section.words_left_out
    ]
    return f"left out at the section limit: {', '.join(omissions)}" if omissions else None


def _row(
    method: Method,
    paper: Paper,
    reading: PaperReading | Reason,
    keys: Shown,
    provenance: Provenance,
) -> MethodEvidence:
    if isinstance(reading, PaperReading) and reading.relevance > 0:
        texts = (reading.method, reading.results, reading.context)
        if not (reading.method.strip() or reading.results.strip()):
            reading = Reason.REPLY_EMPTY
    else:
        texts = ("", "", "")
    if isinstance(reading, Reason):
        return MethodEvidence(
            method_id=method.method_id,
            paper_id=paper.paper_id,
            relevant=None,
            unscored_reason=reading,
            provenance=provenance,
        )
    cells = [spelled_out(text, keys, paper.paper_id) for text in texts]
    (procedure, _), (results, _), (conditions, _) = cells
    return MethodEvidence(
        method_id=method.method_id,
        paper_id=paper.paper_id,
        relevant=reading.relevance > 0,
        relevance_0_to_3=reading.relevance,
        method=procedure,
        results=results,
        context=conditions,
        removed_citation_count=sum(removed_count for _, removed_count in cells),
        provenance=provenance,
    )
