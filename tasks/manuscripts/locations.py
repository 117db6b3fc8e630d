"""Does a place that a report names exist in the manuscript? Yes, no, or it cannot be told."""

import re
from collections.abc import Iterator

from schemas.manuscripts import ManuscriptForm
from tasks.manuscripts.manuscript import Manuscript

_PAGE = re.compile(r"\b(?:pages?|pp?\.)\s*(\d{1,4})", re.IGNORECASE)
_SECTION = re.compile(
    r"(?:\b(?:sections?|secs?\.?)|§)\s*([A-Z]?\d{1,2}(?:\.\d{1,2}){0,3})(?!\w)|\bappendix\s+([A-Z](?:\.\d{1,2}){0,3})(?!\w)", re.IGNORECASE
)
_EQUATION = re.compile(r"\b(?:equations?|eqs?\.?|eqns?\.?)\s*~?\(?\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*[a-z]?)\)?", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|remark|example|assumption|conjecture|algorithm|table|figure|fig)s?\.?\s*~?"
    r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\b(?:eq|sec|thm|lem|lemma|prop|cor|def|fig|tab|app|rem|alg)[:.][\w:.-]+", re.IGNORECASE)


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
    for number in _EQUATION.findall(location):
        yield re.search(rf"\(\s*{re.escape(number)}\s*\)", text) is not None
    for kind, number in _NUMBERED.findall(location):
        word = "fig(?:ure)?" if kind.lower().startswith("fig") else kind
        yield re.search(rf"\b{word}s?\.?\s*{re.escape(number)}(?![\d])", text, re.IGNORECASE) is not None
    yield _names_heading(location, manuscript)


def _numbered_heading(number: str, manuscript: Manuscript) -> bool | None:
    """None where the headings carry no numbers."""
    numbers = [found.group(1) for heading in manuscript.headings if (found := re.match(r"([A-Z]|[A-Z]?\d+(?:\.\d+)*)\.?\s", f"{heading} "))]
    if not any(character.isdigit() for found in numbers for character in found):
        return None
    return number.upper() in {found.upper() for found in numbers} or any(found.startswith(f"{number}.") for found in numbers)


def _names_heading(location: str, manuscript: Manuscript) -> bool | None:
    """True where a heading is quoted by its words; no reason to doubt a place that quotes none."""
    letters = _letters(location)
    named = (name for heading in manuscript.headings if len(name := _letters(heading)) >= 5)
    return True if any(name in letters for name in named) else None


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())
