"""`method_evidence`: relevance, methods and results of papers with regard to a method.

Baseline: relevance by shared wording, and sentences that state procedures and findings.
"""

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, Step
from tasks.soundness.steps.wording import (
    ALONE,
    CORE_SIZE,
    Fingerprint,
    closeness,
    core_words,
    fingerprint,
    fingerprint_of_method,
    is_related,
    quotable,
)
from tasks.text.signs import Reading, read_sentence
from tasks.text.words import rank_sentences, sentences


class SectionShown(Noun):
    kind: str = Field(
        pattern="^[a-z_]+$",
        description="abstract, methods, results, discussion, passages or cited_in.",
    )
    text: str
    words_left_out: int = Field(default=0, ge=0)


class PaperShown(Noun):
    key: str
    title: str
    sections: tuple[SectionShown, ...] = Field(min_length=1)


class EvidenceInput(Noun):
    idea: str
    idea_words_left_out: int = Field(
        default=0, ge=0, description="The sentences nearest to the methods are shown."
    )
    method: str
    papers: tuple[PaperShown, ...] = Field(min_length=1)
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each text; None: as many as it needs."
    )


def _number(value: Any) -> float | None:
    """Read a number; anything else is None, so that it does not spoil the reading."""
    try:
        number = float(str(value).replace(",", "").strip(" %"))
    except ValueError:
        return None
    return number if math.isfinite(number) and not isinstance(value, bool) else None


_OptionalNumber = Annotated[float | None, BeforeValidator(_number)]


class PaperReading(Reply):
    """What one paper has to say about the method; the three texts are empty when it is
    unrelated.
    """

    key: str
    relevance: int = Field(ge=0, le=3, description="0 unrelated, 1 distant, 2 related, 3 close.")
    method: Prose = ""
    results: Prose = Field(default="", description="One sentence of a distant paper.")
    context: Prose = ""
    numbers_quote: Prose = Field(
        default="", description="One sentence of the paper that states the numbers, copied."
    )
    sample_size: _OptionalNumber = Field(default=None, description="A whole number of cases.")
    effect: _OptionalNumber = None
    spread: _OptionalNumber = None


class EvidenceReply(Reply):
    """Reply to `method_evidence`: one reading per key."""

    papers: tuple[PaperReading, ...]


_SENTENCES_READ = 100
_SAMPLE = bounded(r"\bn ?= ?(\d[\d,]{0,12})\b", IGNORECASE)


async def baseline_evidence(inputs: EvidenceInput, _tools: BaselineTools) -> EvidenceReply:
    """Read each paper separately, so that the answer does not depend on the batch."""
    method = fingerprint_of_method(inputs.method)
    core = core_words(inputs.idea, CORE_SIZE)
    return EvidenceReply(
        papers=tuple(_reading(paper, inputs.method, method, core) for paper in inputs.papers)
    )


def _reading(
    paper: PaperShown, method_text: str, method: Fingerprint, core: frozenset[str]
) -> PaperReading:
    digest = fingerprint(_digest(paper))
    similarity = closeness(method, digest)
    if not is_related(similarity, len(core & digest.words)):
        return PaperReading(key=paper.key, relevance=0)
    readings = [read_sentence(sentence) for sentence in _quotable_sentences(paper)]
    scores_by_sentence = {
        text: score
        for score, text in rank_sentences(
            method_text, [reading.sentence for reading in readings], len(readings)
        )
    }
    results = _results(readings, scores_by_sentence)
    procedures = _best(
        [reading for reading in readings if reading not in results],
        scores_by_sentence,
        lambda reading: 0.4 * reading.procedure - 0.3 * reading.of_others,
        2,
    )
    other_readings = [
        reading
        for reading in readings
        if reading not in (*results, *procedures)
        and reading.condition
        and reading.sign != "negative"
        and not reading.of_others
    ]
    context = _best(other_readings, scores_by_sentence, lambda reading: 0.1 * reading.figures, 1)
    sample = next(
        ((each.sentence, size[1]) for each in readings if (size := _SAMPLE.search(each.sentence))),
        ("", None),
    )
    return PaperReading(
        key=paper.key,
        relevance=(3 if similarity.informative_word_count >= ALONE else 2)
        if results or procedures
        else 0,
        method=_join_sentences(procedures, readings),
        results=_join_sentences(results, readings),
        context=_join_sentences(context, readings),
        numbers_quote=sample[0],
        sample_size=sample[1],
    )


def _digest(paper: PaperShown) -> str:
    """Return title and abstract, else title and all sections."""
    abstract = [section.text for section in paper.sections if section.kind == "abstract"]
    return "\n".join((paper.title, *(abstract or [section.text for section in paper.sections])))


def _quotable_sentences(paper: PaperShown) -> list[str]:
    unique = dict.fromkeys(
        sentence
        for section in paper.sections
        for sentence in sentences(section.text)
        if quotable(sentence)
    )
    return list(unique)[:_SENTENCES_READ]


def _results(readings: list[Reading], closeness_by_sentence: dict[str, float]) -> list[Reading]:
    outcomes = [
        reading
        for reading in readings
        if not reading.of_others
        and (reading.finding or (reading.sign != "neutral" and not reading.procedure))
    ]
    best = _best(
        outcomes,
        closeness_by_sentence,
        lambda reading: (
            0.3 * reading.finding + 0.2 * (reading.sign != "neutral") + 0.15 * reading.figures
        ),
        2,
    )
    negative_readings = [
        reading
        for reading in readings
        if reading.sign == "negative"
        and reading not in best
        and closeness_by_sentence[reading.sentence] > 0
    ]
    return [
        *best,
        *_best(negative_readings, closeness_by_sentence, lambda reading: 0.3 * reading.finding, 1),
    ]


def _best(
    readings: list[Reading],
    closeness_by_sentence: dict[str, float],
    bonus: Callable[[Reading], float],
    limit: int,
) -> list[Reading]:
    order = sorted(
        range(len(readings)),
        key=lambda place: (
            -(closeness_by_sentence[readings[place].sentence] + bonus(readings[place])),
            place,
        ),
    )
    return [readings[place] for place in order[:limit]]


def _join_sentences(selection: list[Reading], readings: list[Reading]) -> str:
    """Join the selected sentences in the paper's order, as paragraphs for later quotation."""
    return "\n\n".join(reading.sentence for reading in readings if reading in selection)


METHOD_EVIDENCE = Step(
    name="method_evidence",
    version=9,
    package="tasks.soundness",
    input_model=EvidenceInput,
    output_model=EvidenceReply,
    baseline=baseline_evidence,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
