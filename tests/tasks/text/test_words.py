import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text import words as toolkit

IDEA = """# Plan: sparse routing

## Problem

Large models are slow, e.g. at long inputs (see Fig. 3 of Doe et al. 2021). They cost 3.5 dollars per run! Routing may help.

**Steps**

- Train a sparse router. It learns from labels.
- Compare with dense baselines
1. Report accuracy on CIFAR-10.

Method:
We route tokens.
"""
ANY = st.text(max_size=400)


def test_sentences_survive_abbreviations_numbers_and_bullets() -> None:
    assert toolkit.sentences(IDEA) == [
        "Large models are slow, e.g. at long inputs (see Fig. 3 of Doe et al. 2021).",
        "They cost 3.5 dollars per run!",
        "Routing may help.",
        "Train a sparse router.",
        "It learns from labels.",
        "Compare with dense baselines",
        "Report accuracy on CIFAR-10.",
        "We route tokens.",
    ]


def test_sections_follow_all_kinds_of_headings() -> None:
    assert [heading for heading, _ in toolkit.sections_of_markdown("Intro.\n\n" + IDEA)] == [
        "",
        "Plan: sparse routing",
        "Problem",
        "Steps",
        "Method",
    ]
    assert toolkit.sections_of_markdown("Title\n=====\nBody") == [("Title", "Body")]
    assert toolkit.sections_of_markdown("```\n# a comment\n```") == [("", "# a comment")]


def test_content_words_meet_across_inflection_and_hyphens() -> None:
    assert toolkit.content_words("class-imbalanced networks") == toolkit.content_words(
        "class imbalanced network"
    )
    assert toolkit.content_words("optimisation") == toolkit.content_words("optimization")
    assert toolkit.content_words("the of and") == []


def test_key_phrases_prefer_long_repeated_terms() -> None:
    phrases = toolkit.key_phrases(
        "Sparse token routing helps. Sparse token routing is fast. A cat sat.", 2
    )
    assert phrases[0].startswith("sparse token routing")
    assert len(phrases) == 2


def test_overlap_is_one_for_the_same_and_zero_for_nothing_shared() -> None:
    assert toolkit.overlap_0_to_1("graph networks", "graph network") == 1.0
    assert toolkit.overlap_0_to_1("graph networks", "protein folding") == 0.0
    assert toolkit.overlap_0_to_1("", "") == 0.0


def test_ranking_puts_the_sentence_about_the_query_first() -> None:
    ranked = toolkit.rank_sentences(
        "router accuracy", ["Cats sleep.", "The router gains accuracy.", "The router is slow."], 2
    )
    assert [sentence for _, sentence in ranked] == [
        "The router gains accuracy.",
        "The router is slow.",
    ]
    assert ranked[0][0] > ranked[1][0] > 0


def test_shortening_tells_how_many_words_are_missing() -> None:
    assert toolkit.shorten_words("one  two three four", 2) == ("one  two", 2)
    assert toolkit.shorten_words("one two", 2) == ("one two", 0)
    assert toolkit.shorten_words("one two", 0) == ("", 2)


@pytest.mark.parametrize(
    ("sentence", "cue"),
    [
        ("Our method outperforms the baseline.", "positive"),
        ("It does not improve accuracy.", "negative"),
        ("Accuracy degrades on long inputs.", "negative"),
        ("The gain is limited.", "negative"),
        ("We use two datasets.", "neutral"),
        ("", "neutral"),
    ],
)
def test_outcome_cue_reads_the_wording(sentence: str, cue: str) -> None:
    assert toolkit.outcome_cue(sentence) == cue


@given(ANY, ANY, st.integers(-2, 9))
def test_no_text_makes_the_toolkit_raise_and_answers_repeat(
    text: str, other: str, limit: int
) -> None:
    def everything() -> tuple[Any, ...]:
        parts = toolkit.sentences(text)
        return (
            parts,
            toolkit.words(text),
            toolkit.content_words(text),
            toolkit.key_phrases(text, limit),
            toolkit.overlap_0_to_1(text, other),
            toolkit.rank_sentences(other, parts, limit),
            toolkit.shorten_words(text, limit),
            toolkit.has_numbers(text),
            toolkit.outcome_cue(text),
            toolkit.sections_of_markdown(text),
        )

    answer = everything()
    assert answer == everything()
    assert 0.0 <= answer[4] <= 1.0
    assert all(
        " ".join(text.split()).find(sentence) >= 0 or "\n" in text or "\r" in text
        for sentence in answer[0]
        if text.isascii()
    )


@given(ANY, st.integers(0, 50))
def test_shortened_words_add_up(text: str, limit: int) -> None:
    kept, left_out = toolkit.shorten_words(text, limit)
    assert len(kept.split()) + left_out == len(text.split())


@pytest.mark.parametrize(
    "hostile",
    [
        "." * 200_000,
        "# " + " " * 200_000 + "x",
        "a" * 300_000,
        "*" * 100_000,
        "not " * 50_000,
        "-" * 100_000 + "a",
    ],
)
@pytest.mark.parametrize(
    "function",
    [toolkit.sentences, toolkit.sections_of_markdown, toolkit.content_words, toolkit.outcome_cue],
)
def test_hostile_text_takes_no_quadratic_time(function: Callable[[str], Any], hostile: str) -> None:
    started = time.process_time()
    function(hostile)
    assert time.process_time() - started < 3
