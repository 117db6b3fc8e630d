"""Questions about one review begin alike: one goes ahead, so that a provider's cache has the review
for the others.
"""

import asyncio
from pathlib import Path

import pytest

from schemas.base import Noun
from tasks.benchmarks import suite
from tasks.benchmarks.items import ItemContext, KeptOutcome
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput
from tasks.benchmarks.suites import SUITES
from tasks.judging.step import Step
from tests.support.benchmark_sets import benchmark_request, tried, write_expert_reviews
from tests.support.soundness_fakes import provenance_of


def test_the_first_question_about_a_review_is_answered_before_its_others_set_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    answered: list[str] = []

    async def ask(step: Step, question: CoverageInput, context: ItemContext) -> KeptOutcome:
        earlier = any(review == question.review for review in sent)
        assert not earlier or question.review in answered, (
            "two questions about a new review at once"
        )
        sent.append(question.review)
        await asyncio.sleep(0)
        answered.append(question.review)
        return KeptOutcome(
            value='{"reason": "It says so.", "score": 4}', provenance=provenance_of(step, "fake")
        )

    monkeypatch.setattr(suite, "ask", ask)
    write_expert_reviews(tmp_path)
    questions: dict[str, Noun] = {
        f"{review}-{number}": CoverageInput(
            review=f"Review {review}.", statement=f"Statement {number}."
        )
        for review in ("one", "two")
        for number in range(4)
    }
    request = benchmark_request(tmp_path, SUITES["agreement"], warehouse=tmp_path)
    _, answers = tried(
        SUITES["agreement"], request, use=lambda asking: asking.ask(JUDGE_COVERAGE, questions)
    )
    assert len(answers) == 8
    assert sorted(sent[:2]) == [
        "Review one.",
        "Review two.",
    ], "different reviews wait for each other"
