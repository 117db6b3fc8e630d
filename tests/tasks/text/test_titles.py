"""The idea's own publication is known by its title or its wording, and no other paper is."""

import pytest

from tasks.text.titles import is_own_work, same_text, same_title

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
    assert is_own_work("Plan", TEXT, "Controllers that read", TEXT.replace("nine", "12"))
    other = TEXT.replace("controller", "retriever").replace("document", "video").split()
    assert not same_text(TEXT, " ".join(reversed(other)))
    assert not is_own_work("Plan", TEXT, "Controllers that read", None)


def test_a_sentence_in_common_is_no_identity() -> None:
    first = TEXT.partition(". ")[0]
    other = f"{first}. " + " ".join(f"word{number}" for number in range(60))
    assert not same_text(TEXT, other)
    assert not same_text(TEXT, first)
