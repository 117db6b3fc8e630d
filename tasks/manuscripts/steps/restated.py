"""Does the text say the same thing twice and differently: a claim that another section repeats with
another figure or in the opposite direction?
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from schemas.text.patterns import IGNORECASE, bounded
from tasks.manuscripts.steps.reading import DetectedProblem, Placed, Reading, shown
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
_TURNED: Mapping[str, frozenset[str]] = {
    word: frozenset(other for pair in _OPPOSITES if word in pair for other in pair if other != word)
    for pair in _OPPOSITES
    for word in pair
}
_NEGATIONS = frozenset({"not", "no", "never", "neither", "nor", "without", "cannot"})
_SUMMARISES = bounded(r"introduction|conclusion|discussion|summary|the beginning", IGNORECASE)
_MEASURED = bounded(
    r"(?<![\w.,~–-])(?<!igure )(?<!able )(?<!ection )(?<!quation )"
    r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,9}(?:\.\d{1,9})?)\s?(\\?%|[^\W\d_]{2,30})"
)
_FEWEST_SHARED = 6
_SHARED_OF_SHORTER = 0.7
_RARE = 4
"""Sentences that a word may stand in and still bring two of them together."""
_MOST_PAIRS = 20_000
_ROUNDED_SHARE = 0.05
"""By which two figures may differ and still be one, rounded twice."""


@dataclass(frozen=True, slots=True)
class _Said:
    """One sentence by what it says: its words, those of direction, negation, measured figures."""

    placed: Placed
    summarises: bool
    content: frozenset[str]
    directions: frozenset[str]
    is_negated: bool
    figures: Mapping[str, float]

    def restates(self, other: "_Said") -> bool:
        """Return whether both make one claim: one of them where a paper sums up what it says
        elsewhere.

        Sections beside each other describe different things in the same words.
        """
        apart = self.summarises != other.summarises
        shared = len(self.content & other.content)
        shorter = min(len(self.content), len(other.content))
        return apart and shared >= max(_FEWEST_SHARED, _SHARED_OF_SHORTER * shorter)


def check_restated(reading: Reading) -> Iterator[DetectedProblem]:
    """Claims of different sections that agree in nearly all words, but not in the direction or in
    the one figure of a unit that each states.
    """
    said = [_said(placed, reading) for placed in reading.sentences]
    for first, second in _pairs(said):
        if not first.restates(second):
            continue
        if told := _difference(first, second):
            other = f"{second.placed.location}: “{shown(second.placed.sentence)}”"
            yield first.placed.problem(
                "restated", 2, f"Two places say the same thing differently: {told}.", f"But {other}"
            )


def _said(placed: Placed, reading: Reading) -> _Said:
    spoken = frozenset(words(placed.sentence))
    found: dict[str, list[float]] = defaultdict(list)
    for number, unit in _MEASURED.findall(placed.sentence):
        if unit not in STOP_WORDS:
            found[unit.lstrip("\\").lower()].append(float(number.replace(",", "")))
    return _Said(
        placed,
        reading.is_of_abstract(placed) or _SUMMARISES.search(placed.location) is not None,
        frozenset(word for word in content_words(placed.sentence) if not word[0].isdigit()),
        spoken & _TURNED.keys(),
        bool(spoken & _NEGATIONS),
        {unit: numbers[0] for unit, numbers in found.items() if len(numbers) == 1},
    )


def _pairs(said: list[_Said]) -> Iterator[tuple[_Said, _Said]]:
    """Sentences that share two rare words, each pair once; a bounded number of them."""
    holders: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(said):
        for word in one.content:
            holders[word].append(place)
    met: dict[tuple[int, int], int] = defaultdict(int)
    for _, places in sorted(holders.items()):
        if len(places) <= _RARE and len(met) < _MOST_PAIRS:
            for pair in combinations(places, 2):
                met[pair] += 1
    for (first, second), shared in sorted(met.items()):
        if shared > 1:
            yield said[first], said[second]


def _difference(first: _Said, second: _Said) -> str | None:
    if first.is_negated == second.is_negated:
        for word in sorted(first.directions - second.directions):
            if turned := _TURNED[word] & (second.directions - first.directions):
                return f"“{word}” and “{min(turned)}”"
    for unit in sorted(first.figures.keys() & second.figures.keys()):
        one, other = first.figures[unit], second.figures[unit]
        if abs(one - other) > _ROUNDED_SHARE * max(one, other):
            return f"{one:g} and {other:g} {unit}"
    return None
