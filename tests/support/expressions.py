"""Expressions taken apart: whether a repetition could be tried again, and texts that would make it
cost.
"""

import re
import re._constants as code
import re._parser as parser
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from schemas.text.patterns import Pattern

Items = list[tuple[Any, Any]]

_REPETITIONS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
_ONE_CHARACTER = (code.IN, code.LITERAL, code.NOT_LITERAL, code.ANY)
_WORD_CHARACTER = [(code.IN, [(code.CATEGORY, code.CATEGORY_WORD)])]
_TRIED_AS_MEMBERS = "a1 -_.,:;\n\t“”*#`~[](){}<>/\\|=+%\"'0zAZéχ\x01\x00\u2010\u3002"


def parsed(pattern: Pattern) -> Items:
    return list(parser.parse(pattern.expression, pattern.flags))


def parts(item: tuple[Any, Any]) -> list[Items]:
    """The sequences inside one item: the body of a group or repetition, the alternatives of a
    choice.
    """
    operator, value = item
    if operator in _REPETITIONS:
        return [list(value[2])]
    if operator is code.SUBPATTERN:
        return [list(value[3])]
    if operator is code.ATOMIC_GROUP:
        return [list(value)]
    if operator is code.BRANCH:
        return [list(each) for each in value[1]]
    if operator in (code.ASSERT, code.ASSERT_NOT):
        return [list(value[1])]
    return []


class Repetitions:
    """Finds the repetitions without limit that a backtracking engine would try again.

    A repetition without limit is harmless where nothing that could fail follows it. One that keeps
    what it took (`x*+`)
    is harmless also where it is entered at one place of its run only: in an anchored expression, or
        behind a look-behind
    that forbids its own characters; and where only the end of a word follows a run of word
    characters.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._lines = bool(pattern.flags & re.MULTILINE)
        self.tried_again = list(
            self._in(parsed(pattern), followed=False, inside_look=False, anchored=False)
        )

    def _in(
        self, items: Items, *, followed: object, inside_look: bool, anchored: bool
    ) -> Iterator[str]:
        anchored = anchored or (bool(items) and _anchored(items))
        for place, item in enumerate(items):
            behind = items[place + 1 :]
            rest: object = followed
            if _can_fail(behind):
                ends_word = (
                    behind[0] == (code.AT, code.AT_BOUNDARY)
                    and not _can_fail(behind[1:])
                    and not followed
                )
                rest = "boundary" if ends_word else True
            if item[0] in _REPETITIONS:
                if item[1][1] is code.MAXREPEAT and (rest or inside_look):
                    before = items[place - 1] if place else None
                    if inside_look or not self._kept(item, before, rest, anchored):
                        yield str(item)
                        continue
                rest = rest or item[1][0] > 1
            is_look = item[0] in (code.ASSERT, code.ASSERT_NOT)
            for inner in parts(item):
                yield from self._in(
                    inner,
                    followed=False if is_look else rest,
                    inside_look=inside_look or is_look,
                    anchored=(anchored or (place == 0 and _anchored(inner))) and not is_look,
                )

    def _kept(
        self, item: tuple[Any, Any], before: tuple[Any, Any] | None, rest: object, anchored: bool
    ) -> bool:
        body = list(item[1][2])
        if (
            item[0] is not code.POSSESSIVE_REPEAT
            or len(body) != 1
            or body[0][0] not in _ONE_CHARACTER
        ):
            return False
        if rest == "boundary" and body == _WORD_CHARACTER:
            return True
        if anchored and not (self._lines and takes(body[0], "\n")):
            return True
        return (
            before is not None
            and before[0] is code.ASSERT_NOT
            and before[1][0] == -1
            and list(before[1][1]) == body
        )


def _anchored(items: Items) -> bool:
    operator, value = items[0]
    if operator is code.AT:
        return value in (code.AT_BEGINNING, code.AT_BEGINNING_STRING)
    inner = parts(items[0]) if operator in (code.SUBPATTERN, code.BRANCH) else []
    return bool(inner) and all(each and _anchored(each) for each in inner)


def _can_fail(items: Items) -> bool:
    return any(_item_can_fail(item) for item in items)


def _item_can_fail(item: tuple[Any, Any]) -> bool:
    operator, value = item
    if operator in _REPETITIONS:
        return value[0] > 0 and _can_fail(list(value[2]))
    if operator in (code.SUBPATTERN, code.ATOMIC_GROUP):
        return _can_fail(parts(item)[0])
    if operator is code.BRANCH:
        return all(_can_fail(each) for each in parts(item))
    return True


def takes(item: tuple[Any, Any], character: str) -> bool:
    """Whether an item for one character takes this one."""
    operator, value = item
    if operator is code.LITERAL:
        return chr(value) == character
    if operator is code.NOT_LITERAL:
        return chr(value) != character
    if operator is code.ANY:
        return character != "\n"
    negated = any(each is code.NEGATE for each, _ in value)
    return any(_member(each, of, character) for each, of in value) != negated


def _member(operator: Any, value: Any, character: str) -> bool:
    if operator is code.LITERAL:
        return chr(value) == character
    if operator is code.RANGE:
        return value[0] <= ord(character) <= value[1]
    categories = {
        code.CATEGORY_WORD: r"\w", code.CATEGORY_NOT_WORD: r"\W", code.CATEGORY_SPACE: r"\s",
        code.CATEGORY_NOT_SPACE: r"\S", code.CATEGORY_DIGIT: r"\d", code.CATEGORY_NOT_DIGIT: r"\D",
    }  # fmt: skip
    return operator is code.CATEGORY and re.fullmatch(categories[value], character) is not None


def sample(items: Items, choice: int = 0) -> str:
    """A text that the items match, look-around and anchors aside; `choice` picks among
    alternatives.
    """
    return "".join(_sample_of(item, choice) for item in items)


def _sample_of(item: tuple[Any, Any], choice: int) -> str:
    operator, value = item
    if operator is code.LITERAL:
        return chr(value)
    if operator in _ONE_CHARACTER:
        first = (
            [chr(of) for each, of in value if each is code.LITERAL] if operator is code.IN else []
        )
        return next((sign for sign in (*first, *_TRIED_AS_MEMBERS) if takes(item, sign)), "a")
    if operator in _REPETITIONS:
        return sample(list(value[2]), choice) * min(max(value[0], 1), value[1])
    if operator is code.BRANCH:
        alternatives = parts(item)
        return sample(alternatives[choice % len(alternatives)], choice)
    return (
        sample(parts(item)[0], choice) if operator in (code.SUBPATTERN, code.ATOMIC_GROUP) else ""
    )


def repeated_atoms(pattern: Pattern) -> list[tuple[str, str]]:
    """(prefix, atom): a prefix and then the atom many times is what makes a repetition of the
    pattern cost.
    """
    items = parsed(pattern)
    found: dict[tuple[str, str], None] = {}
    for choice in range(3):
        for prefix, body in _bodies(items, "", choice):
            found[(prefix, body)] = None
            found[("", prefix + body)] = None
        found[("", sample(items, choice))] = None
        found[("", sample(items, choice)[:-1])] = None
        found[(sample(items, choice)[:-1], " ")] = None
    return [each for each in found if each[1]] + [("", " "), ("", "\n"), ("", "a")]


def _bodies(items: Items, prefix: str, choice: int) -> Iterator[tuple[str, str]]:
    """What is repeated, and the words beside it, each with what leads up to it."""
    repeats = any(item[0] in _REPETITIONS and item[1][1] > 9 for item in items)
    for word, run in groupby(enumerate(items), key=lambda each: each[1][0] is code.LITERAL):
        places = [place for place, _ in run]
        if repeats and word and len(places) > 1:
            yield (
                prefix + sample(items[: places[0]], choice),
                sample([items[place] for place in places]),
            )
    for item in items:
        if item[0] in _REPETITIONS and item[1][1] > 1:
            yield prefix, sample(list(item[1][2]), choice)
        for inner in parts(item):
            yield from _bodies(inner, prefix, choice)
        prefix += _sample_of(item, choice)
