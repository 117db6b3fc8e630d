"""Recorded answers of the real API are read without loss."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.identifiers import PaperId
from tasks.literature.api_shapes import (
    FIELDS,
    edge_of,
    open_access_pdf_url,
    parse_paper,
    passage_rows,
    passages_of,
)
from tasks.literature.edges import nested_rows

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "api_samples"
recorded = pytest.mark.skipif(not SAMPLES.exists(), reason="the recorded answers are not here")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
PAPER_KEYS = FIELDS.split(",")


def sample(name: str) -> Any:
    return json.loads((SAMPLES / f"{name}.json").read_text())["body"]


def test_absurd_years_and_addresses_of_a_paper_are_unknown() -> None:
    row = {"paperId": "p", "title": "A title", "year": 3026, "publicationDate": "3026-01-01"}
    paper = parse_paper({**row, "url": "javascript:alert(1)"})
    assert paper is not None
    assert (paper.year, paper.publication_date, paper.url) == (None, None, "")


@recorded
def test_papers_are_read_whole_and_a_batch_keeps_its_places() -> None:
    full = sample("paper_get_full")
    paper = parse_paper(full)
    assert paper is not None
    assert (paper.paper_id, paper.citation_count) == (full["paperId"], full["citationCount"])
    assert paper.abstract
    assert paper.authors
    unknown, known, *_ = [parse_paper(row) for row in sample("paper_batch_with_null")]
    assert unknown is None
    assert known is not None
    assert (known.corpus_id, known.doi) == (470667, "10.2139/ssrn.288970")
    assert known.publication_date == date(2001, 10, 1)
    assert known.open_access_pdf_url == "http://papers.nber.org/papers/w8841.pdf"


@recorded
@pytest.mark.parametrize(
    ("name", "rows_at"),
    [
        ("paper_search", "data"),
        ("paper_search_second_page", "data"),
        ("paper_search_bulk_first", "data"),
        ("paper_search_bulk_last_page", "data"),
        ("paper_search_match", "data"),
        ("recommendations_forpaper", "recommendedPapers"),
        ("recommendations_forpaper_all_cs", "recommendedPapers"),
        ("recommendations_post", "recommendedPapers"),
    ],
)
def test_rows_of_answers_are_papers(name: str, rows_at: str) -> None:
    rows = sample(name)[rows_at]
    papers = [parse_paper(row) for row in rows]
    assert [paper and paper.paper_id for paper in papers] == [row["paperId"] for row in rows]


@recorded
def test_references_without_a_record_are_left_out() -> None:
    rows = [row["citedPaper"] for row in sample("paper_references_null_paperId")["data"]]
    assert any(row["paperId"] is None for row in rows)
    assert all((parse_paper(row) is None) == (row["paperId"] is None) for row in rows)


@recorded
def test_withheld_references_are_not_none_found() -> None:
    (row,) = sample("paper_batch_nested_elided")
    assert nested_rows(row, "references") is None
    assert nested_rows({"references": []}, "references") == []


@recorded
def test_missing_and_null_lists_are_read_as_unknown() -> None:
    nulls = {key: None for key, value in sample("paper_with_null_lists").items() if value is None}
    paper = parse_paper({"paperId": "x", "title": "t", **nulls})
    assert paper is not None
    assert paper.authors == ()


@recorded
def test_pdf_addresses_are_read_from_every_variant() -> None:
    variants = sample("openAccessPdf_variants")
    found = [
        variant
        for variant in (variants if isinstance(variants, list) else variants["variants"])
        if isinstance(variant, dict)
    ]
    read = [open_access_pdf_url(variant.get("openAccessPdf", variant)) for variant in found]
    assert any(read)
    assert all(url is None or url.startswith("http") for url in read)


@recorded
def test_passages_are_read_with_their_mentions() -> None:
    data = sample("snippet_search")["data"]
    rows = passage_rows(data)
    assert len(rows) == len(data)
    assert {row.kind for row in rows} >= {"title", "abstract"}
    assert {row.corpus_id for row in rows} == {int(row["paper"]["corpusId"]) for row in data}
    assert any(row.mentioned_ids for row in rows)
    assert passages_of(rows, {}) == ()


def test_an_address_in_the_disclaimer_stands_in_for_an_empty_one() -> None:
    value = {
        "url": "",
        "disclaimer": (
            "Notice: … available at https://arxiv.org/abs/1, which is subject to the license"
        ),
    }
    assert open_access_pdf_url(value) == "https://arxiv.org/abs/1"
    assert open_access_pdf_url({"url": "javascript:alert(1)"}) is None


@given(json_values)
def test_any_json_is_a_paper_or_none(value: Any) -> None:
    parse_paper(value)
    snippet = {"text": "t", "snippetKind": value, "section": value, "annotations": value}
    passage_rows([value, {"paper": {"corpusId": 1}, "snippet": snippet, "score": value}])
    nested_rows(value, "citations")


@given(json_values, json_values)
def test_any_values_in_an_edges_fields_are_known_or_unknown(told: Any, influential: Any) -> None:
    row = {"contextsWithIntent": told, "isInfluential": influential}
    edge = edge_of(row, PaperId("a"), PaperId("b"), empty_is_none=False)
    assert edge.contexts != ()
    lists = (edge.contexts, edge.sections, edge.intents)
    assert len({None if each is None else len(each) for each in lists}) == 1


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(PAPER_KEYS, json_values)))
def test_any_values_in_a_papers_fields_are_a_paper_or_none(row: dict[str, Any]) -> None:
    paper = parse_paper(row)
    assert paper is None or paper.title.strip()
    passage_rows([{"paper": row, "snippet": row, "score": row.get("year")}])
