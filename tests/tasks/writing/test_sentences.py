"""Sentences of a model: their words without citations, and which works they cite."""

import pytest

from tasks.writing.sentences import cited_in, without_citations


@pytest.mark.parametrize(
    ("sentence", "words", "cited"),
    [
        ("Bats sleep [@kay2020].", "Bats sleep", ("kay2020",)),
        ("Bats sleep [@kay2020], and moths fly [@lee2019].", "Bats sleep, and moths fly",
         ("kay2020", "lee2019")),
        ("Bats sleep [@kay2020; @lee2019]; *moths* fly.", "Bats sleep; moths fly",
         ("kay2020", "lee2019")),
        ("Bats sleep.", "Bats sleep", ()),
    ],
)  # fmt: skip
def test_words_stand_without_citations_and_without_gaps(
    sentence: str, words: str, cited: tuple[str, ...]
) -> None:
    assert without_citations(sentence) == words
    assert cited_in(sentence) == cited
