"""Replies about several papers: one broken entry does not take the others down, and nothing is
guessed.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.contribution.steps.compare_paper import ComparisonReply
from tasks.contribution.steps.contribution_review import ReviewReply
from tasks.contribution.steps.extract_dimensions import DimensionsReply
from tasks.contribution.steps.relevance import RelevanceReply
from tasks.judging.relevance import RelevanceEntry
from tasks.judging.reply_fields import by_key

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["key", "score", "rationale", "papers", "x"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


def test_an_entry_outside_its_bounds_is_left_out_and_the_others_stay() -> None:
    answer = RelevanceReply.model_validate(
        {
            "papers": [
                {"key": "P1", "rationale": "", "score": 7},
                {"key": "P2", "rationale": "", "score": "4"},
                "nonsense",
            ]
        }
    )
    assert [(entry.key, entry.score) for entry in answer.papers] == [("P2", 4)]


def test_a_broken_dimension_leaves_the_papers_other_dimensions() -> None:
    along = [
        {"dimension": "d1", "comparison": "c", "score": 2},
        {"dimension": "d2", "comparison": "c", "score": -1},
    ]
    answer = ComparisonReply.model_validate(
        {"papers": [{"key": "P1", "overall_comparison": "o", "dimensions": along}]}
    )
    assert [one.dimension for one in answer.papers[0].dimensions] == ["d2"]


@pytest.mark.parametrize("papers", [[], [{"key": "P1", "rationale": "", "score": 9}], "P1", None])
def test_a_reply_without_a_sound_entry_is_unparsable(papers: object) -> None:
    with pytest.raises(ValidationError):
        RelevanceReply.model_validate({"papers": papers})


@given(JSON)
def test_whatever_a_model_sends_is_an_answer_within_bounds_or_a_validation_error(
    reply: object,
) -> None:
    try:
        answer = RelevanceReply.model_validate({"papers": reply})
    except ValidationError:
        return
    assert answer.papers
    assert all(0 <= entry.score <= 5 and entry.key for entry in answer.papers)


def test_a_review_without_a_word_is_unparsable() -> None:
    with pytest.raises(ValidationError, match="empty"):
        ReviewReply(strengths=" ", weaknesses="", suggestions=())


def test_keys_are_found_in_brackets_and_any_case_and_unknown_ones_ignored() -> None:
    entries = [
        RelevanceEntry(key=key, rationale="", score=3) for key in ("[P1]", "p2", " P3 ", "P9")
    ]
    assert set(by_key(entries, ["P1", "P2", "P3"])) == {"P1", "P2", "P3"}


def test_a_paper_answered_twice_with_different_scores_has_no_answer() -> None:
    entries = [RelevanceEntry(key="P1", rationale="", score=score) for score in (3, 4)]
    assert by_key(entries, ["P1"]) == {}
    assert set(by_key([entries[0], entries[0]], ["P1"])) == {"P1"}


def test_an_idea_without_a_contribution_is_an_answer_but_a_list_of_broken_dimensions_is_not() -> (
    None
):
    assert DimensionsReply.model_validate({"dimensions": []}).dimensions == []
    with pytest.raises(ValidationError):
        DimensionsReply.model_validate(
            {
                "dimensions": [
                    {"name": " ", "statements": ["A claim."]},
                    {"name": "Tool", "statements": [" "]},
                ]
            }
        )


def test_a_dimension_without_a_name_or_words_is_left_out() -> None:
    reply = [
        {"name": " ", "statements": ["A claim."]},
        {"name": " Tool ", "statements": [" ", "A claim. "]},
    ]
    (dimension,) = DimensionsReply.model_validate({"dimensions": reply}).dimensions
    assert (dimension.name, dimension.statements) == ("Tool", ["A claim."])
