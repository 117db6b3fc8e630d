"""A sentence counts only where it stands in its review, word for word."""

from tasks.curation.criticism import ReviewText
from tests.support.reviewed_papers import FIRST_REVIEW


def taken(review: str, quote: str) -> str | None:
    place = ReviewText(review).place_of(quote)
    return None if place is None else review[place.start : place.end]


def test_a_sentence_broken_over_lines_is_found_as_it_stands() -> None:
    quote = "The threshold of difficulty is not justified, and it is unclear why one threshold"
    found = taken(FIRST_REVIEW, f"{quote} should fit all layers.")
    assert found is not None
    assert "unclear\nwhy" in found
    assert found in FIRST_REVIEW


def test_one_changed_letter_or_word_is_not_found() -> None:
    review = "The method is not sound at all. It is new."
    assert taken(review, "The method is sound at all.") is None
    assert taken(review, "the method is not sound at all.") is None
    assert taken(review, "The method is not sound at al") is None


def test_a_part_of_a_sentence_is_widened_to_the_whole_which_could_say_the_opposite() -> None:
    review = "I like it. I do not think that the method is sound here. It is new."
    assert taken(review, "the method is sound here") == (
        "I do not think that the method is sound here."
    )


def test_a_label_is_no_part_of_its_sentence_and_heads_what_follows() -> None:
    review = "- Strengths: The idea is new to me.\n- Weaknesses:\nThe test is too small for it."
    text = ReviewText(review)
    first, second = (
        text.place_of("The idea is new to me."),
        text.place_of("The test is too small for it."),
    )
    assert first is not None
    assert second is not None
    assert review[first.start : first.end] == "The idea is new to me."
    assert (first.heading, second.heading) == ("Strengths", "Weaknesses")


def test_quotation_marks_around_a_quotation_make_no_difference() -> None:
    assert taken("The test is small.", "“The test is small.”") == "The test is small."


def test_what_is_too_short_to_prove_anything_is_not_found() -> None:
    assert taken("It is good. It is bad.", "It is") is None


def test_labels_are_found_as_reviewers_write_them() -> None:
    review = (
        "-Strengths:\n\nThe idea is interesting to me.\n\nWeaknesses\n====\n\nThe test is too"
        " small for it.\n\nMinor Issues \n====\n\nThe term is not defined anywhere.\n"
    )
    text = ReviewText(review)
    quotes = ("The idea is interesting to me.", "The test is too small for it.")
    for quote, heading in zip(
        (*quotes, "The term is not defined anywhere."),
        ("Strengths", "Weaknesses", "Minor issues"),
        strict=True,
    ):
        place = text.place_of(quote)
        assert place is not None
        assert place.heading == heading
