"""The example of a survey in the docs: whatever it cites can be found, and it quotes in short."""

from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import bibtexparser
import pytest
from bibtexparser.model import Entry

from schemas.text.patterns import bounded

FOLDER = Path(__file__).parents[3] / "docs" / "examples" / "survey"
LINK = bounded(r"\]\((https?://[^\s()]{1,300})\)")
QUOTE = bounded(r"“([^“”]{1,2000})”")
KEY = bounded(r"`([a-z]{1,40}[0-9]{4}(?:-[0-9]{1,3})?)` \|")
PICTURE = bounded(r"!\[[^\]]{1,200}\]\(([^\s()]{1,100})\)")


@pytest.fixture(scope="module")
def page() -> str:
    return (FOLDER / "index.md").read_text()


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    library = bibtexparser.parse_file(str(FOLDER / "papers.bib"))
    assert not library.failed_blocks
    return list(library.entries)


def test_every_work_cited_is_in_the_bibliography(page: str, entries: list[Entry]) -> None:
    cited = set(LINK.findall(page))
    assert len(cited) > 20
    assert cited <= {entry["url"] for entry in entries}


def test_the_papers_listed_are_those_of_the_bibliography(page: str, entries: list[Entry]) -> None:
    keys = KEY.findall(page)
    assert sorted(keys) == sorted(entry.key for entry in entries)


def test_every_entry_has_an_identifier(entries: list[Entry]) -> None:
    for entry in entries:
        assert {"doi", "eprint"} & set(entry.fields_dict), entry.key
        assert urlsplit(entry["url"]).path.lstrip("/") == entry["doi"]


def test_every_sentence_of_the_review_cites(page: str) -> None:
    review = page.split("#### In short")[1].split("### The leading works")[0]
    lines = [line for line in review.splitlines() if line and not line.startswith("#")]
    assert len(lines) > 15
    assert all(LINK.search(line) for line in lines)


def test_it_quotes_in_short(page: str, entries: list[Entry]) -> None:
    quotes = QUOTE.findall(page)
    assert quotes
    assert max(len(quote.split()) for quote in quotes) <= 30
    assert not any("abstract" in entry.fields_dict for entry in entries)


def test_its_pictures_lie_beside_it_and_load_nothing(page: str) -> None:
    names = PICTURE.findall(page)
    assert len(names) == 2
    for name in names:
        text = (FOLDER / name).read_text()
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert text.count("http") == 1  # the name of the format
        assert "url(" not in text
