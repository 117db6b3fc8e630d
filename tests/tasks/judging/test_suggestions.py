"""What is kept of the suggestions in a reply."""

from typing import Any

from schemas.identifiers import PaperId
from schemas.judgement.suggestion import ActionEffort
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from tasks.citations.keys import show
from tasks.judging.suggestions import SettledSuggestions, settle_suggestions
from tasks.soundness.steps.soundness_review import ReviewReply
from tests.support.evaluations import make_provenance

SHOWN = show([Paper(paper_id=PaperId("one"), title="One", year=2020)])
MADE = make_provenance("soundness_review")


def settled(suggestions: Any) -> SettledSuggestions:
    reply = ReviewReply.model_validate(
        {"support": "S.", "contradictions": "C.", "suggestions": suggestions, "score": 5}
    )
    return settle_suggestions(
        reply.suggestions, SHOWN, module="soundness", subject="m1", provenance=MADE
    )


def test_a_suggestion_keeps_its_parts_and_what_it_cites() -> None:
    given = {
        "change": "Add a linear probe.",
        "because": "It was enough elsewhere [P1], and so says [P7].",
        "how": "On the plan's own split, five seeds.",
        "effort": "Days",
        "deciding_outcome": "The probe stays two points behind.",
    }
    found = settled([given])
    (row,) = found.rows
    assert (row.rank, row.effort, row.citation_keys) == (1, ActionEffort.DAYS, ("P1",))
    assert row.how == given["how"]
    assert "P7" not in row.because
    assert found.text.removed_citation_count == 1
    assert found.text.cited == (("one", 1),)
    assert found.text.markdown.startswith('Add a linear probe. It was enough elsewhere ("One"')
    assert found.failures == ()


def test_a_suggestion_without_a_change_or_a_reason_is_left_out_on_record() -> None:
    found = settled([{"change": "Consider more data."}, {"because": "It failed [P1]."}, " "])
    assert found.rows == ()
    (failure,) = found.failures
    assert (failure.subject, failure.reason) == ("m1", Reason.REPLY_UNPARSABLE)
    assert "2 of 2 suggestions" in failure.detail


def test_a_suggestion_written_as_a_sentence_stands_by_what_it_cites() -> None:
    found = settled("Use the smaller model of [P1].")
    assert [row.citation_keys for row in found.rows] == [("P1",)]


def test_no_suggestion_is_no_failure() -> None:
    assert [settled(none) for none in (None, "", [])] == [settled([])] * 3
    assert settled([]).failures == ()
