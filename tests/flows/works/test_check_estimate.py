"""`assay check --dry-run`: what would be asked of each manuscript, and nothing asked."""

from pathlib import Path

import pytest

from flows.run.estimate import WorkEstimate, estimate
from schemas.choices import LiteratureChoice
from schemas.settings import Settings
from tasks.manuscripts.review import MOST_DEBATES
from tasks.manuscripts.work import CHECK
from tests.support.checks import check_request
from tests.support.manuscript_files import locked_pdf

MODEL = "litellm:openai/gpt-4.1"
SECTION = "Plain words about the pebbles of the shop fill this section until it is long. " * 60


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.md"
    path.write_text("".join(f"## {number} Part\n{SECTION}\n" for number in range(1, 6)))
    return path


def expected(paper: Path, **options: object) -> WorkEstimate:
    asked = {"warehouse": paper.parent / "wh", "engine": MODEL, **options}
    return estimate(CHECK, check_request([paper], **asked), Settings())


def test_one_reading_is_one_call_an_attempt_and_a_review_one_a_stretch_and_two_looks_a_problem(
    paper: Path,
) -> None:
    once, twice, review = (
        expected(paper, **options)
        for options in ({}, {"attempts": 2}, {"review": True, "problems": 3})
    )
    assert (once.model_calls, twice.model_calls) == (1, 2)
    assert review.model_calls == 5 + 2 * 3 + 1 + 3 + MOST_DEBATES
    assert once.prompt_tokens < review.prompt_tokens < 8 * once.prompt_tokens
    assert once.cost_usd is not None
    assert twice.cost_usd == pytest.approx(2 * once.cost_usd)


def test_looking_up_related_work_is_counted_and_a_reviewer_of_novelty_joins(paper: Path) -> None:
    alone = expected(paper, review=True)
    beside = expected(paper, review=True, literature=LiteratureChoice(url="http://gateway:8765"))
    plan, relevance, novelty = 1, 4, 1
    assert beside.model_calls == alone.model_calls + plan + relevance + novelty
    assert beside.prompt_tokens > alone.prompt_tokens


def test_a_long_thesis_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "thesis.md"
    path.write_text("".join(f"## {number} Part\n{SECTION}\n" for number in range(1, 200)))
    assert expected(path, review=True).model_calls == 40 + 2 * 5 + 1 + 3 + MOST_DEBATES


def test_what_cannot_be_read_says_why_and_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    path.write_bytes(locked_pdf())
    found = expected(path)
    assert (found.model_calls, found.cost_usd) == (0, 0.0)
    assert found.lost == ("locked cannot be read: the PDF needs a password",)


def test_each_judge_is_asked_about_every_problem_at_its_own_price(paper: Path) -> None:
    reasons = paper.parent / "reasons.jsonl"
    reasons.write_text('{"manuscript": "paper", "reason": "Section 2 is wrong."}')
    judges = ("litellm:openai/gpt-4.1", "litellm:openai/gpt-4.1-mini", "extractive")
    found = expected(paper, reasons=reasons, judge=judges, problems=4, repetitions=3)
    asked = [step for step in found.steps if step.step == "judge_hit"]
    assert [(step.models, step.calls) for step in asked] == [
        (("openai/gpt-4.1",), 12),
        (("openai/gpt-4.1-mini",), 12),
    ]
    dear, cheap = (step.cost_usd or 0.0 for step in asked)
    assert dear > cheap > 0
