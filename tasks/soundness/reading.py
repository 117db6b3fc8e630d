"""Reading of papers for a method: relevance, methods and results (ScholarEval §2.1, B.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.failure import Answer, Failure
from schemas.judgement.soundness import Method, MethodEvidence
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.outcome import Provenance, Unscored
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.citations.keys import Shown, show
from tasks.citations.spelled import spelled_out
from tasks.judging.findings import omission_failures
from tasks.judging.packing import Beginning, side_by_side
from tasks.judging.step import Engine, unasked_provenance, with_shortening
from tasks.soundness.gathering import STAGE, FetchedPapers
from tasks.soundness.steps.method_evidence import (
    METHOD_EVIDENCE,
    EvidenceInput,
    EvidenceReply,
    PaperReading,
    PaperShown,
    SectionShown,
)
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


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """Evidence in the order of the papers; `full_text`: papers read beyond the abstract."""

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


@dataclass(frozen=True, slots=True)
class _Readable:
    paper: Paper
    sections: tuple[SectionShown, ...]

    @property
    def shortening(self) -> str | None:
        omissions = [
            f"{section.words_left_out} words of {section.kind}"
            for section in self.sections
            if section.words_left_out
        ]
        return f"left out at the section limit: {', '.join(omissions)}" if omissions else None


async def read_papers(
    plan: Excerpt,
    method: Method,
    papers: Sequence[Paper],
    passages: Sequence[Passage],
    parameters: SoundnessParameters,
    engine: Engine,
    fetched: FetchedPapers,
    beginning: Beginning,
) -> ReadingResult:
    """Read the papers and their passages, in concurrent batches.

    Every paper gets a row, scored or not. Without methods and results (ScholarEval F.3, -MRE)
    papers are judged by their passages alone, and nothing is fetched.

    Args:
        plan: excerpt of the idea, equal in all readings.
        beginning: prompt prefix of all readings for the idea.
    """
    limit = parameters.section_word_limit
    answers: list[Answer[PaperSection]] = [Answer(())] * len(papers)
    if parameters.extract_methods_and_results:
        answers = await side_by_side([fetched.sections(paper) for paper in papers])
        sections = [
            _sections_shown(method, paper, answer.items, passages, limit)
            for paper, answer in zip(papers, answers, strict=True)
        ]
    else:
        sections = [_passages_shown(paper, passages, limit) for paper in papers]
    readable = [
        _Readable(paper, paper_sections)
        for paper, paper_sections in zip(papers, sections, strict=True)
        if paper_sections
    ]
    size = parameters.papers_per_reading_call
    batches = [readable[start : start + size] for start in range(0, len(readable), size)]
    batch_results = await side_by_side(
        [_read_batch(plan, method, batch, parameters, engine, beginning) for batch in batches]
    )
    rows = {row.paper_id: row for batch_rows, _ in batch_results for row in batch_rows}
    for paper, answer in zip(papers, answers, strict=True):
        if paper.paper_id not in rows:
            has_failed = any(
                failure.reason is not Reason.NO_ABSTRACT for failure in answer.failures
            )
            reason = Reason.SOURCE_UNAVAILABLE if has_failed else Reason.NO_EVIDENCE
            provenance = unasked_provenance(METHOD_EVIDENCE, engine)
            rows[paper.paper_id] = _unscored(method, paper, reason, provenance)
    return ReadingResult(
        evidence=tuple(rows[paper.paper_id] for paper in papers),
        full_text=frozenset(
            each.paper.paper_id
            for each in readable
            if any(
                section.kind not in (SectionKind.ABSTRACT, PASSAGES, CITED_IN)
                for section in each.sections
            )
        ),
        failures=tuple(failure for _, failures in batch_results for failure in failures),
        source_failed=any(
            row.unscored_reason is Reason.SOURCE_UNAVAILABLE for row in rows.values()
        ),
    )


def _passages_shown(
    paper: Paper, passages: Sequence[Passage], word_limit: int
) -> tuple[SectionShown, ...]:
    whole = "\n\n".join(passage.text for passage in passages if passage.paper_id == paper.paper_id)
    text, words_left_out = shorten_words(whole, word_limit)
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
    whole = " ".join(" ".join(texts.values()).split())
    texts[PASSAGES] = "\n\n".join(
        passage.text
        for passage in passages
        if passage.paper_id == paper.paper_id and " ".join(passage.text.split()) not in whole
    )
    texts[CITED_IN] = "\n\n".join(
        passage.text for passage in passages if paper.paper_id in passage.cited_paper_ids
    )
    entries: list[SectionShown] = []
    for kind, text in texts.items():
        if text.strip():
            nearest_text, words_left_out = nearest_sentences(method.text, text, word_limit)
            entries.append(
                SectionShown(kind=kind, text=nearest_text, words_left_out=words_left_out)
            )
    return tuple(entries)


async def _read_batch(
    plan: Excerpt,
    method: Method,
    batch: Sequence[_Readable],
    parameters: SoundnessParameters,
    engine: Engine,
    beginning: Beginning,
) -> tuple[list[MethodEvidence], list[Failure]]:
    keys = show([each.paper for each in batch])
    papers = tuple(
        PaperShown(
            key=keys.key_of(each.paper.paper_id), title=each.paper.title, sections=each.sections
        )
        for each in batch
    )
    question = EvidenceInput(
        idea=plan.text,
        idea_words_left_out=plan.words_left_out,
        method=method.text,
        papers=papers,
        words_per_text=parameters.words_per_finding,
    )
    outcome = await beginning.ask(lambda: engine.run(METHOD_EVIDENCE, question))
    if isinstance(outcome, Unscored):
        provenance, detail = outcome.provenance, outcome.detail
        readings: dict[int, PaperReading] = {}
    else:
        provenance, readings = outcome.provenance, _by_number(outcome.value)
        detail = "the reply says nothing usable about this paper, although it was asked about it"
    rows: list[MethodEvidence] = []
    failures: list[Failure] = []
    for place, each in enumerate(batch, start=1):
        paper_provenance = with_shortening(provenance, each.shortening)
        reading = outcome if isinstance(outcome, Unscored) else readings.get(place)
        row = _row(method, each.paper, reading, keys, paper_provenance)
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
    return rows, [*failures, *omission_failures(STAGE, method.method_id, detail, unknown_keys)]


def _by_number(reply: EvidenceReply) -> dict[int, PaperReading]:
    """Return readings by key number; the first of two counts, and an invalid key is number 0."""
    by_number: dict[int, PaperReading] = {}
    for reading in reply.papers:
        key = _KEY.search(reading.key)
        by_number.setdefault(int(key.group(1)) if key else 0, reading)
    return by_number


def _row(
    method: Method,
    paper: Paper,
    reading: PaperReading | Unscored | None,
    keys: Shown,
    provenance: Provenance,
) -> MethodEvidence:
    if isinstance(reading, Unscored):
        return _unscored(method, paper, reading.reason, provenance)
    if reading is None:
        return _unscored(method, paper, Reason.REPLY_UNPARSABLE, provenance)
    relevant = reading.relevance > 0
    if relevant and not (reading.method.strip() or reading.results.strip()):
        return _unscored(method, paper, Reason.REPLY_EMPTY, provenance)
    texts = (reading.method, reading.results, reading.context) if relevant else ("", "", "")
    cells = [spelled_out(text, keys, paper.paper_id) for text in texts]
    (did, _), (results, _), (context, _) = cells
    return MethodEvidence(
        method_id=method.method_id,
        paper_id=paper.paper_id,
        relevant=relevant,
        relevance_0_to_3=reading.relevance,
        method=did,
        results=results,
        context=context,
        removed_citation_count=sum(removed_count for _, removed_count in cells),
        provenance=provenance,
    )


def _unscored(
    method: Method, paper: Paper, reason: Reason, provenance: Provenance
) -> MethodEvidence:
    return MethodEvidence(
        method_id=method.method_id,
        paper_id=paper.paper_id,
        relevant=None,
        unscored_reason=reason,
        provenance=provenance,
    )
