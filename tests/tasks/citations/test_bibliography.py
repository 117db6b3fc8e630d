from datetime import date

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.citations.keys import show
from tasks.citations.references import bibliography

ROE = Paper(
    paper_id=PaperId("b"),
    title="On *things*.",
    authors=("Bo Roe",),
    venue="Venue",
    year=2021,
    url="https://example.org/b",
)
LEE = Paper(
    paper_id=PaperId("a"),
    title="Why?",
    authors=("Ann Lee", "Bo Roe"),
    publication_date=date(2020, 5, 1),
    doi="10.1/x(y)",
)


def test_entries_are_ordered_unique_and_linked() -> None:
    assert bibliography([ROE, LEE, ROE]).splitlines() == [
        "- Ann Lee, Bo Roe (2020-05). Why? [link](https://doi.org/10.1/x%28y%29)",
        r"- Bo Roe (2021). On \*things\*. *Venue*. [link](https://example.org/b)",
    ]


def test_no_papers_give_no_list() -> None:
    assert bibliography([]) == ""


def test_long_author_lists_end_in_et_al() -> None:
    crowd = Paper(
        paper_id=PaperId("c"), title="T", authors=tuple(f"A {letter}" for letter in "abcdefghijklm")
    )
    assert "A j et al. (n.d.)" in bibliography([crowd])


def test_keys_follow_the_order_shown_and_a_repeated_paper_keeps_its_first_key() -> None:
    shown = show([ROE, LEE, ROE])
    assert [(key, entry.paper_id) for key, entry in shown] == [("P1", "b"), ("P2", "a")]
    assert shown.key_of(LEE.paper_id) == "P2"
