"""Checks of the abstract's numbers against the text."""

from bisect import bisect_left
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import combinations

from schemas.text.patterns import IGNORECASE, bounded
from tasks.manuscripts.steps.reading import (
    DetectedProblem,
    PlacedSentence,
    Reading,
    excerpt,
    without_markup,
)
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import content_words, sentences

_FIGURE = bounded(r"\d+(?:\.\d+)?")
_WHOLE_FIGURE = bounded(r"\d{1,3}(?:,\d{3}){1,4}|\d{1,15}(?:\.\d{1,15})?")
_TELLING = bounded(
    r"(?<![\w.])\d{1,15}\.\d{1,15}(?!\d)(?:\s{0,9}\\?%)?|(?<![\w.])\d{1,3}\s{0,9}\\?%"
)
_FEWEST_WORDS_OF_A_BODY = 300
# Words before a rounded number, a bound, or the end of a range; "91.4 % over 412 trials" is exact.
_ROUGHLY = bounded(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|under|some|least|most|than|until"
    r"|within|between)|(?<![\d%] )\bover|\bbetween [\d.,]{1,9} and|[\d%] to|[≈~≥≤<>–-])\s?$",
    IGNORECASE,
)
_ROUGHLY_CHARACTERS = 24
"""Characters before a number searched for such a word."""
_QUANTITY = bounded(
    r"(?<![\w.,/%^{}\\-])(\d{1,3}(?:,\d{3}){1,4}|\d{1,9})((?: [A-Za-z][a-z-]{1,29}){1,3})\b"
)
_PERCENTAGE = bounded(r"(?<![\w.,/–-])(\d{1,3}(?:\.\d{1,4})?) ?(?:%|percent\b|per cent\b)")
_PLURALS = frozenset({"people", "children", "men", "women", "mice"})
_NO_PLURAL = ("ss", "us", "is")
_UNITS = frozenset(
    {"seconds", "minutes", "hours", "days", "weeks", "months", "years", "times", "points", "pages"}
    | {"degrees", "meters", "metres", "bits", "bytes", "epochs", "steps", "iterations", "layers"}
    | {"parameters", "dimensions", "words", "tokens", "classes"}
)
"""Units of which a text has many numbers that are not of one quantity."""
_NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_OTHERS = bounded(
    r"\\[a-zA-Z]{0,20}cite|\[\d{1,3}[],–-]|\bet al\b|\((?:[^()]{0,60}\s)?(?:19|20)\d\d"
)
"""A sentence about the work of others."""
_REPORTING = frozenset(
    content_words(
        "show shows showed reach reaches reached find finds found obtain obtained achieve achieved"
        " report reported observe observed get gets use used using result results paper study"
    )
)
"""Words of any finding, which say nothing about the quantity measured."""
_FEWEST_SHARED, _SHARED_OF_SHORTER = 2, 0.4
_FARTHEST = 3.0
"""Largest ratio between the number of the abstract and that of the text."""


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number with its noun, or `%`; `before` are the words between them."""

    number: str
    noun: str
    before: tuple[str, ...]
    entry: PlacedSentence

    @property
    def value(self) -> float:
        return float(self.number)

    def is_of(self, other: "_Quantity") -> bool:
        """Return whether both count the same: no words between, or equal ones."""
        return self.noun == other.noun and (
            not self.before or not other.before or self.before == other.before
        )


def _contradictions(reading: Reading) -> Iterator[tuple[_Quantity, _Quantity]]:
    """Yield numbers missing in the text, with the text's number of the same quantity."""
    if reading.abstract_span is None or not reading.is_mostly_whole:
        return
    body = without_markup(reading.text[reading.abstract_span[1] :])
    body_numbers = {number.replace(",", "") for number in _WHOLE_FIGURE.findall(body)}
    body_numbers |= {
        _NUMBER_WORDS[word] for word in _NUMBER_WORDS.keys() & set(body.lower().split())
    }
    values = sorted(float(number) for number in body_numbers)
    abstract_sentences = sentences(" ".join(reading.abstract.split()))
    abstract = [
        quantity
        for one in abstract_sentences
        for quantity in _quantities(PlacedSentence(one, "the abstract"))
    ]
    text = [
        quantity
        for entry in (reading.sentences if abstract else ())
        if not _OTHERS.search(entry.sentence)
        and not any(one in entry.sentence for one in abstract_sentences)
        for quantity in _quantities(entry)
    ]
    abstract_numbers = {quantity.number for quantity in abstract}
    for quantity in abstract:
        other_quantities = [
            one for one in text if one.is_of(quantity) and one.number not in abstract_numbers
        ]
        parts = {one.value for one in other_quantities}
        shown_there = quantity.noun == "%" and _occurs(quantity.number, body_numbers, values)
        is_sum = any(quantity.value - part in parts for part in parts)
        if quantity.number in body_numbers or shown_there or is_sum:
            continue
        if _is_derived(quantity.number, quantity.entry.sentence):
            continue
        if best := _best_match(quantity, other_quantities):
            yield quantity, best


def _is_derived(number: str, sentence: str) -> bool:
    """Return whether the number is a rounded sum or difference of two others of its sentence."""
    value, digits = float(number), len(number.partition(".")[2])
    printed_figures = _WHOLE_FIGURE.findall(without_markup(sentence))
    other_values = {float(other.replace(",", "")) for other in printed_figures} - {value}
    return any(
        value in (round(first + second, digits), round(second - first, digits))
        for first, second in combinations(sorted(other_values), 2)
    )


def _best_match(quantity: _Quantity, candidates: list[_Quantity]) -> _Quantity | None:
    """Return the number of the most similar sentence, if it is similar enough.

    One shared word is enough if a sentence has little more than its count, and the text counts the
    same noun only once.
    """
    words = _words(quantity.entry)
    is_only = len({one.value for one in candidates}) == 1 and all(
        one.noun != "%" and one.before == quantity.before for one in candidates
    )
    best, highest_count = None, 0
    for one in candidates:
        entry_words = _words(one.entry)
        shared_count = len(words & entry_words)
        shorter_count = min(len(words), len(entry_words))
        is_near = 1 / _FARTHEST <= one.value / quantity.value <= _FARTHEST
        threshold = max(min(_FEWEST_SHARED, shorter_count), _SHARED_OF_SHORTER * shorter_count)
        low, high = sorted((quantity.value, one.value))
        # A multiple may count parts of the other, such as trials of two sessions.
        if is_only and shorter_count <= _FEWEST_SHARED and high % low:
            threshold = 1
        if is_near and shared_count > highest_count and shared_count >= threshold > 0:
            best, highest_count = one, shared_count
    return best


def _words(entry: PlacedSentence) -> set[str]:
    words = {word for word in content_words(entry.sentence) if not word[0].isdigit()}
    return words - _REPORTING


def _quantities(entry: PlacedSentence) -> Iterator[_Quantity]:
    """Yield the exact counts of a sentence, or its only percentage."""
    sentence = without_markup(entry.sentence)
    for match in _QUANTITY.finditer(sentence):
        number, words = match[1].replace(",", ""), match[2].split()
        if int(number) < 2 or _is_rough(sentence, match.start()):
            continue
        plurals = (
            place
            for place, word in enumerate(words)
            if word in _PLURALS or (word.endswith("s") and not word.endswith(_NO_PLURAL))
        )
        place = next(plurals, None)
        stop = next((n for n, word in enumerate(words) if word in STOP_WORDS), len(words))
        if place is not None and place < stop and words[place] not in _UNITS:
            yield _Quantity(number, words[place], tuple(words[:place]), entry)
    shares = list(_PERCENTAGE.finditer(sentence))
    if len(shares) == 1 and float(shares[0][1]) and not _is_rough(sentence, shares[0].start()):
        yield _Quantity(shares[0][1], "%", (), entry)


def _is_rough(sentence: str, place: int) -> bool:
    return _ROUGHLY.search(sentence[max(place - _ROUGHLY_CHARACTERS, 0) : place]) is not None


def check_abstract(reading: Reading) -> Iterator[DetectedProblem]:
    """Yield numbers of the abstract that the text contradicts, or never shows."""
    contradicted_numbers = set()
    for quantity, other in _contradictions(reading):
        contradicted_numbers.add(quantity.number)
        unit = quantity.noun
        numbers = f"{quantity.number} {unit} in the abstract, {other.number} {unit} in the text"
        yield quantity.entry.problem(
            f"abstract_contradiction of {quantity.number} {unit}",
            1,
            f"The abstract contradicts the text: {numbers}.",
            f"But {other.entry.location}: “{excerpt(other.entry.sentence)}”",
        )
    yield from _never_shown(reading, contradicted_numbers)


def _never_shown(reading: Reading, contradicted_figures: Set[str]) -> Iterator[DetectedProblem]:
    """Yield figures of the abstract that the text never mentions, except contradicted ones."""
    if reading.abstract_span is None or not reading.is_mostly_whole:
        return
    begin, end = reading.abstract_span
    abstract, body = reading.text[begin:end], reading.text[end:]
    if len(body.split()) < _FEWEST_WORDS_OF_A_BODY or len(abstract.split()) > len(body.split()) / 2:
        return
    body_figures = {_bare(number) for number in _FIGURE.findall(body)}
    values = sorted(float(number) for number in body_figures if "." in number)
    abstract_sentences = sentences(" ".join(abstract.split()))
    missing = [
        number
        for number in dict.fromkeys(_TELLING.findall(abstract))
        if _bare(number) not in contradicted_figures
        and not _occurs(_bare(number), body_figures, values)
        and not any(_is_derived(_bare(number), one) for one in abstract_sentences if number in one)
    ]
    if missing:
        sentences_with_number = (
            entry.sentence for entry in reading.sentences if missing[0] in entry.sentence
        )
        yield DetectedProblem(
            "abstract_number",
            2,
            f"The abstract states {', '.join(missing[:5])}, which the text never shows.",
            "the abstract",
            "A figure that the abstract reports must be found among the results, in this form or"
            " with more digits.",
            next(sentences_with_number, ""),
        )


def _bare(number: str) -> str:
    return number.replace("\\", "").replace("%", "").strip()


def _occurs(number: str, body_figures: set[str], values: list[float]) -> bool:
    """Return whether the text has a number as printed, with more digits, or as a share of 1."""
    if number in body_figures:
        return True
    digits, value = len(number.partition(".")[2]), float(number)
    half = 0.5 * 10.0**-digits + 1e-9
    for scale in (1, 100):
        nearest_place = bisect_left(values, (value - half) / scale)
        if nearest_place < len(values) and scale * values[nearest_place] <= value + half:
            return True
    return False
