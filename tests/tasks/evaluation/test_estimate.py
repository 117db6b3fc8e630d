"""The plan before paying: what makes it larger, what costs nothing.

`test_estimate_against_a_run` holds it against a run.
"""

from pathlib import Path

import pytest

from flows.run.requests import request_of
from flows.works.evaluate.prediction import ModelCost, compare_engines
from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.idea import Idea
from schemas.judging import AskingParameters, Effort, JudgingParameters
from schemas.options.commands import RunOptions
from schemas.settings import LanguageModelSettings, Settings
from tasks.evaluation.expected import Estimate, estimate_run
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_ideas
from tasks.judging.expected import EXPECTED_THINKING_TOKENS, StepEstimate

PRICED = LanguageModelSettings(
    prompt_price_usd_per_million_tokens=2.0, completion_price_usd_per_million_tokens=8.0
)
PROMPT_USD, COMPLETION_USD = 2e-6, 8e-6
READING = (
    "extract_methods",
    "soundness_query",
    "method_evidence",
    "extract_dimensions",
    "contribution_queries",
    "relevance",
    "verify_citations",
)


@pytest.fixture(scope="module")
def ideas() -> tuple[Idea, ...]:
    return read_ideas(bundled_file("ideas.jsonl"), default_cutoff=None).ideas


def estimated(
    ideas: tuple[Idea, ...],
    *,
    models: LanguageModelSettings = PRICED,
    judging: JudgingParameters | None = None,
    not_covered: int = 0,
    **options: str,
) -> Estimate:
    options = {
        "engine": "litellm:openai/judge",
        "literature": f"snapshot:{bundled_file('papers.jsonl')}",
        **options,
    }
    asked = RunOptions(warehouse=Path("none"), **options)  # type: ignore[arg-type]
    request = request_of(EVALUATE, (bundled_file("ideas.jsonl"),), asked, Settings())
    if judging is not None:
        request = replace(request, profile=replace(request.profile, judging=judging))
    return estimate_run(ideas, 0, request, Settings(language_model=models), not_covered=not_covered)


def of(estimate: Estimate, step: str) -> StepEstimate:
    return next(one for one in estimate.steps if one.step == step)


def test_the_extractive_engine_costs_nothing_and_still_asks_the_literature(
    ideas: tuple[Idea, ...],
) -> None:
    estimate = estimated(ideas, engine="extractive")
    assert estimate.cost_usd == 0
    assert (estimate.model_calls, estimate.prompt_tokens, estimate.steps) == (0, 0, ())
    assert estimate.literature_requests > 0


def test_the_price_of_every_paid_step_must_be_known(ideas: tuple[Idea, ...]) -> None:
    judged = JudgingParameters(
        judgement=AskingParameters(model="openai/of-our-own", effort=Effort.LOW)
    )
    estimate = estimated(
        ideas, engine="litellm:openai/gpt-4.1", judging=judged, models=LanguageModelSettings()
    )
    assert (estimate.cost_usd, estimate.cost_usd_per_idea) == (None, None)
    assert estimate.unpriced_models == ("openai/of-our-own",)
    assert of(estimate, "relevance").cost_usd is not None
    assert of(estimate, "soundness_review").cost_usd is None


def test_each_step_is_priced_with_the_model_that_answers_it(ideas: tuple[Idea, ...]) -> None:
    cheap = AskingParameters(model="openai/gpt-4.1-nano", effort=Effort.NONE)
    estimate = estimated(
        ideas, engine="litellm:openai/gpt-4.1", judging=JudgingParameters(reading=cheap)
    )
    plain = estimated(ideas, engine="litellm:openai/gpt-4.1")
    assert {step.step for step in estimate.steps if step.models == ("openai/gpt-4.1-nano",)} == set(
        READING
    )
    assert of(estimate, "relevance").cost_usd == pytest.approx(of(plain, "relevance").cost_usd / 20)  # type: ignore[operator]
    assert of(estimate, "soundness_review") == of(plain, "soundness_review")
    assert estimate.cost_usd == pytest.approx(
        len(ideas) * sum(step.cost_usd or 0 for step in estimate.steps)
    )


def test_every_judge_is_asked_every_question_that_is_answered_with_a_score(
    ideas: tuple[Idea, ...],
) -> None:
    judges = ("openai/gpt-4.1", "openai/gpt-5", "gemini/gemini-2.5-pro")
    one = estimated(ideas, engine="litellm:openai/gpt-4.1")
    three = estimated(
        ideas,
        judging=JudgingParameters(judgement=AskingParameters(judges=judges, effort=Effort.MEDIUM)),
    )
    alone, together = (of(estimate, "soundness_review") for estimate in (one, three))
    assert together.models == judges
    assert of(three, "weigh_concerns").models == judges[:1]
    assert of(three, "assess_plan").models == judges
    assert together.calls == 3 * alone.calls
    assert together.prompt_tokens == pytest.approx(3 * alone.prompt_tokens)
    assert together.thinking_tokens == 2 * alone.calls * EXPECTED_THINKING_TOKENS[Effort.MEDIUM]
    assert together.completion_tokens == pytest.approx(
        3 * alone.completion_tokens + together.thinking_tokens
    )
    assert of(three, "relevance").models == ("openai/judge",)


def test_thinking_is_billed_as_completion_and_grows_with_effort(ideas: tuple[Idea, ...]) -> None:
    found = []
    for effort in (Effort.LOW, Effort.MEDIUM, Effort.HIGH):
        asked = AskingParameters(effort=effort)
        found.append(
            estimated(
                ideas,
                engine="litellm:openai/o3",
                judging=JudgingParameters(reading=asked, judgement=asked),
            )
        )
    plain = estimated(ideas)
    assert plain.thinking_tokens == 0
    assert [one.thinking_tokens for one in found] == sorted({one.thinking_tokens for one in found})
    assert all(
        one.completion_tokens == plain.completion_tokens + one.thinking_tokens for one in found
    )
    assert [one.hours for one in found] == sorted({one.hours for one in found})
    assert [one.cost_usd for one in found] == sorted({one.cost_usd or 0 for one in found})


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("openai/gpt-4.1", False),
        ("openai/gpt-5.2", False),
        ("anthropic/claude-opus-4-7", False),
        ("gemini/gemini-2.5-flash", False),
        ("openai/o3", True),
        ("openai/gpt-5", True),
        ("gemini/gemini-2.5-pro", True),
        ("anthropic/claude-opus-5-5", True),
    ],
)
def test_without_effort_only_models_that_cannot_stop_think(
    ideas: tuple[Idea, ...], model: str, thinks: bool
) -> None:
    nothing = AskingParameters(effort=Effort.NONE)
    silent = JudgingParameters(reading=nothing, judgement=nothing)
    estimate = estimated(ideas, engine=f"litellm:{model}", judging=silent)
    assert (estimate.thinking_tokens > 0) is thinks
    assert estimate.thinking_tokens <= 128 * estimate.model_calls


def test_the_setting_says_whether_a_model_of_ones_own_thinks(ideas: tuple[Idea, ...]) -> None:
    thinking = replace_settings(thinking="yes")
    assert estimated(ideas).thinking_tokens == 0
    assert estimated(ideas, models=thinking).thinking_tokens > 0
    assert (
        estimated(
            ideas, models=replace_settings(thinking="no"), engine="litellm:openai/o3"
        ).thinking_tokens
        == 0
    )


def replace_settings(**changes: object) -> LanguageModelSettings:
    return PRICED.model_copy(update=changes)


def test_a_beginning_that_is_long_enough_comes_from_the_cache_from_the_second_call_on(
    ideas: tuple[Idea, ...],
) -> None:
    long = tuple(idea.model_copy(update={"text": idea.text * 4}) for idea in ideas)
    estimate = estimated(long, engine="litellm:openai/gpt-4.1")
    for name in ("method_evidence", "compare_paper"):
        step = of(estimate, name)
        assert 0 < step.cached_tokens < step.prompt_tokens * (step.calls - 1) / step.calls, name
    assert of(estimate, "soundness_review").cached_tokens == 0
    cached_usd, prompt_usd = 0.5e-6, 2e-6
    reading = of(estimate, "method_evidence")
    expected = reading.prompt_tokens * prompt_usd - reading.cached_tokens * (
        prompt_usd - cached_usd
    )
    assert reading.cost_usd == pytest.approx(expected + reading.completion_tokens * 8e-6)


def test_a_beginning_below_the_providers_minimum_is_paid_in_full(ideas: tuple[Idea, ...]) -> None:
    short = tuple(idea.model_copy(update={"text": idea.text[:200]}) for idea in ideas)
    assert of(estimated(short, engine="litellm:openai/gpt-4.1"), "relevance").cached_tokens == 0
    assert estimated(ideas, engine="litellm:openai/gpt-4.1").cached_tokens > 0
    assert (
        estimated(ideas, engine="litellm:anthropic/claude-opus-4-7").cached_tokens == 0
    )  # keeps 2,048 and more


def test_what_a_provider_writes_to_its_cache_costs_more_where_it_says_so(
    ideas: tuple[Idea, ...],
) -> None:
    long = tuple(idea.model_copy(update={"text": idea.text * 4}) for idea in ideas)
    claude = of(estimated(long, engine="litellm:anthropic/claude-sonnet-4-5"), "method_evidence")
    beginning = claude.cached_tokens / (claude.calls - 1)
    plain = claude.prompt_tokens - claude.cached_tokens - beginning
    expected = (
        plain * 3e-6
        + claude.cached_tokens * 0.3e-6
        + beginning * 3.75e-6
        + claude.completion_tokens * 15e-6
    )
    assert claude.cost_usd == pytest.approx(expected)
    later = of(estimated(long, engine="litellm:openai/gpt-5.6"), "method_evidence")
    assert later.cached_tokens == 0
    assert later.cost_usd == pytest.approx(
        later.prompt_tokens * 5e-6 + later.completion_tokens * 20e-6
    )


def test_a_rate_limit_of_the_busiest_model_bounds_the_run(ideas: tuple[Idea, ...]) -> None:
    slow = estimated(ideas, models=replace_settings(requests_per_minute=1.0))
    assert slow.bound_by == "model rate"
    assert slow.hours * 60 == pytest.approx(slow.model_calls)
    shared = JudgingParameters(reading=AskingParameters(model="openai/reader"))
    assert (
        estimated(ideas, judging=shared, models=replace_settings(requests_per_minute=1.0)).hours
        < slow.hours
    )
    tokens = estimated(ideas, models=replace_settings(tokens_per_minute=1000.0))
    assert tokens.hours * 60_000 == pytest.approx(
        tokens.prompt_tokens + tokens.completion_tokens, rel=1e-4
    )


def test_a_survey_of_each_idea_takes_its_plan_its_relevance_and_some_ten_requests(
    ideas: tuple[Idea, ...],
) -> None:
    plain, surveyed = estimated(ideas), estimated(ideas, survey="true")
    more = {step.step for step in surveyed.steps} - {step.step for step in plain.steps}
    assert more == {"survey_plan", "survey_relevance"}
    assert surveyed.literature_requests > plain.literature_requests
    assert (surveyed.cost_usd or 0) > (plain.cost_usd or 0)


def test_ideas_outside_the_literature_are_assessed_by_their_plan_alone(
    ideas: tuple[Idea, ...],
) -> None:
    estimate, whole = estimated(ideas, not_covered=len(ideas)), estimated(ideas)
    repetitions = of(whole, "assess_plan").calls
    # review, questions, officer, weighing, challenge, and each repetition of the assessment
    assert estimate.model_calls == len(ideas) * (5 + repetitions)
    shown_of_covered = sum(
        of(whole, step).prompt_tokens
        for step in (
            *("plan_review", "plan_questions", "officer_review"),
            *("weigh_concerns", "challenge_concerns", "assess_plan"),
        )
    )
    assert 0 < estimate.prompt_tokens < len(ideas) * shown_of_covered


def test_models_compared_from_an_offline_plan_are_compared_with_their_assessment(
    ideas: tuple[Idea, ...],
) -> None:
    model = EngineChoice.named("openai/judge")
    lines: list[ModelCost] = []
    for engine in ("extractive", model.text):
        options = RunOptions(
            warehouse=Path("none"),
            engine=EngineChoice.parse(engine),
            literature=LiteratureChoice.parse(f"snapshot:{bundled_file('papers.jsonl')}"),
        )
        request = request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, Settings())
        lines += compare_engines([model], ideas, request, Settings(language_model=PRICED))
        few = compare_engines([model], ideas, request, Settings(), not_covered=len(ideas))
        assert few[0].model_calls == len(ideas) * 8, (
            "review, questions, officer, weighing, challenge, three askings"
        )
    assert lines[0] == lines[1]


def test_no_idea_takes_nothing() -> None:
    estimate = estimated(())
    assert (
        estimate.model_calls,
        estimate.literature_requests,
        estimate.cost_usd,
        estimate.hours,
    ) == (0, 0, 0, 0)


def test_live_literature_is_bound_by_its_rate(ideas: tuple[Idea, ...]) -> None:
    estimate = estimated(ideas, engine="extractive", literature="live")
    assert estimate.bound_by == "literature rate"
    assert estimate.hours * 3600 >= estimate.literature_requests
