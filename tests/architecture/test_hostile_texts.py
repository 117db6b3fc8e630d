"""Functions that read untrusted text take time that is linear in it, however their expressions are
combined.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown_blocks import read_blocks
from dashboards.render.page import Page
from dashboards.render.prose import prose
from schemas.base import Reply
from schemas.identifiers import PaperId
from tasks.citations.keys import show
from tasks.citations.settle import settle
from tasks.citations.spelled import spelled_out
from tasks.committee.steps.queries import abbreviations, reword
from tasks.documents.latex_source import LatexError, whole_source
from tasks.documents.latex_text import document_of_latex
from tasks.ideas.cells import plain_text
from tasks.ideas.parts import parts_of, several_ideas, title_of
from tasks.judging.messages import fit
from tasks.judging.replies import parse_reply
from tasks.judging.step import block
from tasks.manuscripts.steps.find_problems import CHECKS
from tasks.manuscripts.steps.reading import Reading
from tasks.recommendation.uses import named_in
from tasks.soundness.steps.extract_methods import blocks_of
from tasks.text import words as text
from tasks.text.quotations import stands_in
from tests.support.growth import superlinear_from
from tests.support.tiers import some
from warehouse.scrubbing import scrub

PEPTIDE = "Ala-Arg-Asn-Asp-Cys-Gln-Glu-Gly-His-Ile-Leu-Lys-Met-Phe-Pro-Ser-Thr-Trp-Tyr-Val-"


class _Answer(Reply):
    """What the replies below should have been."""

    score: int
    reasons: tuple[str, ...]


def _checked(form: str) -> Callable[[str], object]:
    def check(manuscript: str) -> object:
        reading = Reading(form, manuscript)
        return [list(each(reading)) for each in CHECKS]

    return check


def _shortened(data: str) -> object:
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": data}]
    return fit(messages, 1_000, lambda content: len(content) // 4)


def _page(markdown: str) -> object:
    return html_page(Page((), read_blocks(markdown)))


READERS: dict[str, Callable[[str], object]] = {
    "title": title_of,
    "parts": parts_of,
    "several ideas": lambda given: several_ideas(given, is_text_file=True),
    "text of a cell": plain_text,
    "blocks": blocks_of,
    "sections": text.sections_of_markdown,
    "sentences": text.sentences,
    "key phrases": lambda given: text.key_phrases(given, 5),
    "cue": text.outcome_cue,
    "block of a prompt": lambda given: block(given, "idea", ("papers",)),
    "shortening": _shortened,
    "scrubbing": scrub,
    "reply": lambda given: parse_reply(given, _Answer),
    "settling": lambda given: settle(given, show([])),
    "spelling": lambda given: spelled_out(given, show([]), PaperId("x")),
    "abbreviations": abbreviations,
    "synonyms": lambda given: reword(given, ()),
    "quotation": lambda given: stands_in(given, given),
    "resources": named_in,
    "checks of a printed manuscript": _checked("text"),
    "checks of a LaTeX manuscript": _checked("latex"),
    "prose of a report": prose,
    "page of a report": lambda given: html_page(Page((), prose(given))),
    "page of bare Markdown": _page,
}
"""Each gets a text of up to the stated size."""

_CHARACTERS = 10_000
_REPEATED = {
    "spaces": " ", "line ends": "\n", "stars": "*", "hashes": "#", "open lists": "[", "open objects": '{"a":', "links": "[a](",
    "images": "![a](", "brackets": "(", "keys": "P1 ", "keys in brackets": "[P1] ", "nested keys": "(P1 ", "fences": "```\n",
    "bullets": "- a\n", "full stops": '." ', "abbreviations": "e.g. A ", "tags": "<idea>\n", "addresses": "https://a", "quotes": "“",
    "numbers": "12 of 40 (25 %) ", "tests": "t(1", "captions": "Table 1\n", "cites": "\\cite", "labels": "\\label{", "figures": "1.5, ",
    "negations": "not ", "peptide": PEPTIDE, "shorts": "Aa Bb (AB) ", "hyphens": "a-\n", "removed": "[P9], ", "words": "a ",
    "rows": "a & 1 \\\\\n", "tables": "\\begin{table}\\begin{tabular}{ll}a & 1\\\\\\end{tabular}\\end{table}", "pipes": "| a | 1 |\n",
    "tables without end": "\\begin{table}\\begin{tabular}", "claims": "Our small network has a higher recall than others. ",
    "references": "Table 1 has 1.5 in Lemma 2 of it. ", "entries": "References\n[1] A. B.\n",
}  # fmt: skip


@pytest.mark.parametrize("opening", some(("", "# x"), lambda opening: not opening))
@pytest.mark.parametrize("reader", READERS)
def test_a_text_of_one_thing_repeated_is_read_in_linear_time(reader: str, opening: str) -> None:
    read = READERS[reader]
    slow = {
        name: size
        for name, unit in _REPEATED.items()
        if (
            size := superlinear_from(
                lambda n, u=unit: read(opening + u * (n // len(u)) + "x\x02"), _CHARACTERS, 2_500
            )
        )
    }
    assert slow == {}


@pytest.mark.parametrize(
    ("reader", "hostile"),
    [
        ("title", "# x" + " " * 20_000),
        ("parts", "# x" + " " * 20_000),
        ("abbreviations", f"The peptide {PEPTIDE * 3}made."),
        ("settling", "[a](" * 50_000),
        ("page of a report", "[a](" * 50_000),
        ("reply", " " * 300_000),
        ("reply", '{"score": 1,' + " " * 300_000 + "}"),
        ("reply", "[" * 200 + "1," * 150_000),
        ("reply", '{"reasons": [' + '"a" b ' * 50_000 + "]}"),
        ("reply", "[]" * 150_000),
        ("shortening", "<a>\n" * 60_000),
        ("spelling", "(" * 50_000 + "P1" + ")" * 50_000),
        ("spelling", "(P1 " * 20_000 + ")" * 20_000),
    ],
)
@pytest.mark.timeout(60)
def test_what_used_to_hang_is_read_at_once(reader: str, hostile: str) -> None:
    READERS[reader](hostile)


@pytest.mark.parametrize(
    "unit",
    [
        "\\section{",
        "\\x{",
        "\\begin{table}",
        "\\title[",
        "\\verb|",
        "%",
        "\\\\",
        "\\cite[",
        "\\def\\y{\\x}",
        "\n \n",
    ],
)
def test_a_latex_source_of_one_thing_repeated_is_read_in_linear_time(unit: str) -> None:
    def read(size: int) -> None:
        body = unit * (size // len(unit))
        source = whole_source(
            {
                "main.tex": (
                    "\\documentclass{a}\\newcommand{\\x}[1]{a}\\begin{document}some words"
                    f" {body}"
                )
            }
        )
        with suppress(LatexError):  # nested too deeply: refused, and soon
            document_of_latex(source + " five more words stand here")

    assert superlinear_from(read, 10_000, 2_500) is None
