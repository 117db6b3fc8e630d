"""Replies bend where models bend, and hold where it matters."""

import pytest
from pydantic import ValidationError

from tasks.soundness.steps.method_evidence import EvidenceReply
from tasks.soundness.steps.soundness_query import QueriesReply
from tasks.soundness.steps.soundness_review import ReviewReply
from tasks.soundness.steps.soundness_summary import SummaryReply


def test_null_for_nothing_to_say_and_paragraphs_as_a_list_are_understood() -> None:
    reply = ReviewReply.model_validate(
        {
            "support": ["One [P1].", "Two [P2]."],
            "contradictions": None,
            "suggestions": "",
            "score": "7",
        }
    )
    assert (reply.support, reply.contradictions, reply.score) == ("One [P1].\n\nTwo [P2].", "", 7)


@pytest.mark.parametrize("score", [-1, 10.5, "eleven", None, float("nan")])
def test_a_score_outside_its_scale_is_no_reply(score: object) -> None:
    with pytest.raises(ValidationError):
        ReviewReply.model_validate(
            {"support": "s", "contradictions": "c", "suggestions": "x", "score": score}
        )


def test_an_empty_query_is_no_reply() -> None:
    with pytest.raises(ValidationError):
        QueriesReply.model_validate({"queries": [{"method": 1, "queries": [""]}]})


def test_an_irrelevant_paper_needs_no_texts() -> None:
    reply = EvidenceReply.model_validate(
        {"papers": [{"key": "P1", "relevance": 0, "method": None}]}
    )
    assert reply.papers[0].method == ""


def test_a_summary_needs_all_three_lists() -> None:
    with pytest.raises(ValidationError):
        SummaryReply.model_validate({"strengths": ["s"], "weaknesses": []})
