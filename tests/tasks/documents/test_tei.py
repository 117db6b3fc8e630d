import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.identifiers import PaperId
from schemas.literature.paper import SectionKind
from tasks.documents.document import ParsedDocument, paper_sections
from tasks.documents.grobid import TeiError, document_of_tei

REAL = Path(__file__).parents[4] / "shared" / "data" / "pdf" / "grobid_sample.tei.xml"


def tei(body: str, abstract: str = "") -> str:
    return (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>A'
        " <hi>title</hi></title></titleStmt></fileDesc>"
        f"<profileDesc><abstract>{abstract}</abstract></profileDesc></teiHeader><text><body>{body}</body></text></TEI>"
    )


def test_numbers_of_heads_give_the_levels_back() -> None:
    methods = '<div><head n="2">Methods</head><p>We <ref>[1]</ref> did.</p></div>'
    cohort = '<div><head n="2.1">Cohort</head><p>Forty.</p><figure><head>F</head></figure></div>'
    document = document_of_tei(tei(methods + cohort))
    assert document.title == "A title"
    assert [(section.level, section.heading, section.text) for section in document.sections] == [
        (0, "2 Methods", "We [1] did."),
        (1, "2.1 Cohort", "Forty."),
    ]


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        ("<p>In short.</p>", "In short."),
        ("<div><p>In short.</p></div>", "In short."),
        (
            "<div><head>Aim</head><p>This.</p></div><div><head>Results</head><p>That.</p></div>",
            "Aim: This.\n\nResults: That.",
        ),
        ("", None),
    ],
)
def test_both_forms_of_abstract_are_read(abstract: str, text: str | None) -> None:
    assert document_of_tei(tei("", abstract)).abstract == text


def test_sentences_keep_the_space_between_them() -> None:
    assert (
        document_of_tei(tei("<div><head>Results</head><p><s>One.</s><s>Two.</s></p></div>"))
        .sections[0]
        .text
        == "One. Two."
    )


@pytest.mark.parametrize(
    "hostile",
    [
        (
            '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><TEI'
            ' xmlns="http://www.tei-c.org/ns/1.0">&b;</TEI>'
        ),
        (
            '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><TEI'
            ' xmlns="http://www.tei-c.org/ns/1.0">&a;</TEI>'
        ),
        "<html><body/></html>",
        "no xml",
        "",
    ],
)
def test_entities_and_other_documents_are_refused(hostile: str) -> None:
    with pytest.raises(TeiError):
        document_of_tei(hostile)


@pytest.mark.skipif(not REAL.exists(), reason="the shared data is not here")
def test_unnumbered_parts_of_a_real_article_belong_to_methods_and_results() -> None:
    sections = {
        section.section: section
        for section in paper_sections(PaperId("p"), document_of_tei(REAL.read_bytes()))
    }
    assert list(sections) == [
        SectionKind.ABSTRACT,
        SectionKind.METHODS,
        SectionKind.RESULTS,
        SectionKind.DISCUSSION,
    ]
    assert "### Scanning the array" in sections[SectionKind.METHODS].text
    assert "### Selectivity with optimal stimulation pattern" in sections[SectionKind.RESULTS].text


@given(
    text=st.text(max_size=80)
    | st.binary(max_size=200)
    | st.lists(
        st.sampled_from(["<div>", "</div>", "<head>", "</head>", "<p>", "</p>", "x", "&amp;"]),
        max_size=12,
    )
    .map("".join)
    .map(tei)
)
def test_any_text_is_a_document_or_refused(text: str | bytes) -> None:
    with contextlib.suppress(TeiError):
        assert isinstance(document_of_tei(text), ParsedDocument)


@pytest.mark.parametrize("name", ["hi", "div", "s", "figure"])
def test_a_document_may_nest_as_deep_as_it_likes(name: str) -> None:
    document = document_of_tei(
        tei(
            f"<div><head>Methods</head><p>{f'<{name}>' * 30_000}deep{f'</{name}>' * 30_000}</p></div>"
        )
    )
    assert document.sections[0].heading == "Methods"
    if name == "hi":
        assert document.sections[0].text == "deep"


def test_nested_divisions_are_told_once_each() -> None:
    inner = "<div><p>" * 2_000 + "word " * 2_000 + "</p></div>" * 2_000
    document = document_of_tei(tei(f"<div><head>Methods</head><p>{inner}</p></div>"))
    assert sum(len(section.text) for section in document.sections) < 20_000


@pytest.mark.parametrize("encoding", ["nonsense", "utf-7", "base64", "undefined", "utf-32"])
def test_an_encoding_that_is_none_is_no_tei(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{tei("")}'
    with pytest.raises(TeiError):
        document_of_tei(text.encode())
