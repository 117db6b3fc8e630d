"""Every regular expression of the project takes time that is linear in the text.

The form of each is proved; twenty of them are timed as well, and in `make long` the others.
"""

import ast
import importlib
import pkgutil
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from schemas.text.patterns import DEFINED, DOTALL, IGNORECASE, MULTILINE, Pattern, bounded, linear
from tests.support.expressions import Repetitions, repeated_atoms
from tests.support.growth import superlinear_from
from tests.support.tiers import some

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
