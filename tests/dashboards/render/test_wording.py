"""Figures, names and sentences for people; what is missing is never a zero."""

import pytest

from dashboards.render import figures, wording
from dashboards.render.wording import ideas_not_covered, whole_sentences
from schemas.choices import BUNDLED_SAMPLE
from schemas.reasons import Reason
from warehouse.row_models import LeftOutGroup, RankedIdea

STORED = "snapshot:0123456789abcdef"


def ranked(**fields: object) -> RankedIdea:
    known = {"rank": None, "score": None, "basis": "scores"} | fields
    return RankedIdea.model_construct(**known)


@pytest.mark.parametrize(
    ("idea", "told"),
    [
        (
            ranked(missing="contribution", best_rank=2, worst_rank=7),
            "not ranked: contribution unscored, place between 2 and 7",
        ),
        (
            ranked(missing="worth_asking, new, feasible", best_rank=4, worst_rank=4),
            "not ranked: worth asking, new and feasible unscored, place 4",
        ),
        (ranked(missing="overall"), "not ranked: overall unscored"),
        (ranked(rank=3, score=5.0), ""),
        (ranked(missing="novelty", basis="matches"), ""),
    ],
)
def test_an_idea_without_a_rank_says_what_is_unscored_and_which_places_that_leaves(
    idea: RankedIdea, told: str
) -> None:
    assert wording.why_unranked(idea) == told


@pytest.mark.parametrize(
    ("stored", "told", "shown"),
    [
        (STORED, BUNDLED_SAMPLE, BUNDLED_SAMPLE),
        (STORED, "papers.parquet", "snapshot papers.parquet"),
        (STORED, "", "snapshot with fingerprint 0123456789abcdef"),
        ("live", "", "live Semantic Scholar"),
    ],
)
def test_literature_is_shown_by_the_name_its_reader_knows(
    stored: str, told: str, shown: str
) -> None:
    assert wording.literature(stored, told) == shown


def test_the_bundled_sample_is_said_to_be_a_demonstration_and_no_other_snapshot_is() -> None:
    assert "a demonstration" in wording.banners("m", STORED, BUNDLED_SAMPLE)[-1]
    assert "a demonstration" not in " ".join(wording.banners("m", STORED, "papers.parquet"))


@pytest.mark.parametrize(
    ("text", "most_words", "shown"),
    [
        ("One two. Three four.", 4, "One two. Three four."),
        ("One two. Three four.", 3, "One two."),
        ("See Smith et al. Then more words follow.", 6, "See Smith et al. Then more…"),
        ("By A. Smith and others. More words follow here.", 6, "By A. Smith and others."),
        ("A 0.5 share is enough. More words follow.", 6, "A 0.5 share is enough."),
        ("no end at all here", 3, "no end at…"),
        ("Say [Lee et al., 2020](https://x.example) twice again", 4, "Say…"),
        ("Open [bracket without an end", 3, "Open…"),
        ("", 3, ""),
    ],
)
def test_a_text_is_cut_between_sentences_and_never_inside_a_word_or_link(
    text: str, most_words: int, shown: str
) -> None:
    assert whole_sentences(text, most_words) == shown


def test_a_text_of_brackets_that_never_close_is_cut_all_the_same() -> None:
    assert whole_sentences("[. " * 100_000, 5) == "[. [. [. [. [.…"


def test_a_run_counts_its_ideas_outside_the_literature_and_no_others() -> None:
    groups = [
        LeftOutGroup(reason=reason, idea_count=count, example="")
        for reason, count in ((Reason.AFTER_CUTOFF, 3), (Reason.FIELD_NOT_COVERED, 2))
    ]
    assert ideas_not_covered(groups, 9).startswith(
        "The literature does not cover the field of 2 of 9 ideas"
    )
    assert ideas_not_covered(groups[:1], 9) == ""


def test_what_is_missing_says_so():
    assert figures.score(None) == "unscored"
    assert figures.mean(None) == "unscored"
    assert figures.with_sign(None) == "unscored"
    assert figures.usd(None) == "price unknown"
    assert figures.duration(None) == "unknown"
    assert figures.count(None) == "unknown"
    assert figures.day(None) == "unknown"


def test_scores_strengths_and_moves_have_a_true_minus_and_a_dash_for_what_is_missing():
    assert [figures.decimals(each) for each in (4.8, -1.434, -0.001, None)] == [
        "4.80", "−1.43", "0.00", "–",
    ]  # fmt: skip
    assert figures.between(-1.434, 1.61) == "−1.43 to 1.61"
    assert figures.between(None, 1.61) == "–"
    signed = [(0.001, "0.00"), (-0.004, "0.00"), (0.2, "+0.20"), (-1, "\u22121.00")]
    assert [figures.with_sign(value) for value, _ in signed] == [shown for _, shown in signed]
    measured = [figures.measure(value) for value in (43357.2, 0.65432, -12.0, None)]
    assert measured == ["43,357", "0.6543", "-12", "undefined"]
    assert [figures.rank_change(each) for each in (2, -1, 0, None)] == ["+2", "−1", "+0", "–"]


def test_a_sum_with_unknown_prices_says_what_is_missing():
    assert figures.usd(1.5, 3) == "1.50 USD, and 3 calls of unknown price"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00 USD"),
        (0.00001, "under 0.0001 USD"),
        (0.0123, "0.0123 USD"),
        (1234.5, "1,234.50 USD"),
    ],
)
def test_dollars(value, shown):
    assert figures.usd(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0.00 s"),
        (0.996, "1.0 s"),
        (9.96, "10 s"),
        (59.7, "1 min"),
        (200, "3 min 20 s"),
        (3599.6, "1 h"),
        (7523, "2 h 5 min"),
    ],
)
def test_durations(seconds, shown):
    assert figures.duration(seconds) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (0, 5, "0 %"),
        (1, 1000, "under 1 %"),
        (999, 1000, "over 99 %"),
        (5, 5, "100 %"),
        (0, 0, "none"),
    ],
)
def test_a_share_never_rounds_to_none_or_all(part, whole, shown):
    assert figures.share(part, whole) == shown
