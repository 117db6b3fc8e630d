"""Cleaning of sentences, and similarity of texts by informative words and word pairs."""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from schemas.text.patterns import IGNORECASE, bounded
from tasks.text.words import content_words

_MARKUP = bounded(r"\*\*|__|`+|(?<!\w)[*_](?=\w)|(?<=[\w.:;,!?)])[*_](?!\w)")
_LIST_NUMBER = bounded(r"^\s*+(?:\d{1,2}[.)]|[-*+•])\s+")
_ADDRESS = bounded(r"https?:|www\.|\bdoi\b|arxiv:", IGNORECASE)
_KEY_LIKE = bounded(r"(?<![\w-])[Pp]\s?\d{1,6}(?![\w%])")
_LEAD_IN = bounded(
    r"^(?:(?:first|second|third|fourth|fifth|next|then|lastly|however|moreover|furthermore"
    r"|additionally|in"
    r" addition"
    r"|specifically|to this end|finally|in particular|also|thus|therefore|"
    r"hence|besides|meanwhile|notably|importantly|consequently|as a result|concretely|more"
    r" specifically|in contrast|but|and|yet)"
    r"(?:,\s++|\s++(?=(?:we|i)\b)))+",
    IGNORECASE,
)
CONTEXT_MARK = "Context: "
"""Starts the last sentence of an extracted method, which names the topic of the whole idea."""
MINIMUM_WORDS = 6
MAXIMUM_WORDS = 60


def plain(text: str) -> str:
    """Remove Markdown emphasis, list numbers and repeated white space."""
    return " ".join(_MARKUP.sub("", _LIST_NUMBER.sub("", text)).split())


def quotable(sentence: str) -> bool:
    """Return whether a sentence is readable alone.

    It has a moderate length, mostly words, and no URL or key.
    """
    length = len(sentence.split())
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return (
        MINIMUM_WORDS <= length <= MAXIMUM_WORDS
        and letters >= 0.75 * len(sentence)
        and not _ADDRESS.search(sentence)
        and not _KEY_LIKE.search(sentence)
    )


def without_opening(text: str) -> str:
    """Remove a connective at the start (`Besides, it …`, not `Besides more samples, it …`)."""
    rest = _LEAD_IN.sub("", text).strip()
    return f"{rest[:1].upper()}{rest[1:]}"


def own_part(method: str) -> str:
    return method.partition(f" {CONTEXT_MARK}")[0]


def opening(text: str, words: int) -> str:
    parts = text.split()
    return (
        " ".join(parts).rstrip(".")
        if len(parts) <= words
        else " ".join(parts[:words]).rstrip(",;:.") + " …"
    )


COMMON_STEMS = frozenset(
    content_words(
        """
        method model result experiment experimental data dataset approach performance propose
        evaluate evaluation analysis algorithm system task problem train training test learn
        learning network neural deep machine baseline compare comparison metric measure measurement
        design framework set value number high higher low lower large small different multiple
        single time process effect level research idea plan state art improve improvement accuracy
        accurate function information based technique condition change group sample control validate
        validation participant benchmark develop apply implement implementation perform identify
        assess examine determine various variety standard key first second main approach use useful
        feature representation represent structure input output application study report quality
        efficient efficiency effective novel general generalize real world human language code
        script statistical significant significance score rate average include random context part
        generate generation optimal optimize demonstrate achieve introduce challenge challenging
        estimate require environment allow robust robustness address previous dynamic order
        outperform scale enable map point obtain reduce parameter compute computer computation
        computational find available simple solution solve extensive case error term final limit
        limited limitation strategy cost better class target important complex complexity combine
        combination focus knowledge direct domain lead integrate end local operate capture
        approximate increase range potential property way utilize additional form example field
        relate relation track known mechanism prior step formulate theoretical size empirical wide
        predict prediction describe common type extend exploit inference explore ability action
        produce match capability sequence issue best rely provide addition build derive source
        possible scheme leverage architecture natural view goal dimensional search define enhance
        typical global construct component employ objective long advantage mean observe observation
        simultaneous interest similar close analyze consist consistent prove free variable
        understand detect detection extract special vary variation success successful incorporate
        support guarantee open contain continuous explicit practical corresponding involve handle
        make full difficult difficulty fast strong select selection independent remain create
        complete individual area procedure concept associate establish update maintain reason
        physical depend run public adapt pattern question future respect show power comprehensive
        systematic systematically conduct ensure investigate assessment variant variants criteria
        relationship overall initial outcome response factor influence role impact account quantify
        characterize characterization comparison record collect collection select subject item list
        document documented ablation ablations module zero four five six seven eight nine ten twelve
        hundred thousand million half
        """
    )
)
_COMMON_WEIGHT = 0.25


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Content words of a text with their weights, and pairs of neighboring ones."""

    weights: dict[str, float]
    pairs: frozenset[tuple[str, str]]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.weights)


@dataclass(frozen=True, slots=True)
class Closeness:
    share_0_to_1: float
    informative_word_count: int
    pair_count: int


def fingerprint(text: str) -> Fingerprint:
    """Return the fingerprint of a text.

    Each doubling of a word's count adds half its weight.
    """
    stems = content_words(text)
    weights = {
        word: weight_of(word) * (1 + math.log2(count) / 2) for word, count in Counter(stems).items()
    }
    return Fingerprint(weights, frozenset(pairwise(stems)))


def fingerprint_of_method(method: str) -> Fingerprint:
    """Return the fingerprint of a method.

    Words of its context sentence alone have half weight.
    """
    full_fingerprint, own_words = fingerprint(method), fingerprint(own_part(method))
    weights = {
        word: weight if word in own_words.weights else weight / 2
        for word, weight in full_fingerprint.weights.items()
    }
    return Fingerprint(weights, full_fingerprint.pairs)


def core_words(text: str, size: int) -> frozenset[str]:
    """Return the most frequent informative words; ties in order of occurrence."""
    counts = Counter(word for word in content_words(text) if weight_of(word) == 1.0)
    return frozenset(word for word, _ in counts.most_common(size))


def weight_of(word: str) -> float:
    """Return a word's weight: a quarter for common words, 0 for figures, else 1."""
    if word[0].isdigit():
        return 0.0
    return _COMMON_WEIGHT if word in COMMON_STEMS else 1.0


def closeness(method: Fingerprint, paper: Fingerprint) -> Closeness:
    """Return the weighted share of the method's words in the paper, and counts of shared ones."""
    shared_words = method.words & paper.words
    total = sum(method.weights.values())
    pairs = {
        pair
        for pair in method.pairs & paper.pairs
        if weight_of(pair[0]) + weight_of(pair[1]) > 2 * _COMMON_WEIGHT
    }
    return Closeness(
        share_0_to_1=sum(method.weights[word] for word in shared_words) / total if total else 0.0,
        informative_word_count=sum(1 for word in shared_words if weight_of(word) == 1.0),
        pair_count=len(pairs),
    )


CORE_SIZE = 30
"""Number of the idea's most frequent words, of which a related paper shares some."""
ALONE = 6
"""Informative words that make a paper related without a pair of words."""
_MINIMUM_SHARE = 0.15
_WITH_A_PAIR = 3
_CORE_WORDS = 3


def is_related(overlap: Closeness, core_word_count: int) -> bool:
    """Return whether a paper shares enough of the method's wording.

    It must share enough by weight, informative words and pairs of words, and enough of the words
    that the idea uses repeatedly.
    """
    words, pairs = overlap.informative_word_count, overlap.pair_count
    close = words >= ALONE or (words >= _WITH_A_PAIR and pairs >= 1)
    return (
        close
        and overlap.share_0_to_1 >= _MINIMUM_SHARE
        and core_word_count >= (_CORE_WORDS - 1 if pairs >= 2 else _CORE_WORDS)
    )
