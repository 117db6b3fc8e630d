from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.literature.knowledge import KnowledgeItem, SourceKind
from tasks.sources.fields import batches, clean_doi, relative_day
from tasks.sources.http_source import plain_words, shortened

TODAY = date(2026, 11, 21)


@given(st.text(max_size=300), st.integers(1, 80), st.one_of(st.none(), st.integers(1, 20)))
def test_a_shortened_query_keeps_to_its_limits_and_tells_every_cut(
    text: str, characters: int, words: int | None
) -> None:
    wording = shortened(text, characters, words)
    whole = " ".join(shortened(text, 10_000).text.split())
    assert len(wording.text) <= characters
    assert words is None or len(wording.text.split()) <= words
    assert whole.startswith(wording.text)
    assert (wording.shortening is None) == (wording.text == whole)


def test_the_cut_falls_between_words() -> None:
    assert shortened("alpha beta gamma", 12).text == "alpha beta"
    assert shortened("alpha beta gamma", 10).text == "alpha beta"
    assert shortened("alpha beta gamma", 100, 1).text == "alpha"
    assert shortened("antidisestablishment", 4).text == "anti"


@given(st.text(max_size=200))
def test_plain_words_hold_no_operator(text: str) -> None:
    words = plain_words(text)
    assert not set(words) & set('"():*?~^|!\\<>{}[],;')
    assert not any(word in {"AND", "OR", "NOT"} or word.startswith("-") for word in words.split())
    assert plain_words(words) == words


def test_names_of_the_trade_survive() -> None:
    words = "state-of-the-art C++ and C# GPT-4.5"
    assert plain_words('state-of-the-art C++ and "C#", GPT-4.5!') == words


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-02", date(2024, 2, 29)),
        ("Jan 1, 2024", date(2024, 12, 31)),
        ("Tue, 05 Mar 2024 10:00:00 GMT", date(2024, 3, 5)),
        ("4 hours ago", TODAY),
        ("2 days ago", TODAY - timedelta(days=1)),
        ("a week ago", TODAY),
        ("9999 years ago", None),
        ("recently", None),
        ("", None),
    ],
)
def test_dates_mean_their_last_possible_day(text: str, day: date | None) -> None:
    assert relative_day(text, TODAY) == day


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_dates(text: str) -> None:
    found = relative_day(text, TODAY)
    assert found is None or isinstance(found, date)


def test_dois_are_bare_and_lower_case() -> None:
    for text in ("https://doi.org/10.1000/ABC", " doi: 10.1000/abc "):
        assert clean_doi(text) == "10.1000/abc"
    for text in ("10.1000/a b", "10.1000/a,b", "10.1000/a|b", ""):
        assert clean_doi(text) is None
    assert clean_doi("10.1234/ab\u212a") != clean_doi("10.1234/abk"), "alike in ASCII only"


@given(st.lists(st.integers(1, 200), max_size=120), st.integers(1, 50))
def test_batches_lose_no_doi_and_fit_an_address(lengths: list[int], largest: int) -> None:
    dois = [f"10.1234/{number}{'x' * length}" for number, length in enumerate(lengths)]
    packed = batches(dois, largest)
    assert [doi for batch in packed for doi in batch] == dois
    assert all(len(batch) <= largest and len("|".join(batch)) <= 2500 for batch in packed)


def test_an_undated_item_is_admissible_only_without_dates() -> None:
    item = KnowledgeItem(kind=SourceKind.WEB, source="s", title="t", url="https://a.example/")
    assert item.admissible(None, None)
    assert not item.admissible(None, TODAY)
    assert not item.admissible(TODAY, None)


@pytest.mark.parametrize(
    "given",
    ["10.1234/../../v1/x", "10.1234/./x", "10.1234/a/..", "10.1234/a\\..\\b", "10.1234/a\x00b"],
)
def test_a_doi_that_would_leave_its_place_in_a_path_is_none(given: str) -> None:
    assert clean_doi(given) is None
