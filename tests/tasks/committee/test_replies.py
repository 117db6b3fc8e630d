"""Replies as models write them: what is meant is taken, what is not is refused."""

import pytest
from pydantic import ValidationError

from schemas.judgement.committee import Decision, IdeaPart
from tasks.committee.steps.reviews import MetaReply, PersonaReply
from tasks.committee.steps.structure_idea import StructureReply


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Reject", Decision.REJECT),
        ("reject.", Decision.REJECT),
        ("Accept (Poster)", Decision.POSTER),
        ("SPOTLIGHT", Decision.SPOTLIGHT),
    ],
)
def test_a_decision_is_known_however_it_is_spelled(written: str, meant: Decision) -> None:
    reply = MetaReply.model_validate(
        {"summary": "S", "strengths": None, "weaknesses": ["a", "b"], "decision": written}
    )
    assert (reply.decision, reply.strengths, reply.weaknesses) == (meant, "", "a\n\nb")


@pytest.mark.parametrize("written", ["Accept", "Poster or Spotlight", "", None, 3])
def test_a_decision_that_names_none_or_two_is_no_decision(written: object) -> None:
    with pytest.raises(ValidationError):
        MetaReply.model_validate(
            {"summary": "S", "strengths": "", "weaknesses": "", "decision": written}
        )


def test_a_score_out_of_bounds_costs_its_dimension_and_no_other() -> None:
    entries = [
        {"dimension": "[clarity]", "review": "R", "score": "7"},
        {"dimension": "novelty", "review": "R", "score": 70},
    ]
    reply = PersonaReply.model_validate({"reviews": entries})
    assert [(each.dimension, each.score) for each in reply.reviews] == [("clarity", 7.0)]
    with pytest.raises(ValidationError):
        PersonaReply.model_validate({"reviews": entries[1:]})


def test_a_part_written_as_null_or_as_one_sentence_is_a_list() -> None:
    reply = StructureReply.model_validate(
        dict.fromkeys(map(str, IdeaPart)) | {"tldr": "One claim."}
    )
    assert reply.claims()[IdeaPart.TLDR] == ("One claim.",)
    assert reply.claims()[IdeaPart.METHODS] == ()
