"""The idea's own publication is known by its title or its wording, and no other paper is."""

import pytest

from tasks.text.titles import Work, is_own_work, same_authors, same_text, same_title

IDEA = "Sparse attention for long documents"
TEXT = (
    "We let a small controller decide at every decoding step which segment of a long document the"
    " model attends to. The controller is trained on the entropy of the next token alone, so that"
    " no labels are needed. We compare it with dense attention at equal compute on nine"
    " collections."
)


@pytest.mark.parametrize(
    ("title", "same"),
    [
        ("Sparse Attention for Long Documents", True),
        ("[2402.01234] Sparse attention for long documents - OpenReview", True),
        (
            (
                "Sparse attention for long documents: what a survey of two hundred papers tells"
                " about it"
            ),
            False,
        ),
        ("Dense attention for long documents", False),
        ("Attention for long documents", False),
        ("", False),
    ],
)
def test_the_ideas_own_publication_is_known_by_its_title(title: str, same: bool) -> None:
    assert same_title(IDEA, title) is same
    assert same_title(f"Research Plan: {IDEA}", title) is same
    assert not same_title("Attention", "Attention")


def test_an_abstract_that_repeats_the_idea_is_its_own_publication_under_any_title() -> None:
    plan = Work("Plan", TEXT)
    assert is_own_work(plan, Work("Controllers that read", TEXT.replace("nine", "12")))
    other = TEXT.replace("controller", "retriever").replace("document", "video").split()
    assert not same_text(TEXT, " ".join(reversed(other)))
    assert not is_own_work(plan, Work("Controllers that read", None))


AUTHORS = ("Ada Lovelace", "Babbage, Charles", "Laurens van der Maaten")


@pytest.mark.parametrize(
    ("authors", "same"),
    [
        (("A. Lovelace", "C. Babbage", "Somebody Else"), True),
        (("Lovelace, Ada", "L. van der Maaten"), True),
        (("Ádá LOVELACE", "charles babbage"), True),
        (("Ada Lovelace", "Grace Hopper"), False),
        (("Bob Lovelace", "Dora Babbage"), False),
        (("Lovelace", "Babbage"), False),
        ((), False),
    ],
)
def test_two_authors_in_common_are_the_same_authors(authors: tuple[str, ...], same: bool) -> None:
    assert same_authors(AUTHORS, authors) is same


def test_an_only_author_is_enough_and_none_is_not() -> None:
    assert same_authors(["Ada Lovelace"], ["Ada Lovelace", "Charles Babbage"])
    assert not same_authors([], [])
    assert not same_authors(["Lovelace"], ["Lovelace"])


def test_a_name_whose_surname_is_a_mark_is_nobodys() -> None:
    assert not same_authors(["Lihua Xie ()"], ["Lihua Xie ()"])


def test_the_same_authors_and_a_near_title_or_text_are_the_ideas_own_publication() -> None:
    idea = Work("Sparse learned attention for very long documents", TEXT, AUTHORS)
    near = "Learned sparse attention scales to long documents"
    assert not is_own_work(idea, Work(near, None, ("Grace Hopper", "Alan Turing")))
    assert is_own_work(idea, Work(near, None, AUTHORS))
    rewritten = f"{TEXT.partition('. ')[0]}. " + " ".join(f"word{place}" for place in range(40))
    assert not is_own_work(idea, Work("Controllers", rewritten))
    assert is_own_work(idea, Work("Controllers", rewritten, AUTHORS))


def test_other_work_of_the_same_authors_is_not_the_ideas_own() -> None:
    idea = Work(IDEA, TEXT, AUTHORS)
    for title in ("Sparse attention for long videos", "Compilers for analytical engines"):
        assert not is_own_work(idea, Work(title, "Another abstract altogether.", AUTHORS))


def test_a_sentence_in_common_is_no_identity() -> None:
    first = TEXT.partition(". ")[0]
    other = f"{first}. " + " ".join(f"word{number}" for number in range(60))
    assert not same_text(TEXT, other)
    assert not same_text(TEXT, first)
