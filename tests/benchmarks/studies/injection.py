"""Rules that inject errors into manuscripts, each by changing one sentence.

The eight kinds of errors are those of OpenAIReview (arXiv 2606.19749): a number, a direction,
swapped conditions, a statistic, a missing control, an overstated conclusion, an abstract that
contradicts the text, and a wrong citation. Every rule is a pattern and a replacement; the seed
draws among its matches. The error can be detected from the rest of the text.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.text.patterns import IGNORECASE, Match, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import Reading
from tasks.text.quotations import normal
from tasks.text.vocabulary import STOP_WORDS


class ErrorKind(StrEnum):
    """Kind of an injected error, in order of injection, rarest first."""

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
    """Sentence at `text[start:end]`, whose white space may differ."""

    start: int
    end: int
    raw: str
    location: str
    in_abstract: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Change proposed by a rule.

    Attributes:
        sentence: position of the changed sentence.
        after: its new text; empty if it is deleted.
        contradicted_place: position of a sentence that the new text contradicts.
    """

    sentence: int
    after: str
    contradicted_place: int | None = None


@dataclass(frozen=True, slots=True)
class InjectedError:
    """One error in one text.

    Attributes:
        before, after: the sentence before and after; `after` is empty if it was deleted.
        location: as `Reading` names places.
        stretches: word sequences by which a report can quote the changed sentence, the one it
            contradicts, or the neighbors of a deleted one. Sequences that occur several times in
            the changed text are left out.
    """

    kind: ErrorKind
    before: str
    after: str
    location: str
    stretches: tuple[str, ...]

    def is_quoted_by(self, report: str) -> bool:
        """Return whether a report contains one of the stretches."""
        words = f" {normal(report)} "
        return any(f" {stretch} " in words for stretch in self.stretches)


_STRETCH_WORDS = 6
"""Consecutive words that make a quotation."""
_LONGEST_SENTENCE_WORDS = 120
"""Longer sentences are tables without sentence ends, in which a quoted cell locates nothing."""


def inject(
    text: str, form: str, seed: int, kinds: Sequence[ErrorKind] = tuple(ErrorKind)
) -> tuple[str, tuple[InjectedError, ...]]:
    """Inject at most one error of each kind.

    Return the changed text and the errors. Errors are in separate sentences, and in the order of
    `kinds`. A kind that fits no sentence is left out.

    Args:
        form: `latex`, `text` or `pdf`, as `Reading` takes it.
    """
    reading = Reading(form, text)
    sentences = _sentences(reading)
    edits: dict[int, tuple[ErrorKind, Change]] = {}
    for kind in kinds:
        draw = random.Random(f"{seed}:{kind}")
        touched_places = {place for _, change in edits.values() for place in _around(change)}
        fitting = (
            _replace_citation(sentences, reading.is_latex, draw)
            if kind is ErrorKind.WRONG_CITATION
            else RULES[kind](sentences)
        )
        changes = [change for change in fitting if touched_places.isdisjoint(_around(change))]
        if changes:
            chosen_change = draw.choice(changes)
            edits[chosen_change.sentence] = (kind, chosen_change)
    pieces, place = [], 0
    for number in sorted(edits):
        pieces += [text[place : sentences[number].start], edits[number][1].after]
        place = sentences[number].end
    twin = "".join([*pieces, text[place:]])
    twin_words = normal(twin)
    errors = {kind: _error(kind, change, sentences, twin_words) for kind, change in edits.values()}
    return twin, tuple(errors[kind] for kind in kinds if kind in errors)


def _around(change: Change) -> set[int]:
    """Return the sentences that other errors may not change.

    They reveal this error.
    """
    place, other = change.sentence, change.contradicted_place
    return {place - 1, place, place + 1} | ({other} if other is not None else set())


def _error(
    kind: ErrorKind, change: Change, sentences: Sequence[Sentence], twin_words: str
) -> InjectedError:
    sentence = sentences[change.sentence]
    neighbors = [
        sentences[place].raw
        for place in (change.sentence - 1, change.sentence + 1)
        if 0 <= place < len(sentences)
    ]
    present = [change.after] if change.after else neighbors
    contradicted_place = (
        () if change.contradicted_place is None else (sentences[change.contradicted_place].raw,)
    )
    other = [each for each in contradicted_place if len(each.split()) <= _LONGEST_SENTENCE_WORDS]
    return InjectedError(
        kind=kind,
        before=" ".join(sentence.raw.split()),
        after=" ".join(change.after.split()),
        location=sentence.location,
        stretches=tuple(
            stretch
            for each in [*present, *other]
            for stretch in _stretches(each)
            if twin_words.count(stretch) <= 1
        ),
    )


def _stretches(sentence: str) -> Iterator[str]:
    words = normal(sentence).split()
    size = min(_STRETCH_WORDS, len(words))
    return (" ".join(words[at : at + size]) for at in range(len(words) - size + 1) if size)


_TOKEN = bounded(r"\S+")


def _sentences(reading: Reading) -> list[Sentence]:
    """Return the prose sentences that occur verbatim in the text, in order."""
    tokens = list(_TOKEN.finditer(reading.text))
    joined_text = " ".join(token.group() for token in tokens)
    starts, place = {}, 0
    for number, token in enumerate(tokens):
        starts[place] = number
        place += len(token.group()) + 1
    abstract = reading.abstract_span
    sentences, search_start = [], 0
    for entry in reading.sentences:
        start_place = joined_text.find(entry.sentence, search_start)
        if start_place < 0 or start_place not in starts:
            continue
        search_start = start_place + len(entry.sentence)
        first = starts[start_place]
        last = first + len(entry.sentence.split()) - 1
        start, end = tokens[first].start(), tokens[last].end()
        raw = reading.text[start:end]
        in_abstract = abstract is not None and abstract[0] < end <= abstract[1]
        location = "the abstract" if in_abstract else entry.location
        sentences.append(Sentence(start, end, raw, location, in_abstract))
    return sentences


# Rules: each yields the possible changes of its kind.

FEWEST_CHARACTERS, MOST_CHARACTERS = 50, 700
"""Length of a sentence that may be changed; others are headings or misread tables."""
_BACK_MATTER = bounded(r"acknowledg|contribution|funding|availability", IGNORECASE)
_NO_PROSE = bounded(
    r"\\(?:begin|end|caption|label|item|includegraphics|author|affil|email|title|href|url)\b"
    r"|[&|]|\\\\"
)


def _body(sentences: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
    return ((place, one) for place, one in _prose(sentences) if not one.in_abstract)


def _prose(sentences: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
    for place, one in enumerate(sentences):
        size = len(" ".join(one.raw.split()))
        if (
            FEWEST_CHARACTERS <= size <= MOST_CHARACTERS
            and not _NO_PROSE.search(one.raw)
            and not _BACK_MATTER.search(one.location)
        ):
            yield place, one


_RESULT_NUMBER = bounded(
    r"(?<![\w.:/\\{^_~-])(?<!Section )(?<!Table )(?<!Figure )(?<!Eq\. )(?<!version )"
    r"(?:\d{1,9}\.\d{1,9}(?![\w.]|\s?\\?cm|\})"
    r"|\d{1,3}(?=\s?\\?%)|\d{1,3}(?:,\d{3}){1,3}(?!\w))"
)


def _change_number(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Change one of two occurrences of a number by two fifths.

    The change is downward near 100 %.
    """
    yield from _change_figures(list(_body(sentences)), sentences)


def _change_figures(
    where: Sequence[tuple[int, Sentence]], everywhere: Sequence[Sentence]
) -> Iterator[Change]:
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(everywhere):
        for number in dict.fromkeys(_RESULT_NUMBER.findall(one.raw)):
            holders.setdefault(number, []).append(place)
    for place, one in where:
        for mark in _RESULT_NUMBER.finditer(one.raw):
            others = [each for each in holders.get(mark.group(), ()) if each != place]
            if others and float(mark.group().replace(",", "")):
                after = _splice(one.raw, mark, _other_figure(mark.group()))
                yield Change(place, after, others[0])


def _other_figure(number: str) -> str:
    value, digits = float(number.replace(",", "")), len(number.partition(".")[2])
    scaled_value = value * (0.6 if 100 / 1.4 < value <= 100 else 1.4)
    new_figure = f"{scaled_value:,.{digits}f}" if "," in number else f"{scaled_value:.{digits}f}"
    return new_figure if new_figure != number else f"{value + 10.0**-digits:.{digits}f}"


_OPPOSITES = {
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
_OPPOSITES |= {other: word for word, other in _OPPOSITES.items()}


def _any_of(words: Mapping[str, str] | Sequence[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_DIRECTION = bounded(
    rf"(?<![\w-])(?:{_any_of(_OPPOSITES)})(?![\w-])(?!\s(?:details|information|on|recent|than once))",
    IGNORECASE,
)


def _reverse_direction(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Replace a word of direction by its opposite."""
    yield from _replace_words(_body(sentences), _DIRECTION, _OPPOSITES)


def _replace_words(
    where: Iterable[tuple[int, Sentence]], pattern: Pattern, words: Mapping[str, str]
) -> Iterator[Change]:
    for place, one in where:
        for mark in pattern.finditer(one.raw):
            word = words[" ".join(mark.group().lower().split())]
            yield Change(place, _splice(one.raw, mark, _with_case_of(mark.group(), word)))


def _with_case_of(original: str, word: str) -> str:
    return word[:1].upper() + word[1:] if original[:1].isupper() else word


_COMPARISON = bounded(
    r"\b(?:than|versus|vs|outperforms?|compared (?:to|with)|in contrast to|whereas|while)\b",
    IGNORECASE,
)
_NAME = bounded(r"(?<![\w\\{(-])[A-Z][\w-]{1,30}(?: [A-Z][\w-]{0,30}){0,3}(?![\w})-])")


def _swap_conditions(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Swap two frequent names in a comparing sentence."""
    name_counts = Counter(name for one in sentences for name in set(_NAME.findall(one.raw[1:])))
    for place, one in _body(sentences):
        compares = _COMPARISON.search(one.raw)
        if compares is None:
            continue
        marks = [
            mark
            for mark in _NAME.finditer(one.raw)
            if name_counts[mark.group()] >= _LEAST_NAME_SENTENCES
            and mark.group().lower() not in _NO_THINGS
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
_LEAST_NAME_SENTENCES = 3
"""Sentences that must contain a name before it may be swapped."""
_P_VALUE = bounded(r"\bp\s{0,9}[<=]\s{0,9}(0?\.\d{1,9})", IGNORECASE)
_INTERVAL_END = bounded(
    r"\b95\s{0,9}\\?%\s{0,9}(?:CI|confidence interval)[^.\d]{0,20}(\d{1,9}\.\d{1,9})", IGNORECASE
)
_UNCERTAINTY = bounded(r"(?:±|\\pm)\s{0,9}\$?\s{0,9}(\d{1,9}(?:\.\d{1,9})?)")
_OF_COUNT = bounded(
    r"\b\d{1,9}(?:/| (?:out )?of )(?:the )?\d{1,9}\b[^.%]{0,40}?(\d{1,3}(?:\.\d{1,3})?)\s?\\?%"
)
_SAMPLE_SIZE = bounded(r"\b[nN]\s{0,9}=\s{0,9}(\d{1,9})\b")


def _change_statistics(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Change a p-value, interval, uncertainty, share or sample size.

    A p-value is multiplied by ten.
    """
    for place, one in _prose(sentences):
        for mark in _P_VALUE.finditer(one.raw):
            value = float(mark.group(1))
            if value < 0.1:
                yield Change(place, _splice(one.raw, mark, f"{value * 10:g}", group=1))
        for pattern in (_INTERVAL_END, _UNCERTAINTY, _OF_COUNT, _SAMPLE_SIZE):
            for mark in pattern.finditer(one.raw):
                if float(mark.group(1)):
                    new_figure = _other_figure(mark.group(1))
                    yield Change(place, _splice(one.raw, mark, new_figure, group=1))


_CONTROL = bounded(
    r"\b(?:control(?:s|led)?(?: for| group| experiment| condition)|baselines?|randomi[sz]ed"
    r"|randomly|held.out|cross.validat\w{1,9}|ablation|blind(?:ed)?|placebo|sham|ground truth"
    r"|validated? (?:on|against|by|with)|in order to avoid|to (?:avoid|rule out|account for)"
    r"|excluded|independent(?:ly)? (?:of|test|data|sample)|we (?:also )?compare)\b",
    IGNORECASE,
)


def _remove_control(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Delete a sentence about a control, baseline, validation or exclusion."""
    yield from (Change(place, "") for place, one in _body(sentences) if _CONTROL.search(one.raw))


_STRONGER_WORDS = {
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
_CAUTIOUS_WORDS = bounded(
    rf"(?<![\w-])(?:{_any_of(_STRONGER_WORDS)})(?![\w-])".replace(" ", r"\s"), IGNORECASE
)


def _overstate_conclusion(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Replace a cautious verb or adverb by one that claims certainty."""
    yield from _replace_words(_body(sentences), _CAUTIOUS_WORDS, _STRONGER_WORDS)


_NEGATABLE = bounded(r"\b(?:is|are|was|were|can|does|has been|have been)\b(?!\snot\b)(?=\s[a-z])")


def _contradict_abstract(sentences: Sequence[Sentence]) -> Iterator[Change]:
    """Change the abstract so that it contradicts the text.

    Change a number that the text repeats, else a direction, else negate a sentence.
    """
    abstract = [(place, one) for place, one in _prose(sentences) if one.in_abstract]
    figures = [
        change
        for change in _change_figures(abstract, sentences)
        if change.contradicted_place is not None
        and not sentences[change.contradicted_place].in_abstract
    ]
    opposites = list(_replace_words(iter(abstract), _DIRECTION, _OPPOSITES))
    negations = [
        Change(place, f"{one.raw[: mark.end()]} not{one.raw[mark.end() :]}")
        for place, one in abstract
        for mark in _NEGATABLE.finditer(one.raw)
    ]
    yield from figures or opposites or negations


_LATEX_CITATION = linear(r"\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]+)\}")
_BRACKET_CITATION = bounded(r"\[(\d{1,3})(?:\s?[,–-]\s?\d{1,3}){0,20}\]")
_AUTHOR_YEAR = bounded(
    r"(?<!\w)([A-Z][\w’'-]{1,40}(?:\set\sal\.?|\s(?:and|&)\s[A-Z][\w’'-]{1,40})?,?\s\(?(?:19"
    r"|20)\d\d)"
    r"(?!\d)"
)
_MARKDOWN_KEY = bounded(r"(?<![\w.])@([A-Za-z][\w:-]{2,60})")


def _replace_citation(
    sentences: Sequence[Sentence], is_latex: bool, draw: random.Random
) -> Iterator[Change]:
    """Replace the first work of a citation by another cited work."""
    patterns = (_LATEX_CITATION,) if is_latex else (_MARKDOWN_KEY, _BRACKET_CITATION, _AUTHOR_YEAR)
    for pattern in patterns:
        citations = [
            (place, mark, _first_key(mark))
            for place, one in _body(sentences)
            for mark in pattern.finditer(one.raw)
        ]
        works = sorted({key for _, _, key in citations})
        if len(works) < _FEWEST_WORKS:
            continue
        for place, mark, key in citations:
            other = draw.choice([work for work in works if work != key])
            start = mark.start(1) + mark.group(1).index(key)
            raw = sentences[place].raw
            yield Change(place, f"{raw[:start]}{other}{raw[start + len(key) :]}")
        return


_FEWEST_WORKS = 4


def _first_key(mark: Match[str]) -> str:
    return mark.group(1).partition(",")[0].strip() if "\\" in mark.group() else mark.group(1)


def _splice(text: str, mark: Match[str], replacement: str, group: int = 0) -> str:
    return f"{text[: mark.start(group)]}{replacement}{text[mark.end(group) :]}"


RULES: Mapping[ErrorKind, Callable[[Sequence[Sentence]], Iterator[Change]]] = {
    ErrorKind.NUMBER: _change_number,
    ErrorKind.SIGN: _reverse_direction,
    ErrorKind.SWAPPED_CONDITIONS: _swap_conditions,
    ErrorKind.STATISTICS: _change_statistics,
    ErrorKind.MISSING_CONTROL: _remove_control,
    ErrorKind.UNSUPPORTED_CONCLUSION: _overstate_conclusion,
    ErrorKind.CONTRADICTED_ABSTRACT: _contradict_abstract,
}
"""All rules except `_replace_citation`, which takes other arguments."""
