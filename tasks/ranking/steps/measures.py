"""Inputs of `compare_ideas`, and measures of an idea.

Every measure is between 0 and 1; one that is not available is None, not 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from pydantic import Field

from schemas.base import Noun
from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.text.words import content_words, key_phrases, outcome_cue, sentences, words


class ShownScore(Noun):
    """A score an earlier module gave."""

    name: str
    score_0_to_10: float


class ShownEvidence(Noun):
    """A paper as an engine sees it: never its identifier, so that only shown keys can be cited."""

    key: str
    title: str
    year: int | None
    idea: str = Field(description="The idea it was read for: A or B.")
    bearing: str = Field(description="for, against or neither.")
    text: str = Field(min_length=1)


class ShownIdea(Noun):
    """One of the two ideas. Texts name papers by key."""

    title: str = Field(description="Of the measures; no judge sees it.")
    text: str = Field(min_length=1, description="Without its title and addresses.")
    summary: str = ""
    claims: tuple[str, ...] = ()
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    module_scores: tuple[ShownScore, ...] = Field(default=(), description="Scored modules only.")
    dimension_scores: tuple[ShownScore, ...] = Field(
        default=(), description="Scored committee dimensions only."
    )
    evidence: tuple[ShownEvidence, ...] = ()


class ShownCriterion(Noun):
    """A dimension as an engine sees it."""

    name: str
    question: str
    scale: str = ""


READABLE_WORDS = 20
"""Words per sentence that readability guides call easy.

The measure falls to 0 at none and at twice as many.
"""
_AIM = bounded(
    r"\b(?:we"
    r" (?:propose|aim|ask|test|study|introduce|develop|present|show)|goal|hypothes\w++|research"
    r" question|objective)\b",
    IGNORECASE,
)
_MEANS = bounded(
    r"\b(?:data ?sets?|benchmarks?|corpus|corpora|baselines?|metrics?|gpus?|simulat\w++|open[-"
    r" ]source|code|protocols?|samples?|"
    r"participants?|pre-?trained|off[- ]the[- ]shelf|implement\w*+|algorithms?)\b",
    IGNORECASE,
)
NEWNESS = bounded(
    r"\b(?:first|novel|new|unexplored|overlooked|rethink\w*+|challenge[sd]?|unlike|no"
    r" (?:prior|previous|existing)|for the first time)\b",
    IGNORECASE,
)
_REACH = bounded(
    r"\b(?:general\w*+|scal(?:e|es|able|ability)|theor(?:y|etical|em)|guarantees?|state[- ]of[-"
    r" ]the[- ]art|real[- ]world|practical|widely|"
    r"fundamental|across|safety|health|cost|efficien\w++|provabl\w++)\b",
    IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A count as a share of its range, as text, with the papers it was taken from."""

    name: str
    value_0_to_1: float
    figure: str
    weight: float = 1.0
    keys: tuple[str, ...] = ()


MeasureOf = Callable[[ShownIdea], Measure | None]


@lru_cache(maxsize=8192)
def measure_once(measure: MeasureOf, idea: ShownIdea) -> Measure | None:
    """Return the measure from a cache: an idea is in many pairs."""
    return measure(idea)


@lru_cache(maxsize=256)
def committee_mean(dimension: str) -> MeasureOf:
    name = f"the committee's mean for {dimension.replace('_', ' ')}"
    return lambda idea: _score(name, dimension, 3.0, idea.dimension_scores)


@lru_cache(maxsize=256)
def module_score(module: str) -> MeasureOf:
    return lambda idea: _score(f"the score for {module}", module, 2.0, idea.module_scores)


def _score(
    name: str, score_name: str, weight: float, scores: tuple[ShownScore, ...]
) -> Measure | None:
    for score in scores:
        if score.name == score_name:
            figure = f"{score.score_0_to_10:.1f} of 10"
            return Measure(name, score.score_0_to_10 / 10, figure, weight)
    return None


def balance_of_evidence(idea: ShownIdea) -> Measure | None:
    """Return the share of supporting papers among those that take a side.

    Returns None without any.
    """
    supporting_papers, opposing_papers = _bearing(idea, "for"), _bearing(idea, "against")
    sided_count = len(supporting_papers) + len(opposing_papers)
    if not sided_count:
        return None
    value = (len(supporting_papers) + 1) / (sided_count + 2)
    return Measure(
        "papers for and against",
        value,
        f"{len(supporting_papers)} and {len(opposing_papers)}",
        2.0,
        _keys(supporting_papers, opposing_papers),
    )


def distance_from_evidence(idea: ShownIdea) -> Measure | None:
    """Return the share of key phrases in none of the idea's papers.

    Returns None without papers.
    """
    phrases = key_phrases(f"{idea.title}. {idea.text}", 12)
    if not idea.evidence or not phrases:
        return None
    stems_of_papers = set(
        content_words(" ".join(f"{entry.title} {entry.text}" for entry in idea.evidence))
    )
    new_phrases = [
        phrase for phrase in phrases if not set(content_words(phrase)) <= stems_of_papers
    ]
    return Measure(
        "key phrases in none of its papers",
        len(new_phrases) / len(phrases),
        f"{len(new_phrases)} of {len(phrases)}",
        1.5,
        _keys(list(idea.evidence)),
    )


def readability(idea: ShownIdea) -> Measure | None:
    all_sentences = sentences(idea.text)
    if not all_sentences:
        return None
    length = sum(len(words(sentence)) for sentence in all_sentences) / len(all_sentences)
    return Measure(
        "words per sentence",
        max(0.0, 1 - abs(length - READABLE_WORDS) / READABLE_WORDS),
        f"{length:.0f}",
    )


def _cues(name: str, pattern: Pattern, half: float) -> MeasureOf:
    """Count distinct cue words.

    `half` of them give a value of one half.
    """

    def measure(idea: ShownIdea) -> Measure | None:
        cues = {match.group().lower() for match in pattern.finditer(idea.text)}
        return Measure(name, len(cues) / (len(cues) + half), str(len(cues)))

    return measure


def promised_gains(idea: ShownIdea) -> Measure | None:
    all_sentences = sentences(idea.text)
    promising = [sentence for sentence in all_sentences if outcome_cue(sentence) == "positive"]
    return (
        Measure(
            "sentences that promise a gain",
            len(promising) / len(all_sentences),
            f"{len(promising)} of {len(all_sentences)}",
        )
        if all_sentences
        else None
    )


@lru_cache(maxsize=256)
def words_of(criterion: ShownCriterion) -> MeasureOf:
    """Measure the share of the question's words that the idea contains, for custom dimensions."""
    question_words = set(content_words(f"{criterion.name.replace('_', ' ')} {criterion.question}"))

    def measure(idea: ShownIdea) -> Measure | None:
        shared_words = sorted(question_words & set(content_words(f"{idea.title} {idea.text}")))
        share = len(shared_words) / (len(question_words) or 1)
        figure = f"{len(shared_words)} of {len(question_words)}"
        return Measure("words of the question", share, figure) if question_words else None

    return measure


aims = _cues("words that state an aim", _AIM, 2)
means = _cues("words for means", _MEANS, 4)
freshness = _cues("words for newness", NEWNESS, 2)
reach = _cues("words of wide reach", _REACH, 3)


def _bearing(idea: ShownIdea, bearing: str) -> list[ShownEvidence]:
    return [entry for entry in idea.evidence if entry.bearing == bearing]


def _keys(*entries: list[ShownEvidence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.key for some in entries for entry in some[:3]))
