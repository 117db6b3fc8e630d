"""Check for claims that are repeated with another figure or in the opposite direction."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from schemas.text.patterns import IGNORECASE, bounded
from tasks.manuscripts.steps.reading import DetectedProblem, PlacedSentence, Reading, excerpt
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import content_words, words

_OPPOSITES = (
    ("increase", "decrease"),
    ("increases", "decreases"),
    ("increased", "decreased"),
    ("increasing", "decreasing"),
    ("higher", "lower"),
    ("larger", "smaller"),
    ("greater", "smaller"),
    ("more", "less"),
    ("more", "fewer"),
    ("faster", "slower"),
    ("better", "worse"),
    ("positive", "negative"),
    ("improves", "degrades"),
    ("stronger", "weaker"),
    ("longer", "shorter"),
    ("above", "below"),
)
_OPPOSITES_OF: Mapping[str, frozenset[str]] = {
    word: frozenset(other for pair in _OPPOSITES if word in pair for other in pair if other != word)
    for pair in _OPPOSITES
    for word in pair
}
_NEGATIONS = frozenset({"not", "no", "never", "neither", "nor", "without", "cannot"})
_SUMMARISES = bounded(r"introduction|conclusion|discussion|summary|the beginning", IGNORECASE)
_FIGURE = bounded(
    r"(?<![\w.,~–-])(?<!igure )(?<!able )(?<!ection )(?<!quation )"
    r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,9}(?:\.\d{1,9})?)\s?(\\?%|[^\W\d_]{2,30})"
)
_FEWEST_SHARED = 6
_SHARED_OF_SHORTER = 0.7
_RARE = 4
"""Most sentences with a word for it to count as rare."""
_MOST_PAIRS = 20_000
_ROUNDED_SHARE = 0.05
"""Share by which two roundings of one figure may differ."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence as words, directions, negation and measured figures."""

    entry: PlacedSentence
    summarises: bool
    content: frozenset[str]
    directions: frozenset[str]
    is_negated: bool
    figures: Mapping[str, float]

    def restates(self, other: "_Claim") -> bool:
        """Return whether both make one claim, one of them in a summary.

        Neighboring sections may describe different things in the same words.
        """
        is_other_kind = self.summarises != other.summarises
        shared_count = len(self.content & other.content)
        shorter_count = min(len(self.content), len(other.content))
        return is_other_kind and shared_count >= max(
            _FEWEST_SHARED, _SHARED_OF_SHORTER * shorter_count
        )


def check_restated(reading: Reading) -> Iterator[DetectedProblem]:
    """Find claims in different sections with equal words but another direction or figure."""
    claims = [_claim(entry, reading) for entry in reading.sentences]
    for first, second in _pairs(claims):
        if not first.restates(second):
            continue
        if difference := _difference(first, second):
            other = f"{second.entry.location}: “{excerpt(second.entry.sentence)}”"
            yield first.entry.problem(
                "restated",
                2,
                f"Two places say the same thing differently: {difference}.",
                f"But {other}",
            )


def _claim(entry: PlacedSentence, reading: Reading) -> _Claim:
    word_set = frozenset(words(entry.sentence))
    figures: dict[str, list[float]] = defaultdict(list)
    for number, unit in _FIGURE.findall(entry.sentence):
        if unit not in STOP_WORDS:
            figures[unit.lstrip("\\").lower()].append(float(number.replace(",", "")))
    return _Claim(
        entry,
        reading.is_of_abstract(entry) or _SUMMARISES.search(entry.location) is not None,
        frozenset(word for word in content_words(entry.sentence) if not word[0].isdigit()),
        word_set & _OPPOSITES_OF.keys(),
        bool(word_set & _NEGATIONS),
        {unit: numbers[0] for unit, numbers in figures.items() if len(numbers) == 1},
    )


def _pairs(claims: list[_Claim]) -> Iterator[tuple[_Claim, _Claim]]:
    """Yield pairs of sentences that share two rare words, up to a limit."""
    holders: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(claims):
        for word in one.content:
            holders[word].append(place)
    shared_count: dict[tuple[int, int], int] = defaultdict(int)
    for _, places in sorted(holders.items()):
        if len(places) <= _RARE and len(shared_count) < _MOST_PAIRS:
            for pair in combinations(places, 2):
                shared_count[pair] += 1
    for (first, second), count in sorted(shared_count.items()):
        if count > 1:
            yield claims[first], claims[second]


def _difference(first: _Claim, second: _Claim) -> str | None:
    if first.is_negated == second.is_negated:
        for word in sorted(first.directions - second.directions):
            if opposites := _OPPOSITES_OF[word] & (second.directions - first.directions):
                return f"“{word}” and “{min(opposites)}”"
    for unit in sorted(first.figures.keys() & second.figures.keys()):
        one, other = first.figures[unit], second.figures[unit]
        if abs(one - other) > _ROUNDED_SHARE * max(one, other):
            return f"{one:g} and {other:g} {unit}"
    return None
