"""RINoBench's grading of justifications: counts of arguments, and what an unanswered judge leaves
behind.
"""

from typing import Any

import pytest

from schemas.reasons import Reason
from tasks.benchmarks.steps.check_aspect import CheckReply
from tasks.benchmarks.steps.extract_aspects import AspectsReply
from tasks.benchmarks.steps.judge_alignment import AlignmentReply
from tasks.benchmarks.suites.rinobench import AspectCounts, Grade, Justified, grade
from tasks.metrics.novelty import justification_metrics
from tests.support.contribution_fakes import FakeEngine, WordEmbedder

EXPECTED, ACTUAL = "Gold justification.", "Model justification."
JUSTIFIED = Justified(
    idea="The idea.", works=(("A work", "Its abstract."),), expected=EXPECTED, actual=ACTUAL
)


def aspects(question: Any) -> AspectsReply:
    if question.justification == EXPECTED:
        return AspectsReply(known=["k1", "k2"], novel=["n1"])
    return AspectsReply(known=["k1", "grounded", "made up"], novel=["n1", "n1", "in the idea"])


def check(question: Any) -> CheckReply:
    """The expert bears out k1 and n1; the works bear out `grounded`; the idea `in the idea`."""
    source = question.sources[0].name
    true = {
        "Expert's justification": {"k1", "n1"},
        "Related work 1": {"grounded"},
        "Idea": {"in the idea"},
    }[source]
    return CheckReply.model_validate(
        {
            "arguments": [
                {"number": n, "supported": a in true} for n, a in enumerate(question.arguments, 1)
            ]
        }
    )


def engine(**answers: Any) -> FakeEngine:
    usual = {
        "extract_aspects": aspects,
        "check_aspect": check,
        "judge_alignment": lambda _: AlignmentReply(score=7),
    }
    return FakeEngine(WordEmbedder(), {**usual, **answers})


async def test_arguments_are_the_experts_or_grounded_or_made_up() -> None:
    found = await grade(JUSTIFIED, engine())
    assert found.alignment_0_to_1 == 0.7
    assert found.known == AspectCounts(
        gold=2, generated=3, supported=1, additional=1, hallucinated=1
    )
    assert found.novel == AspectCounts(
        gold=1, generated=2, supported=1, additional=1, hallucinated=0
    )
    metrics = {
        name: estimate.value
        for name, estimate in justification_metrics([found.justification]).items()
    }
    assert metrics == pytest.approx(
        {
            "alignment": 0.7,
            "known_aspects_recall": 0.5,
            "additional_known_aspects_ratio": 0.5,
            "known_aspects_hallucination_rate": 1 / 3,
            "novelty_aspects_recall": 1.0,
            "additional_novelty_aspects_ratio": 1.0,
            "novelty_aspects_hallucination_rate": 0.0,
        }
    )


async def test_without_arguments_nothing_is_checked() -> None:
    asked = engine(extract_aspects=lambda _: AspectsReply(known=[], novel=[]))
    found = await grade(JUSTIFIED, asked)
    assert found.known == AspectCounts(
        gold=0, generated=0, supported=0, additional=0, hallucinated=0
    )
    assert "check_aspect" not in {name for name, _ in asked.asked}


@pytest.mark.parametrize(
    ("silent", "missing"),
    [
        ("judge_alignment", {"alignment_0_to_1"}),
        ("extract_aspects", {"known", "novel"}),
        ("check_aspect", {"known", "novel"}),
    ],
)
async def test_a_judge_without_an_answer_leaves_no_zero(silent: str, missing: set[str]) -> None:
    found = await grade(JUSTIFIED, engine(**{silent: lambda _: Reason.TIMED_OUT}))
    assert {
        name for name in ("alignment_0_to_1", "known", "novel") if getattr(found, name) is None
    } == missing
    assert found.may_go_better
    assert found.reason is Reason.TIMED_OUT


async def test_an_argument_left_out_by_the_judge_is_not_taken_for_unsupported() -> None:
    found = await grade(
        JUSTIFIED,
        engine(
            check_aspect=lambda _: CheckReply.model_validate(
                {"arguments": [{"number": 1, "supported": True}]}
            )
        ),
    )
    assert found.known is None
    assert found.reason is Reason.REPLY_UNPARSABLE
    assert not found.may_go_better


async def test_the_extractive_judge_prefers_the_experts_own_words() -> None:
    expected = (
        "The recorder already exists in earlier work on bats. However, the theory of shared caves"
        " is new and was not studied before."
    )
    foreign = (
        "Tax law of islands has been studied widely. None of the courts considered maritime customs"
        " before."
    )
    works = (("On bats", "A recorder for bats exists in earlier work."),)
    same, other = [
        await grade(
            Justified("A recorder and a theory of shared caves.", works, expected, actual),
            FakeEngine(WordEmbedder(), {}),
        )
        for actual in (expected, foreign)
    ]
    assert same.alignment_0_to_1 > other.alignment_0_to_1
    assert same.known.supported == same.known.generated == same.known.gold == 1
    assert same.novel.supported == same.novel.generated == 1
    assert other.novel.hallucinated == other.novel.generated > 0


def test_grades_are_kept_and_read_again_whole() -> None:
    kept = Grade(
        alignment_0_to_1=0.5,
        known=None,
        novel=AspectCounts(gold=1, generated=0, supported=0, additional=0, hallucinated=0),
    )
    assert Grade.model_validate_json(kept.model_dump_json()) == kept
