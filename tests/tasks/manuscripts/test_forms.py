"""One paper as LaTeX, as PDF and as damaged OCR text: the same findings, and none about the
damage.
"""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.check_run import ManuscriptSource
from tasks.accounting.ledger import Ledger
from tasks.manuscripts.problems import leads_at
from tasks.manuscripts.read import Manuscript, read_manuscript
from tasks.manuscripts.sections import sections_of
from tasks.manuscripts.steps.review import (
    LeadShown,
)
from tests.support.small_pdf import pdf_of

THINGS = ["pebbles", "shells", "stones", "feathers", "corals", "beans", "seeds", "leaves", "nuts"]
WRONG = [
    f"We found that 12 of 40 (25%) {thing} were round in {year}."
    for year, thing in enumerate(THINGS, 1991)
]
WRONG += [
    f"The test of all {thing} was clear, t(28) = 2.20, p = .36, so we stop." for thing in THINGS
]
RIGHT = [
    f"Of the {thing} that were weighed again 10 of 40 (25%) were flat and kept in the first box."
    for thing in THINGS
]
DAMAGE = {
    "10 of 40 (25%) were flat": [
        "1 0 of 4 0 (2 5 %) were flat",
        "1\ufffd of 40 (25%) were flat",
        "10 of 4(cid:18) (25%) were flat",
        "w e r e k e p t a n d 10 of 40 (55%) were flat",
        "10 of 40 (2\ufffd5%) and 10 of 40 (75%) were flat",
    ]
}
"""What a reader of scans makes of the right sentences: taken at its word it would be wrong."""


def body() -> list[str]:
    return [sentence for pair in zip(WRONG, [*RIGHT, *RIGHT], strict=True) for sentence in pair]


def latex(folder: Path) -> Path:
    text = "\n".join(sentence.replace("%", r"\%") for sentence in body())
    path = folder / "paper.tex"
    path.write_text(
        "\\documentclass{article}\\title{On things}\\begin{document}\n"
        f"\\section{{Results}}\n{text}\n\\end{{document}}\n"
    )
    return path


def pdf(folder: Path) -> Path:
    lines = textwrap.wrap(" ".join(body()), 80)
    pages = [
        [
            ("1 Results", 12.0, True),
            *((line, 10.0, False) for line in lines[at : at + 40]),
        ]
        for at in range(0, len(lines), 40)
    ]
    path = folder / "paper.pdf"
    path.write_bytes(pdf_of(pages))
    return path


def scan(folder: Path) -> Path:
    """Lines as printed, words cut at their ends, ligatures, odd spaces, right sentences damaged."""
    damaged = []
    for number, sentence in enumerate(body()):
        for clean, broken in DAMAGE.items():
            sentence = sentence.replace(clean, broken[number // 2 % len(broken)])
        damaged.append(sentence.replace("found", "f ound" if number % 7 == 6 else "found"))
    lines = textwrap.wrap(" ".join(damaged).replace("fi", "\ufb01"), 60)
    path = folder / "paper.ocr"
    path.write_text("On things\n\n1 Results\n\n" + " \n".join(lines) + "\n")
    return path


async def found_in(path: Path) -> list[LeadShown]:
    """What the checks of the text hand over to the reading of its sections."""
    source = ManuscriptSource(manuscript_id="m", path=path, content_sha256="ab")
    ledger = Ledger(IdeaId("m"))
    read = await read_manuscript(source, "auto", Settings().documents, None, ledger, lambda: False)
    assert isinstance(read, Manuscript), read
    reading = read.reading
    return [lead for leads in leads_at(reading, sections_of(reading)) for lead in leads]


def letters(text: str) -> str:
    return "".join(sign for sign in text.replace("\ufb01", "fi").casefold() if sign.isalnum())


@pytest.mark.parametrize(("form", "least_share"), [(latex, 1.0), (pdf, 0.9), (scan, 0.9)])
async def test_every_form_of_a_paper_has_the_same_findings_and_none_about_its_damage(
    tmp_path: Path, form: Any, least_share: float
) -> None:
    expected = {letters(sentence) for sentence in WRONG}
    found = {letters(one.quote) for one in await found_in(form(tmp_path))}
    assert len(expected & found) >= least_share * len(expected)
    assert not found - expected, "a mistake of the reading"
