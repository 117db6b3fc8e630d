"""The prompts fit their inputs, untrusted text stays inside its block, and no answer is given away."""

import json
import re
from typing import Any

import pytest

from schemas.base import Reply
from tasks.assessment.steps import (
    STEPS,
    AssessReply,
    WeighReply,
)
from tasks.judging.panel import gives_scores
from tasks.judging.step import Step
from tasks.soundness.steps.plan_review import PlanReply


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_no_prompt_gives_an_answer_that_names_a_value(step: Step[Any, Any]) -> None:
    assert not re.search(r"\b\d+ ?%|\bscore\W{0,3}\d", step.template)
    assert '{"' not in step.template


def replied(*entries: tuple[str, object]) -> dict[str, int | None]:
    """The scores by criterion that are read from a reply with these entries."""
    criteria = [
        {"criterion": criterion, "reasons": ["It has a control."], "score": score}
        for criterion, score in (("feasible", 50), *entries)
    ]
    reply = AssessReply.model_validate({"venue": "A journal.", "criteria": criteria})
    return {each.criterion.value: each.score for each in reply.criteria}


@pytest.mark.parametrize(
    ("written", "percent"),
    [
        (62, 62),
        (62.4, 62),
        ("62 %", 62),
        ("0.5 %", 0),
        ("0.6%", 1),
        (0.62, 62),
        (0, 0),
        (0.0, 0),
        (1, 1),
        (100.0, 100),
    ],
)
def test_a_probability_is_read_as_models_write_it(written: object, percent: int) -> None:
    assert replied(("overall", written)) == {"feasible": 50, "overall": percent}


@pytest.mark.parametrize(
    "written", [True, False, -0.4, "-0.4", 100.4, "100.4 %", 101, -1, "nan", "inf", "likely"]
)
def test_what_is_no_probability_leaves_the_criterion_without_one(written: object) -> None:
    assert replied(("overall", written)) == {"feasible": 50}


def test_a_criterion_that_is_answered_in_two_ways_has_no_answer() -> None:
    assert replied(("overall", 90), ("new", 40), ("overall", 10)) == {"feasible": 50, "new": 40}
    assert replied(("overall", 90), ("overall", 90)) == {"feasible": 50, "overall": 90}


def test_entries_beyond_the_criteria_do_not_cost_the_reply() -> None:
    others = [(name, 50) for name in ("worth_asking", "new", "decisive_test", "overall")]
    assert len(replied(*others, ("overall", 50), ("elegance", 99))) == 5


def test_several_judges_can_be_asked_for_the_probabilities() -> None:
    assert gives_scores(AssessReply)


@pytest.mark.parametrize(
    ("reply", "undefined"),
    [
        (WeighReply, {"question", "strength"}),
        (PlanReply, {"question", "worth", "novelty", "derivation"}),
    ],
)
def test_a_reply_is_offered_no_word_that_its_prompt_does_not_define(
    reply: type[Reply], undefined: set[str]
) -> None:
    offered = set(
        re.findall(
            r'"(\w+)"', str(re.findall(r'"enum": \[[^]]*\]', json.dumps(reply.model_json_schema())))
        )
    )
    assert {"fatal", "major", "minor", "confound"} <= offered
    assert not offered & undefined
