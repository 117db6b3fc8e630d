"""Every regular expression of the project takes time that is linear in the text.

The form of each is proved; twenty of them are timed as well, and in `make long` the others.
"""

import ast
import importlib
import pkgutil
import re
import re._constants as code
import re._parser as parser
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from schemas.text.patterns import DEFINED, DOTALL, IGNORECASE, MULTILINE, Pattern, bounded, linear
from tests.support.growth import superlinear_from
from tests.support.tiers import some

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


ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "warehouse", "dashboards", "tasks", "flows")
THE_ONE_PLACE = Path("schemas/text/patterns.py")
_CHARACTERS = 16_000
_FAILS = "\x02"

_EXPONENTIAL = r"(a|a)*b"
_ONCE_IN_USE = {
    r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$": 0,
    r"((?:[A-Za-z][\w-]*[ -]){1,6})\(([A-Z][A-Za-z]{1,7}s?)\)": 0,
    r"\s*(?:```|~~~)\s*$": 0,
    r"(?:[ \t]*[,;])?[ \t]*\x00(?:[ \t]*\x00)*(?=[ \t]*(?:[.,;:!?)\]]|$))": MULTILINE,
    r"\s*[-\u2010-\u2015\u2212]+\s*": 0,
    r"\bt\s*\(\s*(\d+\.?\d*)\s*\)\s*=\s*(-?\d*\.?\d+)\s*[,;]?\s*(?:\(?\s*)p": IGNORECASE,
    r"\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]+)\}": 0,
    _EXPONENTIAL: 0,
}
"""Expressions that were superlinear, which the tests below have to find."""


def every_pattern() -> list[Pattern]:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}."
        ):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    return [pattern for pattern in DEFINED.values() if pattern.expression not in _ONCE_IN_USE]


def grows_on(pattern: Pattern) -> list[str]:
    """The repetitions on which the pattern takes more than linear time."""

    def search(prefix: str, atom: str, characters: int) -> None:
        text = prefix + atom * (characters // len(atom)) + _FAILS
        for _ in pattern.finditer(text):
            pass
        pattern.fullmatch(text)

    return [
        f"{pattern!r} on {prefix!r} + n · {atom!r}, from {found} characters"
        for prefix, atom in repeated_atoms(pattern)
        if (
            found := superlinear_from(
                lambda size, p=prefix, a=atom: search(p, a, size), _CHARACTERS
            )
        )
    ]


def python_files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def test_only_the_one_place_imports_an_engine_for_regular_expressions() -> None:
    engines = {"re", "re2", "regex", "sre_compile"}
    found = [
        str(path.relative_to(ROOT))
        for path in python_files()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Import) and engines & {name.name for name in node.names})
        or (isinstance(node, ast.ImportFrom) and node.module in engines)
    ]
    assert set(found) == {str(THE_ONE_PLACE)}


def test_every_expression_is_linear_by_its_form_or_says_why_it_is() -> None:
    patterns = every_pattern()
    assert len(patterns) > 300
    tried_again = [
        f"{pattern!r}: {again}"
        for pattern in patterns
        if pattern.engine == "re" and pattern.because is None
        for again in Repetitions(pattern).tried_again
    ]
    assert tried_again == []


def test_a_reason_is_given_only_where_one_is_needed() -> None:
    idle = [
        pattern
        for pattern in every_pattern()
        if pattern.because and not Repetitions(pattern).tried_again
    ]
    assert idle == []


@pytest.mark.parametrize("part", some(range(16), lambda part: part == 0))
def test_no_expression_takes_more_than_linear_time_on_what_it_repeats(part: int) -> None:
    assert [found for pattern in every_pattern()[part::16] for found in grows_on(pattern)] == []


@pytest.mark.parametrize("expression", _ONCE_IN_USE)
def test_an_expression_that_is_superlinear_is_found_by_its_form(expression: str) -> None:
    assert Repetitions(bounded(expression, _ONCE_IN_USE[expression])).tried_again


@pytest.mark.parametrize("expression", some(_ONCE_IN_USE, lambda each: each == _EXPONENTIAL))
def test_an_expression_that_is_superlinear_is_found_by_its_time(expression: str) -> None:
    assert grows_on(bounded(expression, _ONCE_IN_USE[expression]))


@cache
def every_character() -> str:
    return "".join(
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) not in ("Cn", "Cs")
    )


@pytest.mark.parametrize("name", some("wdsWDS", str.islower))
def test_classes_mean_the_same_characters_in_both_engines(name: str) -> None:
    characters = every_character()
    assert linear(rf"\{name}").findall(characters) == bounded(rf"\{name}").findall(characters)


@pytest.mark.parametrize(
    ("expression", "flags"),
    [
        (r"(\w+)\s*=\s*\"([^\"]*)\"", 0),
        (r"^(\S+)[ \t]*$", MULTILINE),
        (r"(?P<open>\[)(?P<inside>[^\[\]]*)\]|(?P<word>straße|ΣΊΣΥΦΟΣ)", IGNORECASE),
        (r"begin(.*?)end", DOTALL),
        (r"[^\w\s]+|\d{2,}", 0),
        (r"x*", 0),
        (r"[]\u2010-\u2015-]+", 0),
    ],
)
def test_both_engines_find_the_same(expression: str, flags: int) -> None:
    text = (
        'naïve = "é"\n x  = "日本 \u2003"\nbegin a\nb end end STRASSE ΣΊΣΥΦΟΣ σίσυφος [a [b] ‑– ]]'
        " ٣٤ 12 😀xx"
    )
    both = [engine(expression, flags) for engine in (bounded, linear)]
    first, second = (
        [(found.span(), found.groups(), found.groupdict()) for found in pattern.finditer(text)]
        for pattern in both
    )
    assert first == second
    first, second = (
        (
            pattern.findall(text),
            pattern.split(text),
            pattern.sub("·", text),
            pattern.sub("·", text, count=1),
        )
        for pattern in both
    )
    assert first == second


def test_a_lone_surrogate_in_the_text_reads_as_the_replacement_character() -> None:
    found = linear(r"a(.)b").search("\ud800 a\udfffb")
    assert found is not None
    assert (found.span(), found.group(1)) == ((2, 5), "\N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize("expression", [r"\bword", r"a\B", r"(a)\1", r"[\W_]x+", r"x$"])
def test_what_the_engines_would_read_differently_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"RE2 cannot say|would also match"):
        linear(expression).search("")


def test_a_linear_expression_takes_no_template_and_no_place() -> None:
    pattern = linear(r"(b)+c")
    with pytest.raises(ValueError, match="takes a function"):
        pattern.sub(r"\1", "bbc")
    with pytest.raises(ValueError, match="for each start"):
        pattern.match("abbc", 1)
