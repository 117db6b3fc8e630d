"""The rules by which an error is put into a manuscript: per kind, the sentences that it fits and
what each would become.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.text.patterns import IGNORECASE, Match, Pattern, bounded, linear
from tasks.text.vocabulary import STOP_WORDS


class ErrorKind(StrEnum):
    """What was done to a sentence; what fits the fewest sentences stands first,
    and is put in first.
    """

    STATISTICS = "statistics"
    CONTRADICTED_ABSTRACT = "contradicted_abstract"
    NUMBER = "number"
    SWAPPED_CONDITIONS = "swapped_conditions"
    MISSING_CONTROL = "missing_control"
    WRONG_CITATION = "wrong_citation"
    SIGN = "sign"
    UNSUPPORTED_CONCLUSION = "unsupported_conclusion"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its stretch of the text: `text[start:end]`, whose white space may differ."""

    start: int
    end: int
    raw: str
    location: str
    in_abstract: bool


@dataclass(frozen=True, slots=True)
class Change:
    """What a rule would do: the sentence's new wording,
    and the sentence that it then contradicts.
    """

    sentence: int
    after: str
    contradicted: int | None = None


FEWEST_CHARACTERS, MOST_CHARACTERS = 50, 700
"""Of a sentence that may be changed: shorter ones are headings, longer ones badly read tables."""
_BEHIND_THE_PAPER = bounded(r"acknowledg|contribution|funding|availability", IGNORECASE)
_NO_PROSE = bounded(
    r"\\(?:begin|end|caption|label|item|includegraphics|author|affil|email|title|href|url)\b"
    r"|[&|]|\\\\"
)


def _body(found: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
    return ((place, one) for place, one in _prose(found) if not one.in_abstract)


def _prose(found: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
    for place, one in enumerate(found):
        size = len(" ".join(one.raw.split()))
        if (
            FEWEST_CHARACTERS <= size <= MOST_CHARACTERS
            and not _NO_PROSE.search(one.raw)
            and not _BEHIND_THE_PAPER.search(one.location)
        ):
            yield place, one


_TELLING = bounded(
    r"(?<![\w.:/\\{^_~-])(?<!Section )(?<!Table )(?<!Figure )(?<!Eq\. )(?<!version )"
    r"(?:\d{1,9}\.\d{1,9}(?![\w.]|\s?\\?cm|\})"
    r"|\d{1,3}(?=\s?\\?%)|\d{1,3}(?:,\d{3}){1,3}(?!\w))"
)


def _numbers(found: Sequence[Sentence], is_latex: bool, draw: random.Random) -> Iterator[Change]:
    """A figure that the text states twice is changed at one of its places: two fifths more, or less
    where a share would pass 100 %.
    """
    del is_latex, draw
    yield from _changed_figures(list(_body(found)), found)


def _changed_figures(
    where: Sequence[tuple[int, Sentence]], everywhere: Sequence[Sentence]
) -> Iterator[Change]:
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(everywhere):
        for number in dict.fromkeys(_TELLING.findall(one.raw)):
            holders.setdefault(number, []).append(place)
    for place, one in where:
        for mark in _TELLING.finditer(one.raw):
            others = [each for each in holders.get(mark.group(), ()) if each != place]
            if others and float(mark.group().replace(",", "")):
                after = _spliced(one.raw, mark, _other_figure(mark.group()))
                yield Change(place, after, others[0])


def _other_figure(number: str) -> str:
    value, digits = float(number.replace(",", "")), len(number.partition(".")[2])
    scaled = value * (0.6 if 100 / 1.4 < value <= 100 else 1.4)
    changed = f"{scaled:,.{digits}f}" if "," in number else f"{scaled:.{digits}f}"
    return changed if changed != number else f"{value + 10.0**-digits:.{digits}f}"


_TURNED = {
    "increase": "decrease",
    "increases": "decreases",
    "increased": "decreased",
    "increasing": "decreasing",
    "higher": "lower",
    "larger": "smaller",
    "more": "fewer",
    "faster": "slower",
    "better": "worse",
    "above": "below",
    "positive": "negative",
    "improves": "degrades",
    "stronger": "weaker",
    "longer": "shorter",
}
_TURNED |= {other: word for word, other in _TURNED.items()}


def _any_of(words: Mapping[str, str] | Sequence[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_DIRECTION = bounded(
    rf"(?<![\w-])(?:{_any_of(_TURNED)})(?![\w-])(?!\s(?:details|information|on|recent|than once))",
    IGNORECASE,
)


def _signs(found: Sequence[Sentence], is_latex: bool, draw: random.Random) -> Iterator[Change]:
    """A word of direction becomes its opposite."""
    del is_latex, draw
    yield from _replaced(_body(found), _DIRECTION, _TURNED)


def _replaced(
    where: Iterable[tuple[int, Sentence]], pattern: Pattern, words: Mapping[str, str]
) -> Iterator[Change]:
    for place, one in where:
        for mark in pattern.finditer(one.raw):
            instead = words[" ".join(mark.group().lower().split())]
            yield Change(place, _spliced(one.raw, mark, _as_written(mark.group(), instead)))


def _as_written(word: str, instead: str) -> str:
    return instead[:1].upper() + instead[1:] if word[:1].isupper() else instead


_COMPARES = bounded(
    r"\b(?:than|versus|vs|outperforms?|compared (?:to|with)|in contrast to|whereas|while)\b",
    IGNORECASE,
)
_NAME = bounded(r"(?<![\w\\{(-])[A-Z][\w-]{1,30}(?: [A-Z][\w-]{0,30}){0,3}(?![\w})-])")


def _swapped(found: Sequence[Sentence], is_latex: bool, draw: random.Random) -> Iterator[Change]:
    """Two things that a comparing sentence names, each known from elsewhere in the text, change
    places.
    """
    del is_latex, draw
    known = Counter(name for one in found for name in set(_NAME.findall(one.raw[1:])))
    for place, one in _body(found):
        compares = _COMPARES.search(one.raw)
        if compares is None:
            continue
        marks = [
            mark
            for mark in _NAME.finditer(one.raw)
            if known[mark.group()] >= _KNOWN and mark.group().lower() not in _NO_THINGS
        ]
        left = [mark for mark in marks if mark.end() <= compares.start()]
        right = [mark for mark in marks if mark.start() >= compares.end()]
        if left and right and left[-1].group() != right[0].group():
            first, second = left[-1], right[0]
            after = (
                one.raw[: first.start()]
                + second.group()
                + one.raw[first.end() : second.start()]
                + first.group()
                + one.raw[second.end() :]
            )
            yield Change(place, after)


_NO_THINGS = STOP_WORDS | {"section", "sections", "figure", "figures", "table", "fig", "equation",
                           "appendix", "theorem", "lemma", "ref"}  # fmt: skip
_KNOWN = 3
"""Sentences that must name a thing before it counts as one that the text compares."""
_P_VALUE = bounded(r"\bp\s{0,9}[<=]\s{0,9}(0?\.\d{1,9})", IGNORECASE)
_INTERVAL_END = bounded(
    r"\b95\s{0,9}\\?%\s{0,9}(?:CI|confidence interval)[^.\d]{0,20}(\d{1,9}\.\d{1,9})", IGNORECASE
)
_UNCERTAINTY = bounded(r"(?:±|\\pm)\s{0,9}\$?\s{0,9}(\d{1,9}(?:\.\d{1,9})?)")
_OF_COUNT = bounded(
    r"\b\d{1,9}(?:/| (?:out )?of )(?:the )?\d{1,9}\b[^.%]{0,40}?(\d{1,3}(?:\.\d{1,3})?)\s?\\?%"
)
_SAMPLE_SIZE = bounded(r"\b[nN]\s{0,9}=\s{0,9}(\d{1,9})\b")


def _statistics(found: Sequence[Sentence], is_latex: bool, draw: random.Random) -> Iterator[Change]:
    """A p-value ten times as large, the end of an interval, an uncertainty, a share beside its
    counts or a number of cases two fifths larger.
    """
    del is_latex, draw
    for place, one in _prose(found):
        for mark in _P_VALUE.finditer(one.raw):
            value = float(mark.group(1))
            if value < 0.1:
                yield Change(place, _spliced(one.raw, mark, f"{value * 10:g}", group=1))
        for pattern in (_INTERVAL_END, _UNCERTAINTY, _OF_COUNT, _SAMPLE_SIZE):
            for mark in pattern.finditer(one.raw):
                if float(mark.group(1)):
                    changed = _other_figure(mark.group(1))
                    yield Change(place, _spliced(one.raw, mark, changed, group=1))


_CONTROL = bounded(
    r"\b(?:control(?:s|led)?(?: for| group| experiment| condition)|baselines?|randomi[sz]ed"
    r"|randomly|held.out|cross.validat\w{1,9}|ablation|blind(?:ed)?|placebo|sham|ground truth"
    r"|validated? (?:on|against|by|with)|in order to avoid|to (?:avoid|rule out|account for)"
    r"|excluded|independent(?:ly)? (?:of|test|data|sample)|we (?:also )?compare)\b",
    IGNORECASE,
)


def _missing_control(
    found: Sequence[Sentence], is_latex: bool, draw: random.Random
) -> Iterator[Change]:
    """The sentence that tells of a control, a baseline, a validation or an exclusion is deleted."""
    del is_latex, draw
    yield from (Change(place, "") for place, one in _body(found) if _CONTROL.search(one.raw))


_STRENGTHENED = {
    "suggests": "proves",
    "suggest": "prove",
    "indicates": "proves",
    "indicate": "prove",
    "may": "will",
    "might": "will",
    "could": "will",
    "likely": "certainly",
    "typically": "always",
    "usually": "always",
    "often": "always",
    "generally": "always",
    "appears to": "is proven to",
    "appear to": "are proven to",
    "seems to": "is proven to",
    "approximately": "exactly",
}
_CAUTIOUS = bounded(
    rf"(?<![\w-])(?:{_any_of(_STRENGTHENED)})(?![\w-])".replace(" ", r"\s"), IGNORECASE
)


def _unsupported(
    found: Sequence[Sentence], is_latex: bool, draw: random.Random
) -> Iterator[Change]:
    """A cautious verb or adverb becomes one that claims certainty."""
    del is_latex, draw
    yield from _replaced(_body(found), _CAUTIOUS, _STRENGTHENED)


_NEGATED = bounded(r"\b(?:is|are|was|were|can|does|has been|have been)\b(?!\snot\b)(?=\s[a-z])")


def _contradicted_abstract(
    found: Sequence[Sentence], is_latex: bool, draw: random.Random
) -> Iterator[Change]:
    """A figure of the abstract that the text states too is changed, or a direction turned round, or
    a statement negated: the first of these that the abstract allows.
    """
    del is_latex, draw
    abstract = [(place, one) for place, one in _prose(found) if one.in_abstract]
    figures = [
        change
        for change in _changed_figures(abstract, found)
        if change.contradicted is not None and not found[change.contradicted].in_abstract
    ]
    turned = list(_replaced(iter(abstract), _DIRECTION, _TURNED))
    negated = [
        Change(place, f"{one.raw[: mark.end()]} not{one.raw[mark.end() :]}")
        for place, one in abstract
        for mark in _NEGATED.finditer(one.raw)
    ]
    yield from figures or turned or negated


_LATEX_CITATION = linear(r"\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]+)\}")
_BRACKETED = bounded(r"\[(\d{1,3})(?:\s?[,–-]\s?\d{1,3}){0,20}\]")
_AUTHOR_YEAR = bounded(
    r"(?<!\w)([A-Z][\w’'-]{1,40}(?:\set\sal\.?|\s(?:and|&)\s[A-Z][\w’'-]{1,40})?,?\s\(?(?:19"
    r"|20)\d\d)"
    r"(?!\d)"
)
_MARKDOWN_KEY = bounded(r"(?<![\w.])@([A-Za-z][\w:-]{2,60})")


def _wrong_citation(
    found: Sequence[Sentence], is_latex: bool, draw: random.Random
) -> Iterator[Change]:
    """The first work that a citation names becomes another one that the manuscript cites."""
    patterns = (_LATEX_CITATION,) if is_latex else (_MARKDOWN_KEY, _BRACKETED, _AUTHOR_YEAR)
    for pattern in patterns:
        cited = [
            (place, mark, _first_key(mark))
            for place, one in _body(found)
            for mark in pattern.finditer(one.raw)
        ]
        works = sorted({key for _, _, key in cited})
        if len(works) < _FEWEST_WORKS:
            continue
        for place, mark, key in cited:
            other = draw.choice([work for work in works if work != key])
            start = mark.start(1) + mark.group(1).index(key)
            raw = found[place].raw
            yield Change(place, f"{raw[:start]}{other}{raw[start + len(key) :]}")
        return


_FEWEST_WORKS = 4


def _first_key(mark: Match[str]) -> str:
    return mark.group(1).partition(",")[0].strip() if "\\" in mark.group() else mark.group(1)


def _spliced(text: str, mark: Match[str], instead: str, group: int = 0) -> str:
    return f"{text[: mark.start(group)]}{instead}{text[mark.end(group) :]}"


_Rule = Callable[[Sequence[Sentence], bool, random.Random], Iterator[Change]]
RULES: Mapping[ErrorKind, _Rule] = {
    ErrorKind.NUMBER: _numbers,
    ErrorKind.SIGN: _signs,
    ErrorKind.SWAPPED_CONDITIONS: _swapped,
    ErrorKind.STATISTICS: _statistics,
    ErrorKind.MISSING_CONTROL: _missing_control,
    ErrorKind.UNSUPPORTED_CONCLUSION: _unsupported,
    ErrorKind.CONTRADICTED_ABSTRACT: _contradicted_abstract,
    ErrorKind.WRONG_CITATION: _wrong_citation,
}
