"""Review of a method by its evidence, and a summary over all methods.

Baselines: passages for and against, closest paper first, and a score from their balance; for the
summary the first passage for and against, of the methods with the clearest scores. No suggestions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.judging.suggestions import ProposedSuggestions
from tasks.soundness.steps.wording import (
    Closeness,
    Fingerprint,
    closeness,
    fingerprint,
    fingerprint_of_method,
    own_part,
    quotable,
)
from tasks.text.quotations import cited, passages
from tasks.text.signs import Reading, read_sentence
from tasks.text.words import sentences


class EvidenceShown(Noun):
    key: str
    title: str
    published: str = Field(description="YYYY-MM, YYYY, or `undated`.")
    read_from: str = Field(description="`full text` or `abstract`.")
    relevance: int | None = Field(
        default=None, ge=0, le=3, description="1 distant, 2 related, 3 close; None: not graded."
    )
    citation_count: int | None = Field(ge=0)
    method: str
    results: str
    context: str


_FULL_SHARE = 0.45
_ABSTRACT_DISCOUNT = 0.85
_NEAR_WORDS, _VERY_NEAR_WORDS = 3, 6


@dataclass(frozen=True, slots=True)
class WeighedPaper:
    """A paper with its best outcome for and against the method, weighted by closeness."""

    key: str
    closeness_0_to_1: float
    favourable: Reading | None
    unfavourable: Reading | None


def weigh_papers(method_text: str, evidence: Sequence[EvidenceShown]) -> list[WeighedPaper]:
    """Return the papers that share wording with the method, closest first.

    Ties keep their order.
    """
    method, own_words = fingerprint_of_method(method_text), fingerprint(own_part(method_text))
    weighed_papers = [
        paper for item in evidence if (paper := _weigh(item, method, own_words)) is not None
    ]
    return sorted(weighed_papers, key=lambda paper: -paper.closeness_0_to_1)


def _weigh(item: EvidenceShown, method: Fingerprint, own_words: Fingerprint) -> WeighedPaper | None:
    text = "\n".join((item.title, item.method, item.results, item.context))
    paper = fingerprint(text)
    paper_closeness = closeness(method, paper)
    if not (paper_closeness.informative_word_count or paper_closeness.pair_count):
        return None
    readings = [
        read_sentence(sentence) for sentence in sentences(item.results) if quotable(sentence)
    ]
    shares_by_sentence = {
        reading.sentence: closeness(method, fingerprint(reading.sentence)).share_0_to_1
        for reading in readings
    }
    readings.sort(
        key=lambda reading: (
            -(shares_by_sentence[reading.sentence] + 0.1 * reading.figures + 0.1 * reading.finding)
        )
    )
    own_closeness = closeness(own_words, paper)
    favourable = [
        reading
        for reading in readings
        if reading.sign == "positive" and reading.finding and not reading.of_others
    ]
    unfavourable = [
        reading for reading in readings if reading.sign == "negative" and _limits(reading, method)
    ]
    discount = 1.0 if item.read_from == "full text" else _ABSTRACT_DISCOUNT
    return WeighedPaper(
        key=item.key,
        closeness_0_to_1=round(min(paper_closeness.share_0_to_1 / _FULL_SHARE, 1.0) * discount, 3),
        favourable=next(
            (reading for reading in favourable if _bears(reading, own_words, own_closeness)), None
        ),
        unfavourable=unfavourable[0] if unfavourable else None,
    )


def _bears(reading: Reading, own_words: Fingerprint, paper_closeness: Closeness) -> bool:
    """Return whether a success is evidence for the method, not only for the paper's own subject.

    Either the sentence shares the method's own words, or the paper as a whole is very close.
    """
    similarity = closeness(own_words, fingerprint(reading.sentence))
    is_near = (
        paper_closeness.informative_word_count >= _NEAR_WORDS or paper_closeness.pair_count >= 1
    )
    is_very_near = paper_closeness.informative_word_count >= _VERY_NEAR_WORDS or (
        is_near and paper_closeness.pair_count >= 1
    )
    return (
        similarity.informative_word_count >= 2
        or (similarity.informative_word_count == 1 and is_near)
        or is_very_near
    )


def _limits(reading: Reading, method: Fingerprint) -> bool:
    least_words = 2 if reading.of_others else 1
    return closeness(method, fingerprint(reading.sentence)).informative_word_count >= least_words


class ReviewInput(Noun):
    idea: str
    idea_words_left_out: int = Field(
        default=0, ge=0, description="The sentences nearest to the methods are shown."
    )
    method: str
    evidence: tuple[EvidenceShown, ...] = Field(
        min_length=1, description="Newest first; of the same date, best passage first."
    )
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each text; None: as many as it needs."
    )


class ReviewReply(Reply):
    """Reply to `soundness_review`."""

    support: Prose
    contradictions: Prose
    suggestions: ProposedSuggestions = Field(
        default=(), description="Up to two changes, the more useful first."
    )
    open_questions: Prose = Field(default="", description="Up to two, the reviewer's own.")
    score: float = Field(
        ge=0, le=10, description="0 the method fails, 5 mixed or thin evidence, 10 established."
    )


_MOST_QUOTATIONS = 5
_PRIOR_WEIGHT = 0.8
_PRIOR_0_TO_1 = 0.35
_FAILURE_WEIGHT = 2.2
_LIMIT_OF_OTHERS_WEIGHT = 0.7
_SILENT_WEIGHT = 0.25


async def baseline_review(inputs: ReviewInput, _tools: BaselineTools) -> ReviewReply | NoAnswer:
    """Return passages for and against with keys, papers without an outcome, and the score.

    Suggestions stay empty, as they cannot be derived from wording.
    """
    papers = weigh_papers(inputs.method, inputs.evidence)
    if not papers:
        return NoAnswer(
            Reason.NO_EVIDENCE, "none of the papers shown shares wording with the method"
        )
    supporting_sentences = [
        (paper.favourable.sentence, paper.key) for paper in papers if paper.favourable
    ]
    contradicting_sentences = [
        (paper.unfavourable.sentence, paper.key)
        for paper in sorted(papers, key=lambda paper: -_against(paper))
        if paper.unfavourable
    ]
    silent_keys = [each.key for each in papers if not (each.favourable or each.unfavourable)]
    paragraphs = [
        passages(supporting_sentences[:_MOST_QUOTATIONS]),
        f"Related papers that state no outcome: {len(silent_keys)} {cited(silent_keys)}"
        if silent_keys
        else "",
    ]
    return ReviewReply(
        support="\n\n".join(filter(None, paragraphs)),
        contradictions=passages(contradicting_sentences[:_MOST_QUOTATIONS]),
        score=soundness_score(papers),
    )


def soundness_score(papers: list[WeighedPaper]) -> float:
    """Return the soundness, 0 to 10 with one decimal: the mean of a Beta distribution.

    10 · (S + 0.35 · 0.8) / (S + C + 0.8). S adds up the closeness (0 to 1) of each paper with a
    favorable outcome, and a quarter of it for a paper without an outcome. C adds up the closeness
    of each paper that reports a failure, times 2.2 because failures are published less often than
    successes, or a limit of comparable work, times 0.7 because such sentences often motivate a
    remedy. The prior is 3.5 without evidence: an unproven method is more likely to fail.
    """
    support = sum(paper.closeness_0_to_1 * _for_weight(paper) for paper in papers)
    contradiction = sum(map(_against, papers))
    return round(
        10 * (support + _PRIOR_0_TO_1 * _PRIOR_WEIGHT) / (support + contradiction + _PRIOR_WEIGHT),
        1,
    )


def _for_weight(paper: WeighedPaper) -> float:
    if paper.favourable is not None:
        return 1.0
    return _SILENT_WEIGHT if paper.unfavourable is None else 0.0


def _against(paper: WeighedPaper) -> float:
    if paper.unfavourable is None:
        return 0.0
    weight = _LIMIT_OF_OTHERS_WEIGHT if paper.unfavourable.of_others else _FAILURE_WEIGHT
    return paper.closeness_0_to_1 * weight


SOUNDNESS_REVIEW = Step(
    name="soundness_review",
    version=8,
    package="tasks.soundness",
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)


class ReviewShown(Noun):
    """One method's review, with citation keys that hold across the whole idea."""

    rank: int = Field(ge=1)
    method: str
    score_0_to_10: float = Field(ge=0, le=10)
    evidence_count: int = Field(ge=1)
    support: str
    contradictions: str
    suggestions: str


class SummaryInput(Noun):
    idea: str
    reviews: tuple[ReviewShown, ...] = Field(
        min_length=1, description="In order of the methods' importance."
    )
    unreviewed: tuple[str, ...] = Field(
        default=(), description="Methods without a scored review, in order of importance."
    )


# No bound of the schema: a fourth entry would cost the whole reply.
_UP_TO_THREE = Field(description="Up to three, each of one or two sentences.")


class SummaryReply(Reply):
    """Reply to `soundness_summary`: most important first; what is beyond three is left out."""

    strengths: tuple[str, ...] = _UP_TO_THREE
    weaknesses: tuple[str, ...] = _UP_TO_THREE
    suggestions: tuple[str, ...] = _UP_TO_THREE


_MOST_PASSAGES = 3


async def baseline_summary(inputs: SummaryInput, _tools: BaselineTools) -> SummaryReply:
    """Return the first supporting passages of high-scored methods, and contradicting ones of low-scored.

    Up to three of each, important methods first.
    """
    return SummaryReply(
        strengths=_choose_passages(
            inputs, lambda review: review.support, lambda review: review.score_0_to_10
        ),
        weaknesses=_choose_passages(
            inputs, lambda review: review.contradictions, lambda review: 10 - review.score_0_to_10
        ),
        suggestions=(),
    )


def _choose_passages(
    inputs: SummaryInput, part: Callable[[ReviewShown], str], weight: Callable[[ReviewShown], float]
) -> tuple[str, ...]:
    """Return passages by weight and importance, each once."""
    order = sorted(
        inputs.reviews,
        key=lambda review: (-(weight(review) + 0.5) / (1 + 0.15 * (review.rank - 1)), review.rank),
    )
    reviews_by_passage: dict[str, ReviewShown] = {}
    for review in order:
        texts = (text for text in part(review).split("\n\n") if text.startswith("“"))
        fresh = next((passage for passage in texts if passage not in reviews_by_passage), None)
        if fresh is not None:
            reviews_by_passage[fresh] = review
    return tuple(f"Method {review.rank}: {text}" for text, review in reviews_by_passage.items())[
        :_MOST_PASSAGES
    ]


SOUNDNESS_SUMMARY = Step(
    name="soundness_summary",
    version=4,
    package="tasks.soundness",
    input_model=SummaryInput,
    output_model=SummaryReply,
    baseline=baseline_summary,
    kind=StepKind.JUDGEMENT,
)
