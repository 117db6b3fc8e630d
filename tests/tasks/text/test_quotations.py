"""A passage counts as quoted when it stands in the source word for word, however it was printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.quotations import AROUND, LEAST_CHARACTERS, normal, stands_in

TEXT = (
    "We find that state-of-the-art models fail on “long” inputs,\nwhere mem-\nory grows"
    " quadratic-\nally with length."
)


@pytest.mark.parametrize(
    "passage",
    [
        'We find that state-of-the-art models fail on "long" inputs',
        "we find  that state‑of‑the‑art models\nfail on 'long' inputs".replace("'", '"'),
        "where memory grows quadratically with length.",
        "“inputs, where memory grows quadratically”",
        "where mem\u00adory grows quadratically with",
        "**We find** that `state-of-the-art` models fail…",
    ],
)
def test_print_does_not_matter(passage: str) -> None:
    assert stands_in(passage, TEXT)


@pytest.mark.parametrize(
    "passage",
    [
        "",
        "   ",
        "We find",
        "models succeed on long inputs",
        "We find that … grows quadratically with length.",
        "where memory grows linearly with length",
    ],
)
def test_other_words_missing_words_and_scraps_are_no_quotation(passage: str) -> None:
    assert not stands_in(passage, TEXT)


@given(st.text(max_size=300), st.integers(0, 300), st.integers(LEAST_CHARACTERS, 100))
def test_any_stretch_of_a_text_stands_in_it(text: str, start: int, length: int) -> None:
    whole = normal(text)
    passage = whole[start : start + length]
    if len(passage.strip(AROUND)) >= LEAST_CHARACTERS and normal(passage) == passage.strip():
        assert stands_in(passage, text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_it_never_raises_and_normalising_twice_changes_nothing(passage: str, text: str) -> None:
    stands_in(passage, text)
    assert normal(normal(text)) == normal(text)


def test_a_source_may_be_short_enough_for_a_shorter_quotation() -> None:
    assert not stands_in("n = 12 mice", "We use n = 12 mice.")
    assert stands_in("n = 12 mice", "We use n = 12 mice.", least_characters=3)
    assert not stands_in("", "We use n = 12 mice.", least_characters=3)
