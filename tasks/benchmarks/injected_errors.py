"""Errors put into a manuscript by rule: eight kinds, each a change of one sentence that a careful
reader of the whole text can notice.

The kinds are those of OpenAIReview (arXiv 2606.19749): a number, a direction, exchanged conditions,
a statistic, a control that is no longer told of, a conclusion stronger than what carries it, an
abstract that contradicts the text, and a citation of another work. Every rule is a pattern and a
replacement; the seed draws among the places it fits.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.text.patterns import bounded
from tasks.benchmarks.injection_rules import RULES, Change, ErrorKind, Sentence
from tasks.manuscripts.steps.reading import Reading
from tasks.text.quotations import normal


@dataclass(frozen=True, slots=True)
class InjectedError:
    """One error in one text.

    Attributes:
        before, after: the sentence as it was and as it is; `after` is empty where it was deleted.
        location: where it stands, as `Reading` words places.
        stretches: words in a row of the sentences that a report of this error may quote: the
            changed one, the one it contradicts, or the neighbours of one that was deleted. What the
            twin says at several places points at none.
    """

    kind: ErrorKind
    before: str
    after: str
    location: str
    stretches: tuple[str, ...]

    def is_quoted_by(self, report: str) -> bool:
        """Whether a report quotes one of the sentences, in whole or a stretch of it."""
        said = f" {normal(report)} "
        return any(f" {stretch} " in said for stretch in self.stretches)


_STRETCH_WORDS = 6
"""Words in a row that a report shares with a sentence it quotes."""
_LONGEST_SENTENCE_WORDS = 120
"""What is longer is a table in one piece: who quotes a cell of it points at no sentence."""


def inject(
    text: str, form: str, seed: int, kinds: Sequence[ErrorKind] = tuple(ErrorKind)
) -> tuple[str, tuple[InjectedError, ...]]:
    """The text with at most one error of each kind, each in a sentence of its own, and the errors
    in the order of `kinds`.

    A kind for which the text has no fitting sentence is left out. The same seed gives the same
    twin.

    Args:
        form: `latex`, `text` or `pdf`, as `Reading` takes it.
    """
    reading = Reading(form, text)
    found = _sentences(reading)
    taken: dict[int, tuple[ErrorKind, Change]] = {}
    for kind in kinds:
        draw = random.Random(f"{seed}:{kind}")  # noqa: S311 -- no secret
        touched = {place for _, change in taken.values() for place in _around(change)}
        fitting = RULES[kind](found, reading.is_latex, draw)
        changes = [change for change in fitting if touched.isdisjoint(_around(change))]
        if changes:
            chosen = draw.choice(changes)
            taken[chosen.sentence] = (kind, chosen)
    pieces, place = [], 0
    for number in sorted(taken):
        pieces += [text[place : found[number].start], taken[number][1].after]
        place = found[number].end
    twin = "".join([*pieces, text[place:]])
    said = normal(twin)
    errors = {kind: _error(kind, change, found, said) for kind, change in taken.values()}
    return twin, tuple(errors[kind] for kind in kinds if kind in errors)


def _around(change: Change) -> set[int]:
    """Sentences that no other error may touch: they are what shows this one."""
    place, other = change.sentence, change.contradicted
    return {place - 1, place, place + 1} | ({other} if other is not None else set())


def _error(kind: ErrorKind, change: Change, found: Sequence[Sentence], said: str) -> InjectedError:
    """`said`: the twin."""
    sentence = found[change.sentence]
    neighbours = [
        found[place].raw
        for place in (change.sentence - 1, change.sentence + 1)
        if 0 <= place < len(found)
    ]
    there = [change.after] if change.after else neighbours
    contradicted = () if change.contradicted is None else (found[change.contradicted].raw,)
    other = [each for each in contradicted if len(each.split()) <= _LONGEST_SENTENCE_WORDS]
    return InjectedError(
        kind=kind,
        before=" ".join(sentence.raw.split()),
        after=" ".join(change.after.split()),
        location=sentence.location,
        stretches=tuple(
            stretch
            for each in [*there, *other]
            for stretch in _stretches(each)
            if said.count(stretch) <= 1
        ),
    )


def _stretches(sentence: str) -> Iterator[str]:
    words = normal(sentence).split()
    size = min(_STRETCH_WORDS, len(words))
    return (" ".join(words[at : at + size]) for at in range(len(words) - size + 1) if size)


# Sentences with their stretch of the text.

_UNBROKEN = bounded(r"\S+")


def _sentences(reading: Reading) -> list[Sentence]:
    """Sentences of prose in order; what cannot be found again word for word is left out."""
    tokens = list(_UNBROKEN.finditer(reading.text))
    flat = " ".join(token.group() for token in tokens)
    starts, place = {}, 0
    for number, token in enumerate(tokens):
        starts[place] = number
        place += len(token.group()) + 1
    abstract = reading.abstract_span
    found, behind = [], 0
    for placed in reading.sentences:
        at = flat.find(placed.sentence, behind)
        if at < 0 or at not in starts:
            continue
        behind = at + len(placed.sentence)
        first = starts[at]
        last = first + len(placed.sentence.split()) - 1
        start, end = tokens[first].start(), tokens[last].end()
        raw = reading.text[start:end]
        in_abstract = abstract is not None and abstract[0] < end <= abstract[1]
        location = "the abstract" if in_abstract else placed.location
        found.append(Sentence(start, end, raw, location, in_abstract))
    return found
