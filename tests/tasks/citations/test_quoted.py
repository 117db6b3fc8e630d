"""Quotations in replies stay as they are, whatever in them looks like a citation."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.citations.keys import show
from tasks.citations.settle import citing_sentences, settle
from tasks.citations.spelled import spelled_out
from tasks.text.quotations import passages, quotable

SHOWN = show(
    [
        Paper(paper_id=PaperId(f"id{n}"), title=f"Title {n}", authors=("Ann Lee",), year=2000 + n)
        for n in (1, 2)
    ]
)
ONE, TWO = "(Lee, 2001)", "(Lee, 2002)"
PLAYER = "the game in which P1 does not account for P2's misperception"
QUOTATION_MARKS = ('""', "“”", "„“", "„”", "«»", "‘’", "''")

QUOTED_WORDS = st.lists(
    st.sampled_from(
        (
            *("P1", "P2-P3", "(P1)", "P１ uses", "does", "shows", "paper P2", "see", "and", "–"),
            *("(Smith, 2020)", "10.1234/abc", "arXiv:2101.00001", "model's", "f(x)", "holds."),
        )
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
AROUND = st.lists(
    st.sampled_from(
        ["[P1]", "P2 shows", '"', "“", "”", "«", "‘", "(", "[", ",", "word", '5"', "\n"]
    ),
    max_size=6,
).map(" ".join)


@given(words=QUOTED_WORDS, marks=st.sampled_from(QUOTATION_MARKS), before=AROUND, after=AROUND)
@example(words=PLAYER, marks="“”", before="It is", after="[P1].")
def test_a_quotation_is_never_altered_whatever_stands_around_it(
    words: str, marks: str, before: str, after: str
) -> None:
    quotation = f"{marks[0]}about {words} so{marks[1]}"
    text = f"{before} {quotation} {after}"
    settled = settle(text, SHOWN)
    assert quotation in settled.markdown
    assert quotation in settle(settled.markdown, SHOWN).markdown
    assert quotation in "".join(
        sentence.text for line in citing_sentences(text, SHOWN) for sentence in line
    )
    assert quotation in spelled_out(text, SHOWN, PaperId("id1"))[0]


@pytest.mark.parametrize(
    ("reply", "markdown"),
    [
        (f"“{PLAYER}” [P1].", f"“{PLAYER}” {ONE}."),
        (f"“{5 * PLAYER}” [P1].", f"“{5 * PLAYER}” {ONE}."),  # a paragraph
        # A key in square brackets is the writer's: it stands behind the quotation.
        ("“It works [P1].” So [P2] says.", f"“It works.” {ONE} So {TWO} says."),
        ("“It works [P1], [see P2].”", f"“It works.” {ONE} {TWO}"),
        ("“It works [P9].”", "“It works.”"),
        ("> It works, P1 shows [P2].", f"> It works, P1 shows. {TWO}"),
        # Without its partner on the line, a quotation mark changes nothing.
        ("“It works [P1]. P2 shows more.\nP2 shows ”it.", f"“It works {ONE}. {TWO} shows more.\n{TWO} shows ”it."),
        ("A 5\" wheel [P1] and a 6\" disc, P2 shows.", f"A 5\" wheel {ONE} and a 6\" disc, {TWO} shows."),
        ("The models' P1 shows and the users' P2 shows.", f"The models' {ONE} shows and the users' {TWO} shows."),
        # Links and addresses go, because a reader could follow them.
        ("“See [it](https://made.up/x), P1 shows https://made.up/y too.”", "“See it, P1 shows too.”"),
    ],
)  # fmt: skip
def test_citations_stand_outside_of_quotations(reply: str, markdown: str) -> None:
    assert settle(reply, SHOWN).markdown == markdown


def test_a_citation_within_quotation_marks_counts_for_its_sentence() -> None:
    settled = settle("The authors say that “it works very well [P1].”", SHOWN)
    assert settled.cited == (("id1", 1),)
    assert settled.uncited_sentence_count == 0


@pytest.mark.parametrize(
    ("source", "quotation"),
    [
        (
            "noise (p < 0.001, n > 30) for the [MASK]\n token of x_i, as [3] shows",
            "noise (p < 0.001, n > 30) for the [MASK] token of x_i, as [3] shows",
        ),
        ("a*b is `fast`, | so | \\alpha and <b>", "a*b is `fast`, | so | \\alpha and <b>"),
        ("the “inner” words at https://e.example/a here", "the ‘inner’ words at here"),
        ("as [P2] and [see K 1] show", "as (P2) and (see K 1) show"),
    ],
)
def test_a_quoted_sentence_of_a_source_keeps_its_signs_and_cites_nothing_itself(
    source: str, quotation: str
) -> None:
    assert quotable(source) == quotation
    settled = settle(passages([(source, "P1")]), SHOWN)
    assert settled.markdown == f"“{quotation}” {ONE}"
    assert settled.removed_citation_count == 0
    assert spelled_out(f"“{quotation}”", SHOWN, PaperId("id1")) == (f"“{quotation}”", 0)
