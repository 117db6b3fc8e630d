"""What a suite will ask of its engine, before it is paid for: calls, tokens and dollars.

Counts of items are those of the data; sizes of what a model writes are expected ones, so that a paid run may differ by half. A rerun
asks only what has no answer yet, and replies to equal questions come from the cache: both cost less than is said here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq
from pydantic import Field

from flows.benchmarks.problems_judging import DEFAULT_CHECK_COUNT
from flows.benchmarks.suite import Suite
from flows.estimate import CHARACTERS_PER_TOKEN, FRAME_TOKENS, estimate_run
from flows.rank_estimate import TOKENS_PER_VERDICT
from schemas.base import Noun
from schemas.benchmark import BenchmarkRequest
from schemas.idea import Idea
from schemas.run import Module, RunRequest
from schemas.settings import Settings
from tasks.benchmarks import innoeval, novelty_checker, rinobench, scholarideas
from tasks.benchmarks.novelty_grading.steps import STEPS as GRADING
from tasks.benchmarks.steps import JUDGE_COVERAGE, JUDGE_PREFERENCE, PROMPT_ONLY, PROMPT_WITH_SEARCH
from tasks.judging.engines import EXTRACTIVE
from tasks.judging.prices import price_per_token
from tasks.judging.step import Step
from tasks.manuscripts.steps import JUDGE_HIT
from tasks.novelty.expected import JUDGEMENT_TOKENS, WORK_TOKENS
from tasks.novelty.steps import JUDGE_NOVELTY
from tasks.ranking.dimensions import DIMENSIONS, compared_along
from tasks.ranking.steps import COMPARE_IDEAS

REVIEW_TOKENS = 1_800
"""Of one review of an idea by `economy`: 6,900 characters on average of three real ideas."""
GRADE_TOKENS = 60
PAPERS_SEARCHED = 20
PROBLEM_TOKENS = 150
Asked = tuple[Step[Any, Any], float, float, float]
"""Step, calls, prompt tokens of a call beside its template, completion tokens of a call."""


class BenchmarkEstimate(Noun):
    """What one suite is expected to ask, its evaluations included. `cost_usd` is None when no price is known, 0 without a model."""

    suite: str
    items: int = Field(ge=0, description="Ideas, submissions, pairs, groups or checks.")
    evaluated_ideas: int = Field(ge=0, description="That go through the main job first.")
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost_usd: float | None


def estimate_suite(suite: Suite, request: BenchmarkRequest, settings: Settings) -> BenchmarkEstimate:
    """Predict one suite of which nothing is answered yet.

    Raises:
        ConfigurationError: its data do not fit.
    """
    modules = suite.modules if request.modules is None else request.modules
    items, ideas, asked = _COUNTS[suite.name](request, modules) if suite.name in _COUNTS else (0, [], [])
    evaluated = ideas if modules and request.evaluated_run is None else []
    price = price_per_token(request.engine, settings.language_model)
    free = request.engine == EXTRACTIVE
    calls, prompt, completion = (0.0, 0.0, 0.0) if free else _sums(asked)
    if evaluated and not free:
        run = estimate_run(evaluated, 0, _run_request(request, modules), settings, price)
        calls, prompt, completion = calls + run.model_calls, prompt + run.prompt_tokens, completion + run.completion_tokens
    return BenchmarkEstimate(
        suite=suite.name,
        items=items,
        evaluated_ideas=len(evaluated),
        model_calls=round(calls),
        prompt_tokens=round(prompt),
        completion_tokens=round(completion),
        cost_usd=0.0 if free else None if price is None else prompt * price[0] + completion * price[1],
    )


def _sums(asked: Sequence[Asked]) -> tuple[float, float, float]:
    calls = sum(count for _, count, _, _ in asked)
    prompt = sum(count * (len(step.template) / CHARACTERS_PER_TOKEN + FRAME_TOKENS + shown) for step, count, shown, _ in asked)
    return calls, prompt, sum(count * said for _, count, _, said in asked)


def _run_request(request: BenchmarkRequest, modules: Sequence[Module]) -> RunRequest:
    return RunRequest(
        ideas_path=request.data,
        warehouse=request.warehouse,
        profile=request.profile,
        engine=request.engine,
        literature=request.literature,
        modules=tuple(modules),
        full_text=request.full_text,
    )


Counted = tuple[int, list[Idea], list[Asked]]
"""Items, ideas that modules would evaluate, and what the suite itself asks."""


def _tokens(ideas: Sequence[Idea]) -> float:
    return sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)


def _share(count: int, request: BenchmarkRequest) -> float:
    """Of a set that `--limit` leaves."""
    return min(1.0, (request.item_limit or count) / count) if count else 0.0


def _coverage(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    entries = scholarideas.read_scholarideas(request.data / scholarideas.FILE)
    share = _share(len(entries), request)
    ideas = [entry.idea for entry in entries][: round(share * len(entries))]
    rubrics, shown = share * sum(len(entry.rubrics) for entry in entries), _tokens(ideas)
    searched = PAPERS_SEARCHED * WORK_TOKENS
    by_name = {step.name: step for step in (PROMPT_ONLY, PROMPT_WITH_SEARCH)}
    asked: list[Asked] = [(JUDGE_COVERAGE, rubrics * (1 + len(request.baselines)), REVIEW_TOKENS, GRADE_TOKENS)]
    asked.append((JUDGE_PREFERENCE, 2.0 * len(ideas) * len(request.baselines), 2 * REVIEW_TOKENS, 3 * GRADE_TOKENS))
    for name in request.baselines:
        papers = searched if by_name[name] is PROMPT_WITH_SEARCH else 0.0
        asked.append((by_name[name], len(ideas), shown + papers, REVIEW_TOKENS))
    return len(ideas), ideas, asked


def _novelty(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    rows = novelty_checker.read_novelty_checker(request.data / novelty_checker.FILE)
    given = [(row.idea, len(row.works)) for row in rows[: round(_share(len(rows), request) * len(rows))]]
    graded = 0
    for name in (rinobench.GOLD, rinobench.TRAINING):
        if (path := request.data / name).is_file():
            gold = rinobench.read_gold(path)
            kept = gold[: round(_share(len(gold), request) * len(gold))]
            given += [(one.idea, len(one.works)) for one in kept]
            graded += len(kept) if name == rinobench.GOLD else 0
    works = sum(count for _, count in given) / max(len(given), 1)
    shown = _tokens([idea for idea, _ in given])
    asked: list[Asked] = [(JUDGE_NOVELTY, len(given), shown + works * WORK_TOKENS, JUDGEMENT_TOKENS)]
    asked += [(step, 2.0 * graded, shown + works * WORK_TOKENS, 3 * GRADE_TOKENS) for step in GRADING]
    return len(given), [], asked


def _decisions(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    found = innoeval.unique_ideas(innoeval.read_points(request.data / innoeval.POINTS_FILE))
    ideas = found[: round(_share(len(found), request) * len(found))]
    return len(ideas), ideas, []


def _pairs(request: BenchmarkRequest, modules: Sequence[Module]) -> Counted:
    contests = []
    for difficulty, name in innoeval.PAIR_FILES.items():
        pairs = innoeval.read_pairs(request.data / name, difficulty)
        contests += [(pair.first, pair.second) for pair in pairs[: round(_share(len(pairs), request) * len(pairs))]]
    return _matches(contests, request, modules)


def _groups(request: BenchmarkRequest, modules: Sequence[Module]) -> Counted:
    groups = innoeval.read_groups(request.data / innoeval.GROUPS_FILE)
    return _matches([group.members for group in groups[: round(_share(len(groups), request) * len(groups))]], request, modules)


def _matches(contests: Sequence[Sequence[innoeval.Submission]], request: BenchmarkRequest, modules: Sequence[Module]) -> Counted:
    ideas = innoeval.unique_ideas(one for members in contests for one in members)
    meetings = sum(len(members) * (len(members) - 1) // 2 for members in contests)
    systems = 1 + (bool(modules) and PROMPT_ONLY.name in request.baselines)
    calls = float(meetings * systems * (2 if request.profile.ranking.both_orders else 1))
    said = len(compared_along(DIMENSIONS)) * TOKENS_PER_VERDICT
    return len(contests), ideas, [(COMPARE_IDEAS, calls, 2 * _tokens(ideas), said)]


def _critical_problems(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    folder = request.data / "withdrarxiv"
    checks, problems = (pq.read_metadata(folder / f"{name}.parquet").num_rows for name in ("checks", "problems"))
    drawn = min(request.item_limit or DEFAULT_CHECK_COUNT, checks)
    return drawn, [], [(JUDGE_HIT, drawn * problems / max(checks, 1), PROBLEM_TOKENS, GRADE_TOKENS)]


_COUNTS: Mapping[str, Callable[[BenchmarkRequest, Sequence[Module]], Counted]] = {
    "coverage": _coverage,
    "novelty": _novelty,
    "decisions": _decisions,
    "pairs": _pairs,
    "groups": _groups,
    "critical_problems": _critical_problems,
}
"""Suites that ask an engine; `agreement` asks none."""
