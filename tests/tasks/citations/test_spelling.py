"""Keys outside the prompt that showed them: spelled out or taken away, never another paper's."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.citations.keys import show
from tasks.citations.spelled import spelled_out

SHOWN = show([Paper(paper_id=PaperId(f"id{n}"), title=f"Title {n}") for n in (1, 2, 3)])
OWN = PaperId("id2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sparse routing saves compute [P2].", "Sparse routing saves compute."),
        ("P2 shows the same, unlike P1 does.", "the paper shows the same, unlike “Title 1” does."),
        (
            "Goes further than others [P1, P3] (P2).",
            "Goes further than others (“Title 1”; “Title 3”).",
        ),
        ("Nothing like it [P99] exists; see paper P3.", "Nothing like it exists; see “Title 3”."),
        (
            "The P3 wave and the P53 gene (p < 0.05) rise [sic].",
            "The P3 wave and the P53 gene (p < 0.05) rise [sic].",
        ),
        (
            "[P2] shows more, and [P3] reports less.",
            "the paper shows more, and “Title 3” reports less.",
        ),
        ("Nested [P1[P2]].", "Nested (“Title 1”)."),
    ],
)
def test_keys_become_titles_or_go(text: str, expected: str) -> None:
    assert spelled_out(text, SHOWN, OWN)[0] == expected


@given(st.text(alphabet="P123[]() ,.ashow", max_size=60))
def test_no_bracketed_key_is_left_whatever_the_text(text: str) -> None:
    assert not re.search(r"\[P\d+\]", spelled_out(text, SHOWN, OWN)[0])


@pytest.mark.parametrize(
    ("text", "expected", "removed"),
    [
        (
            "It works (Smith, 2020) 10.1234/abc arXiv:2101.00001 [x](http://made.up).",
            "It works x.",
            4,
        ),
        ("As P1 shows [P2, P9], https://made.up/x.", "As “Title 1” shows.", 2),
        ("They say “as (Smith, 2020) and P1 does”.", "They say “as (Smith, 2020) and P1 does”.", 0),
    ],
)
def test_made_up_references_go_and_are_counted(text: str, expected: str, removed: int) -> None:
    assert spelled_out(text, SHOWN, OWN) == (expected, removed)


def test_a_title_that_looks_like_a_citation_is_no_citation_and_takes_no_time() -> None:
    hostile = show(
        [
            Paper(paper_id=PaperId("a"), title="A"),
            Paper(paper_id=PaperId("b"), title="See [P2] and (P1)"),
        ]
    )
    assert (
        spelled_out("Unlike [P2], it works.", hostile, PaperId("a"))[0]
        == "Unlike (“See P2 and P1”), it works."
    )
