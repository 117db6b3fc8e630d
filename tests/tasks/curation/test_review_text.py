"""A sentence counts only where it stands in its review, word for word."""

import pytest

from tasks.curation.criticism import ReviewText
from tests.support.reviewed_papers import FIRST_REVIEW


def taken(review: str, quote: str) -> str | None:
    place = ReviewText(review).place_of(quote)
    return None if place is None else review[place.start : place.end]


LONG = (
    "The threshold of difficulty is not justified, and it is unclear why one threshold should fit"
    " all layers."
)
NEGATED = "I like it. I do not think that the method is sound here. It is new."


def test_sentence_broken_over_lines_is_found_as_it_is() -> None:
    found = taken(FIRST_REVIEW, LONG)
    assert found is not None
    assert "unclear\nwhy" in found
    assert found in FIRST_REVIEW


@pytest.mark.parametrize(
    ("review", "quote", "found"),
    [
        ("The method is not sound at all. It is new.", "The method is sound at all.", None),
        ("The method is not sound at all. It is new.", "the method is not sound at all.", None),
        ("The method is not sound at all. It is new.", "The method is not sound at al", None),
        (NEGATED, "the method is sound here", "I do not think that the method is sound here."),
        ("The test is small.", "“The test is small.”", "The test is small."),
        ("It is good. It is bad.", "It is", None),
    ],
    ids=["word", "case", "cut word", "widened to the sentence", "quotation marks", "too short"],
)
def test_quotation_is_found_word_for_word(review: str, quote: str, found: str | None) -> None:
    assert taken(review, quote) == found


@pytest.mark.parametrize(
    "review",
    [
        "- Strengths: {}\n- Weaknesses:\n{}\nMinor issues: {}",
        "-Strengths:\n\n{}\n\nWeaknesses\n====\n\n{}\n\nMinor Issues \n====\n\n{}\n",
    ],
)
def test_labels_head_what_follows_and_are_no_part_of_a_sentence(review: str) -> None:
    quotes = (
        "The idea is interesting to me.",
        "The test is too small for it.",
        "The term is not defined anywhere.",
    )
    text = review.format(*quotes)
    places = [ReviewText(text).place_of(quote) for quote in quotes]
    assert [place and text[place.start : place.end] for place in places] == list(quotes)
    headings = [place and place.heading for place in places]
    assert headings == ["Strengths", "Weaknesses", "Minor issues"]
