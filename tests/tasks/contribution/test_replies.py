"""Replies about several papers: one broken entry costs no other, and nothing is guessed."""

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

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False)
NAMES = st.sampled_from(["key", "score", "rationale", "papers", "x"])
JSON = st.recursive(
    SCALARS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def test_a_broken_entry_is_left_out_and_the_others_stay() -> None:
    papers = [{"key": "P1", "score": 7}, {"key": "P2", "score": "4"}, "nonsense"]
    answer = RelevanceReply.model_validate({"papers": papers})
    assert [(entry.key, entry.score) for entry in answer.papers] == [("P2", 4)]
    along = [
        {"dimension": f"d{n}", "comparison": "c", "score": score} for n, score in ((1, 2), (2, -1))
    ]
    paper = {"key": "P1", "overall_comparison": "o", "dimensions": along}
    (entry,) = ComparisonReply.model_validate({"papers": [paper]}).papers
    assert [one.dimension for one in entry.dimensions] == ["d2"]
    named = [
        {"name": " ", "statements": ["A claim."]},
        {"name": " Tool ", "statements": [" ", "A claim. "]},
    ]
    (dimension,) = DimensionsReply.model_validate({"dimensions": named}).dimensions
    assert (dimension.name, dimension.statements) == ("Tool", ["A claim."])


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


def test_keys_are_found_however_they_are_written_and_two_scores_are_none() -> None:
    entries = [RelevanceEntry(key=key, score=3) for key in ("[P1]", "p2", " P3 ", "P9")]
    assert set(by_key(entries, ["P1", "P2", "P3"])) == {"P1", "P2", "P3"}
    assert set(by_key([entries[0], entries[0]], ["P1"])) == {"P1"}
    assert by_key([entries[0], RelevanceEntry(key="P1", score=4)], ["P1"]) == {}


def test_an_idea_without_a_contribution_is_an_answer_but_broken_dimensions_are_not() -> None:
    assert DimensionsReply.model_validate({"dimensions": []}).dimensions == []
    broken = [{"name": " ", "statements": ["A claim."]}, {"name": "Tool", "statements": [" "]}]
    with pytest.raises(ValidationError):
        DimensionsReply.model_validate({"dimensions": broken})
