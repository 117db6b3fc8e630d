from datetime import date
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.citations.keys import KEY, Shown, show
from tasks.citations.settle import citation_rows, settle


def paper(number: int, **fields: object) -> Paper:
    given_fields = {
        "paper_id": PaperId(f"id{number}"),
        "title": f"Title {number}",
        "authors": ("Ann Lee", "Bo Roe", "Cy Doe"),
        "url": f"https://example.org/{number}",
        "publication_date": date(2020, number, 1),
    }
    return Paper(**(given_fields | fields))  # type: ignore[arg-type]


SHOWN = show(
    [paper(1, authors=("Ann Lee",)), paper(2, authors=("Ann Lee", "Bo van der Berg")), paper(3)]
)
ONE = "[(Lee, 2020-01)](https://example.org/1)"
TWO = "[(Lee and van der Berg, 2020-02)](https://example.org/2)"
THREE = "[(Lee et al., 2020-03)](https://example.org/3)"


@pytest.mark.parametrize(
    ("reply", "markdown"),
    [
        ("It works [P3].", f"It works {THREE}."),
        ("It works [P1, P3].", f"It works {ONE} {THREE}."),
        ("It works [P1][P3].", f"It works {ONE} {THREE}."),
        ("It works (P3).", f"It works {THREE}."),
        ("It works [P1-P3].", f"It works {ONE} {TWO} {THREE}."),
        ("It works [P1–3].", f"It works {ONE} {TWO} {THREE}."),
        ("It works [see P1; P2 and P3].", f"It works {ONE} {TWO} {THREE}."),
        ("It works (see P2, e.g., P3).", f"It works {TWO} {THREE}."),
        ("It works 【P3】.", f"It works {THREE}."),
        ("It works \\[P3\\].", f"It works {THREE}."),
        ("It works [p3].", f"It works {THREE}."),
        ("It works [P1, Table 2].", f"It works [{ONE}, Table 2]."),
        ("P3 shows it works.", f"{THREE} shows it works."),
        ("See P1 and P3.", f"See {ONE} {THREE}."),
        ("**[P3]**: it works", f"**{THREE}**: it works"),
    ],
)
def test_keys_become_references_however_they_are_written(reply: str, markdown: str) -> None:
    settled = settle(reply, SHOWN)
    assert settled.markdown == markdown
    assert settled.removed_citation_count == 0


@pytest.mark.parametrize(
    "text",
    [
        "The P3 wave rises.",
        "P2-type cathodes age.",
        "The gene (p53) mutates.",
        "f(x, y) over [a, b] (see below)",
        "(P 0.05)",
    ],
)
def test_a_word_that_looks_like_a_key_stays_a_word(text: str) -> None:
    settled = settle(text, SHOWN)
    assert (settled.markdown, settled.cited, settled.removed_citation_count) == (text, (), 0)


@pytest.mark.parametrize(
    ("reply", "markdown", "removed"),
    [
        ("It works [P9].", "It works.", 1),
        ("It works [P9], too.", "It works, too.", 1),
        ("It works [P3, P9].", f"It works {THREE}.", 1),
        ("It [P9] works (P8; P9).", "It works.", 3),
        ("[P9] It works.", "It works.", 1),
        ("It works [P9, Table 3].", "It works [Table 3].", 1),
        ("It works [P0].", "It works.", 1),
        ("It works [P2-P5].", f"It works {TWO} {THREE}.", 2),
        ("It works [P1-P999999].", f"It works {ONE}.", 1),
    ],
)
def test_keys_that_were_never_shown_are_removed_and_counted(
    reply: str, markdown: str, removed: int
) -> None:
    settled = settle(reply, SHOWN)
    assert (settled.markdown, settled.removed_citation_count) == (markdown, removed)


@pytest.mark.parametrize(
    ("reply", "markdown", "removed"),
    [
        ("As [Smith 2020](http://made.up/x) says.", "As Smith 2020 says.", 1),
        ("As said (https://made.up/x).", "As said.", 1),
        ("As said, https://made.up/x.", "As said.", 1),
        ("As said <https://made.up/x>.", "As said.", 1),
        ("As said (Smith et al., 2021; Roe, 2019).", "As said.", 1),
        ("As said, doi:10.1234/abc.def.", "As said.", 1),
        ("As said (arXiv:2301.00001v2).", "As said.", 1),
        ("As [P3](http://made.up/x) says.", f"As {THREE} says.", 1),
        ("![x](javascript:alert) Done.", "x Done.", 1),
        ("[1]: https://made.up/x", "", 1),
    ],
)
def test_references_the_reply_brought_along_lose_their_link_and_are_counted(
    reply: str, markdown: str, removed: int
) -> None:
    settled = settle(reply, SHOWN)
    assert (settled.markdown, settled.removed_citation_count) == (markdown, removed)


def test_cited_papers_are_counted_in_order_of_first_citation() -> None:
    settled = settle("A [P3]. B [P1, P3].", SHOWN)
    assert settled.cited == (("id3", 2), ("id1", 1))
    rows = citation_rows(settled, SHOWN, module="soundness", subject="m1", field="support")
    told = [(row.paper_id, row.citation_key, row.count) for row in rows]
    assert told == [("id3", "P3", 2), ("id1", "P1", 1)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("This method is known to work well.", 1),
        ("This method is known to work well [P3].", 0),
        ("This method is known to work well. [P3] Another thing is also known here.", 1),
        ("This method is known to work well. [P3] shows another thing is known.", 1),
        (
            (
                "Yes.\n# This is a long heading without any source\nThe following weaknesses were"
                " found here:"
            ),
            0,
        ),
        (
            (
                "Lee et al. tried this before with success [P1]. Would that hold under a"
                " distribution shift?"
            ),
            0,
        ),
        ("- The first point has no source at all.\n- The second point has a source here [P2].", 1),
    ],
)
def test_statements_without_a_source_are_counted(text: str, count: int) -> None:
    assert settle(text, SHOWN).uncited_sentence_count == count


def test_digits_between_citations_are_text() -> None:
    assert settle("[P1]1[P1]", SHOWN).markdown == f"{ONE} 1 {ONE}"


def test_what_papers_say_about_themselves_cannot_act_as_markdown() -> None:
    hostile = show(
        [
            paper(1, authors=("](javascript:x) <b>Eve</b>",), url="javascript:alert(1)"),
            paper(2, url="https://e.org/a)b [c](d)"),
        ]
    )
    settled = settle("One [P1]. Two [P2].", hostile)
    assert "<b>" not in settled.markdown.replace("\\<", "")
    assert "](javascript" not in settled.markdown.replace("\\]", "")
    assert "](https://e.org/a%29b%20%5Bc%5D%28d%29)" in settled.markdown


def test_a_paper_without_date_author_or_address_is_still_named() -> None:
    bare = show(
        [
            paper(1, authors=(), url="", publication_date=None),
            paper(2, year=2019, publication_date=None, url="ftp://x"),
        ]
    )
    assert settle("[P1] [P2]", bare).markdown == '("Title 1", n.d.) (Lee et al., 2019)'


def test_settled_text_settles_to_itself() -> None:
    shown = show(
        [
            paper(1),
            paper(2, url="", publication_date=None, year=2019),
            paper(3, authors=("O'Neil [x]",)),
        ]
    )
    first = settle("A [P1], B (P2), C [P3, Table 1] and [P9].", shown)
    second = settle(first.markdown, shown)
    assert (second.markdown, second.cited) == (first.markdown, first.cited)
    assert second.removed_citation_count == 0


def test_hostile_replies_take_linear_time() -> None:
    started = process_time()
    pieces = ("[P1", "(P1, ", "[x](", "P1 and ", "((((", "[[[[", "http://a(", "Aa and ", "10.1234/")
    for piece in (*pieces, "P1-P2,", "(Aa 2020; ", "[P1]:", "a. "):
        settle(piece * (60_000 // len(piece)), SHOWN)
    assert process_time() - started < 20


PIECES = st.sampled_from(
    [
        *("[P1]", "[P9]", "[P1-P4]", "[", "]", "(", ")", "](", "http://a.b/c", ".", "text", "\\"),
        *("P", "7", "![", "<", "1", '"', "“", "”", "(P2, P77)", "P3 shows", " ", "\n"),
        *("\x00", "\x01", "\x02", "\x03"),
    ]
)
REPLIES = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))
PAPERS = st.lists(
    st.builds(
        Paper,
        paper_id=st.text(min_size=1, max_size=5).map(PaperId),
        title=st.text(max_size=30),
        authors=st.lists(st.text(max_size=20), max_size=3).map(tuple),
        url=st.one_of(
            st.text(max_size=30),
            st.text(max_size=20).map("http://".__add__),
            st.text(max_size=20).map("https://e.org/".__add__),
        ),
        year=st.none() | st.integers(1900, 2030),
    ),
    max_size=5,
)


@given(reply=REPLIES, papers=PAPERS)
def test_whatever_the_reply_only_shown_papers_are_cited(reply: str, papers: list[Paper]) -> None:
    shown = show(papers)
    settled = settle(reply, shown)
    assert {paper_id for paper_id, _ in settled.cited} <= {entry.paper_id for entry in shown.papers}
    assert all(count >= 1 for _, count in settled.cited)


@given(reply=REPLIES)
def test_no_unknown_bracketed_key_survives(reply: str) -> None:
    settled = settle(reply, Shown(papers=()))
    assert settled.cited == ()
    assert not any(KEY.fullmatch(inside) for inside in _bracketed(settled.markdown))


def _bracketed(text: str) -> list[str]:
    return [piece.split("]", 1)[0] for piece in text.split("[")[1:] if "]" in piece]


@given(text=st.text(alphabet="abc xyz.,;:\n", max_size=200))
def test_text_without_keys_is_left_alone(text: str) -> None:
    once = settle(text, SHOWN)
    assert once.markdown == text.strip()
    assert settle(once.markdown, SHOWN) == once
