"""Literature by the name its reader knows."""

import pytest

from dashboards.render import wording
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
