"""Does a place that a report names exist in the manuscript? Yes, no, or it cannot be told."""

from collections.abc import Iterator

from schemas.manuscripts import ManuscriptForm
from schemas.patterns import IGNORECASE, bounded
from tasks.manuscripts.manuscript import Manuscript

_PAGE = bounded(r"\b(?:pages?|pp?\.)\s{0,9}(\d{1,4})", IGNORECASE)
_SECTION = bounded(
    r"(?:\b(?:sections?|secs?\.?)|§)\s{0,9}([A-Z]?\d{1,2}(?:\.\d{1,2}){0,3})(?!\w)|\bappendix\s{1,9}([A-Z](?:\.\d{1,2}){0,3})(?!\w)",
    IGNORECASE,
)
_EQUATION = bounded(
    r"\b(?:equations?|eqs?\.?|eqns?\.?)\s{0,9}+~?\(?\s{0,9}([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9}[a-z]?)\)?",
    IGNORECASE,
)
_NUMBERED = bounded(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|remark|example|assumption|conjecture|algorithm|table|figure|fig)s?\.?\s{0,9}~?"
    r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*)",
    IGNORECASE,
)
_PRINTED_EQUATION = bounded(
    r"\(\s{0,9}([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9}[a-z]?)\s{0,9}\)", IGNORECASE
)
_PRINTED_NUMBER = bounded(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|remark|example|assumption|conjecture"
    r"|algorithm|table|figure|fig)s?\.?\s{0,9}([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9})(?!\d)",
    IGNORECASE,
)
_HEADING_NUMBER = bounded(r"^([A-Z]|[A-Z]?\d{1,9}(?:\.\d{1,9}){0,20})\.?\s")
_NO_LETTERS = bounded(r"[^a-z]+")
_LABEL = bounded(
    r"\b(?:eq|sec|thm|lem|lemma|prop|cor|def|fig|tab|app|rem|alg)[:.][\w:.-]+", IGNORECASE
)


def location_found(location: str, manuscript: Manuscript) -> bool | None:
    """Whether every place named exists. None where none can be held against the text: in LaTeX, for one, numbers are not written."""
    verdicts = [verdict for verdict in _verdicts(location, manuscript) if verdict is not None]
    return all(verdicts) if verdicts else None


def _verdicts(location: str, manuscript: Manuscript) -> Iterator[bool | None]:
    if manuscript.pages:
        yield from (1 <= int(number) <= len(manuscript.pages) for number in _PAGE.findall(location))
    if manuscript.form is ManuscriptForm.LATEX:
        yield from (label in manuscript.text for label in _LABEL.findall(location))
        yield _names_heading(location, manuscript)
        return
    text = manuscript.text
    for numbers in _SECTION.findall(location):
        yield _numbered_heading("".join(numbers), manuscript)
    equations = frozenset(_PRINTED_EQUATION.findall(text))
    yield from (number in equations for number in _EQUATION.findall(location))
    printed = frozenset(
        (_kind(kind), number.lower()) for kind, number in _PRINTED_NUMBER.findall(text)
    )
    for kind, number in _NUMBERED.findall(location):
        yield any(
            _kind(kind) == other and _begins_with(found, number.lower()) for other, found in printed
        )
    yield _names_heading(location, manuscript)


def _kind(word: str) -> str:
    return "figure" if word.lower() == "fig" else word.lower()


def _begins_with(found: str, number: str) -> bool:
    """`3.1` is of 3 and of 3.1, not of 3.12 and not of 31."""
    return found.startswith(number) and not found[len(number) : len(number) + 1].isdigit()


def _numbered_heading(number: str, manuscript: Manuscript) -> bool | None:
    """None where the headings carry no numbers."""
    numbers = [
        found.group(1)
        for heading in manuscript.headings
        if (found := _HEADING_NUMBER.match(f"{heading} "))
    ]
    if not any(character.isdigit() for found in numbers for character in found):
        return None
    return number.upper() in {found.upper() for found in numbers} or any(
        found.startswith(f"{number}.") for found in numbers
    )


def _names_heading(location: str, manuscript: Manuscript) -> bool | None:
    """True where a heading is quoted by its words; no reason to doubt a place that quotes none."""
    letters = _letters(location)
    named = (name for heading in manuscript.headings if len(name := _letters(heading)) >= 5)
    return True if any(name in letters for name in named) else None


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text.lower())
