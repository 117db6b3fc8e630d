"""What a suite will ask of its engine, before it is paid for: calls, tokens and dollars.

Counts of items are those of the data; sizes of what a model writes are expected ones, so that a
paid run may differ by half. A rerun asks only what has no answer yet, and replies to equal
questions come from the cache: both cost less than is said here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from pydantic import Field

from flows.benchmarks.suite import Suite
from flows.benchmarks.suites import ask, ideation, injected_errors, survey
from flows.benchmarks.suites.problems_judging import DEFAULT_CHECK_COUNT
from flows.benchmarks.suites.survey_reviews import REVIEWED_CASES, WITH_HOPS, review_parameters
from flows.works.evaluate.request import bundled
from schemas.base import Noun
from schemas.idea import Idea
from schemas.judgement.benchmark import (
    ANOTHER_IDEAS,
    PROMPT_ONLY,
    PROMPT_WITH_SEARCH,
    BenchmarkRequest,
    SubmissionText,
)
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.literature.survey import SurveyParameters
from schemas.run import Module
from schemas.settings import Settings
from tasks.benchmarks import innoeval, novelty_sets, review_sets
from tasks.benchmarks.answer_sets import ANSWERS_FILE, RUBRICS_FILE, answer_cases
from tasks.benchmarks.full_papers import as_long_as_a_paper
from tasks.benchmarks.injection_texts import manuscript_places
from tasks.benchmarks.novelty_grading import GRADING
from tasks.benchmarks.steps.judge_answer import JUDGE_ANSWER
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE
from tasks.benchmarks.steps.judge_preference import JUDGE_PREFERENCE
from tasks.benchmarks.steps.judge_survey import JUDGE_SURVEY
from tasks.benchmarks.steps.prompted_contribution import PROMPTED_CONTRIBUTION
from tasks.benchmarks.steps.prompted_soundness import PROMPTED_SOUNDNESS
from tasks.benchmarks.survey_sets import VIS_FILE
from tasks.evaluation.expected import Estimate, estimate_run, unpriced
from tasks.ideas.read import read_ideas
from tasks.judging.expected import (
    CHARACTERS_PER_TOKEN,
    Asked,
    StepEstimate,
    estimate_step,
    total_usd,
)
from tasks.judging.step import Step
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from tasks.manuscripts.steps.read_section import NOTES_WORDS, READ_SECTION
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT, Aspect
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.novelty.expected import JUDGEMENT_TOKENS, WORK_TOKENS
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY
from tasks.ranking.dimensions import DIMENSIONS, compared_along
from tasks.ranking.expected import TOKENS_PER_READING, TOKENS_PER_VERDICT
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS
from tasks.survey.expected import ANSWER_STEPS, SURVEY_STEPS, TOKENS_PER_WORD, expected_survey
from tasks.survey.steps.survey_plan import SURVEY_PLAN
from tasks.survey.steps.survey_relevance import SURVEY_RELEVANCE
from tasks.survey.work import answer_parameters

REVIEW_TOKENS = 1_800
"""Of one review of an idea by `economy`: 6,900 characters on average of three real ideas."""
GRADE_TOKENS = 60
PAPERS_SEARCHED = 20
PROBLEM_TOKENS = 150
QUESTION_TOKENS = 40
SECTION_TOKENS = 2_000
PASSAGES_TOKENS = 900
MANUSCRIPT_TOKENS = 12_000
"""Of a whole text: 30,000 at most, 300 at least, of fourteen real ones."""


class Asking(NamedTuple):
    """One step of a suite.

    Attributes:
        shown: tokens of a call's prompt beside its template.
        said: tokens of an answer.
        first_calls: calls ahead of others that show the same; None: all show something else.
    """

    step: Step[Any, Any]
    calls: float
    shown: float
    said: float
    first_calls: float | None = None


class BenchmarkEstimate(Noun):
    """What one suite is expected to ask, its evaluations included.

    `cost_usd` is None when a price is unknown, 0 without a model.
    """

    suite: str
    items: int = Field(ge=0, description="Ideas, submissions, pairs, groups or checks.")
    evaluated_ideas: int = Field(ge=0, description="That go through the main job first.")
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    thinking_tokens: int = Field(ge=0, description="Of the completion tokens.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...] = Field(
        default=(), description="Models whose price is unknown."
    )


def estimate_suite(
    suite: Suite, request: BenchmarkRequest, settings: Settings
) -> BenchmarkEstimate:
    """Predict one suite of which nothing is answered yet.

    Raises:
        ConfigurationError: its data do not fit.
    """
    modules = suite.modules if request.modules is None else request.modules
    items, ideas, asked = (
        _COUNTS[suite.name](request, modules) if suite.name in _COUNTS else (0, [], [])
    )
    evaluated = ideas if modules and request.evaluated_run is None else []
    steps = [step for one in asked if (step := _estimated(one, request, settings)) is not None]
    run = (
        estimate_run(evaluated, 0, _run_request(request, modules), settings) if evaluated else None
    )
    both: list[StepEstimate | Estimate] = [*steps, *([run] if run else [])]
    return BenchmarkEstimate(
        suite=suite.name,
        items=items,
        evaluated_ideas=len(evaluated),
        model_calls=round(sum(step.calls for step in steps) + (run.model_calls if run else 0)),
        prompt_tokens=round(sum(one.prompt_tokens for one in both)),
        completion_tokens=round(sum(one.completion_tokens for one in both)),
        thinking_tokens=round(sum(one.thinking_tokens for one in both)),
        cost_usd=total_usd(one.cost_usd for one in both),
        unpriced_models=tuple(
            dict.fromkeys([*unpriced(steps), *(run.unpriced_models if run else ())])
        ),
    )


def _estimated(
    asking: Asking, request: BenchmarkRequest, settings: Settings
) -> StepEstimate | None:
    asked = Asked(asking.calls, 0.0, asking.calls * asking.said, first_calls=asking.first_calls)
    return estimate_step(
        asking.step,
        asked,
        asking.shown,
        request.profile.judging,
        request.engine,
        settings.language_model,
    )


def _run_request(request: BenchmarkRequest, modules: Sequence[Module]) -> RunRequest:
    return RunRequest(
        units=(GivenIdeas(path=request.data),),
        warehouse=request.warehouse,
        profile=request.profile,
        engine=request.engine,
        literature=request.literature,
        parameters=EvaluationParameters(modules=tuple(modules)),
        full_text=request.full_text,
    )


Counted = tuple[int, list[Idea], list[Asking]]
"""Items, ideas that modules would evaluate, and what the suite itself asks."""


def _tokens(ideas: Sequence[Idea]) -> float:
    return sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)


def _share(count: int, request: BenchmarkRequest) -> float:
    """Of a set that `--limit` leaves."""
    return min(1.0, (request.item_limit or count) / count) if count else 0.0


def _coverage(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    entries = review_sets.read_scholarideas(request.data / review_sets.SCHOLARIDEAS_FILE)
    share = _share(len(entries), request)
    ideas = [entry.idea for entry in entries][: round(share * len(entries))]
    rubrics, shown = share * sum(len(entry.rubrics) for entry in entries), _tokens(ideas)
    searched = PAPERS_SEARCHED * WORK_TOKENS
    systems = 1 + len(request.baselines)
    written = [name for name in request.baselines if name != ANOTHER_IDEAS]
    asked = [
        Asking(
            JUDGE_COVERAGE,
            rubrics * systems,
            REVIEW_TOKENS,
            GRADE_TOKENS,
            float(len(ideas) * systems),
        )
    ]
    asked.append(
        Asking(
            JUDGE_PREFERENCE,
            2.0 * len(ideas) * len(written),
            2 * REVIEW_TOKENS,
            3 * GRADE_TOKENS,
        )
    )
    for name in written:
        papers = searched if name == PROMPT_WITH_SEARCH else 0.0
        asked += [
            Asking(step, len(ideas), shown + papers, REVIEW_TOKENS / 2)
            for step in (PROMPTED_SOUNDNESS, PROMPTED_CONTRIBUTION)
        ]
    return len(ideas), ideas, asked


def _novelty(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    rows = novelty_sets.read_novelty_checker(request.data / novelty_sets.NOVELTY_CHECKER_FILE)
    given = [
        (row.idea, len(row.works)) for row in rows[: round(_share(len(rows), request) * len(rows))]
    ]
    graded = 0
    for name in (novelty_sets.GOLD, novelty_sets.TRAINING):
        if (path := request.data / name).is_file():
            gold = novelty_sets.read_gold(path)
            kept = gold[: round(_share(len(gold), request) * len(gold))]
            given += [(one.idea, len(one.works)) for one in kept]
            graded += len(kept) if name == novelty_sets.GOLD else 0
    works = sum(count for _, count in given) / max(len(given), 1)
    shown = _tokens([idea for idea, _ in given])
    asked = [Asking(JUDGE_NOVELTY, len(given), shown + works * WORK_TOKENS, JUDGEMENT_TOKENS)]
    asked += [
        Asking(step, 2.0 * graded, shown + works * WORK_TOKENS, 3 * GRADE_TOKENS)
        for step in GRADING
    ]
    return len(given), [], asked


def _decisions(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    found = innoeval.unique_ideas(innoeval.read_points(request.data / innoeval.POINTS_FILE))
    ideas = _written_out(found[: round(_share(len(found), request) * len(found))], request)
    return len(ideas), ideas, []


def _written_out(ideas: list[Idea], request: BenchmarkRequest) -> list[Idea]:
    """From full papers each is as long as it may be; none is read for a plan."""
    if request.text is SubmissionText.ABSTRACT:
        return ideas
    return [as_long_as_a_paper(idea) for idea in ideas]


def _pairs(request: BenchmarkRequest, modules: Sequence[Module]) -> Counted:
    contests = []
    for difficulty, name in innoeval.PAIR_FILES.items():
        pairs = innoeval.read_pairs(request.data / name, difficulty)
        contests += [
            (pair.first, pair.second)
            for pair in pairs[: round(_share(len(pairs), request) * len(pairs))]
        ]
    return _matches(contests, request, modules)


def _groups(request: BenchmarkRequest, modules: Sequence[Module]) -> Counted:
    groups = innoeval.read_groups(request.data / innoeval.GROUPS_FILE)
    return _matches(
        [group.members for group in groups[: round(_share(len(groups), request) * len(groups))]],
        request,
        modules,
    )


def _matches(
    contests: Sequence[Sequence[innoeval.Submission]],
    request: BenchmarkRequest,
    modules: Sequence[Module],
) -> Counted:
    ideas = _written_out(
        innoeval.unique_ideas(one for members in contests for one in members), request
    )
    meetings = sum(len(members) * (len(members) - 1) // 2 for members in contests)
    systems = 1 + (bool(modules) and PROMPT_ONLY in request.baselines)
    calls = float(meetings * systems * (2 if request.profile.ranking.both_orders else 1))
    said = len(compared_along(DIMENSIONS)) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return len(contests), ideas, [Asking(COMPARE_IDEAS, calls, 2 * _tokens(ideas), said)]


def _critical_problems(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    folder = request.data / "withdrarxiv"
    checks, problems = (
        pq.read_metadata(folder / f"{name}.parquet").num_rows for name in ("checks", "problems")
    )
    drawn = min(request.item_limit or DEFAULT_CHECK_COUNT, checks)
    return (
        drawn,
        [],
        [Asking(JUDGE_HIT, drawn * problems / max(checks, 1), PROBLEM_TOKENS, GRADE_TOKENS)],
    )


def _injected_errors(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    """Each text as it was, and its twins."""
    texts = len(manuscript_places(request.data))
    read = round(_share(texts, request) * texts) * (1 + injected_errors.twin_count(request))
    said = injected_errors.MAXIMUM_PROBLEMS / 2 * PROBLEM_TOKENS
    asked = [Asking(FIND_PROBLEMS, read, MANUSCRIPT_TOKENS, said)]
    if not request.engine.is_baseline:
        sections = read * MANUSCRIPT_TOKENS / SECTION_TOKENS
        noted = 2 * NOTES_WORDS
        asked.append(Asking(READ_SECTION, sections, SECTION_TOKENS + noted, noted + PROBLEM_TOKENS))
        looks = read * injected_errors.MAXIMUM_PROBLEMS / 2
        asked.append(Asking(REFUTE_PROBLEM, looks, PASSAGES_TOKENS, GRADE_TOKENS))
        aspects = read * (len(Aspect) - 1)  # nobody judges novelty where nothing is looked up
        asked.append(Asking(REVIEW_ASPECT, aspects, noted + 2 * PASSAGES_TOKENS, PROBLEM_TOKENS))
        asked.append(Asking(WRITE_REVIEW, read, 2 * noted, noted))
    return read, [], asked


def _survey(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    """As many questions of each set as may be drawn; relevance in the generated one is known."""
    drawn = request.item_limit or survey.CASES_PER_SET
    there = sum((request.data / name).is_file() for name in survey.SUITE.optional)
    parameters = SurveyParameters()
    planned = len(survey.DEPTHS) * (1 + there) * drawn
    per_call = parameters.papers_per_call
    judged = len(survey.DEPTHS) * there * drawn * survey.PAPERS_JUDGED / per_call
    plan_tokens = parameters.maximum_sub_questions * GRADE_TOKENS
    reviewed = (request.data / VIS_FILE).is_file() * min(drawn, REVIEWED_CASES)
    return (
        (1 + there) * drawn,
        [],
        [
            Asking(SURVEY_PLAN, planned, QUESTION_TOKENS, plan_tokens),
            Asking(
                SURVEY_RELEVANCE,
                judged,
                QUESTION_TOKENS + per_call * WORK_TOKENS,
                per_call * GRADE_TOKENS,
            ),
            *_written_surveys(reviewed),
        ],
    )


def _written_surveys(questions: int) -> Iterator[Asking]:
    """Surveys of so many questions at both depths; their searches and relevance were asked for."""
    bounds = review_parameters(WITH_HOPS, survey.PAPERS_JUDGED, survey.PAPERS_KEPT)
    expected = expected_survey(bounds, full_text=False)
    written = 2.0 * questions
    for step in SURVEY_STEPS:
        if step not in (SURVEY_PLAN, SURVEY_RELEVANCE):
            asked = expected[step.name]
            shown = QUESTION_TOKENS + asked.data_tokens / asked.calls
            calls = written * asked.calls
            yield Asking(step, calls, shown, asked.answer_tokens / asked.calls)
    length = bounds.maximum_sections * bounds.words_per_section * TOKENS_PER_WORD
    yield Asking(JUDGE_SURVEY, written, QUESTION_TOKENS + length, 5 * GRADE_TOKENS)


def _ask(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    """Every expert's question, and where an engine writes the drawn ones with criteria."""
    experts = request.item_limit or len(answer_cases(request.data / ANSWERS_FILE))
    rubrics = 0
    if (request.data / RUBRICS_FILE).is_file() and not request.engine.is_baseline:
        rubrics = request.item_limit or ask.RUBRIC_CASES
    expected = expected_survey(answer_parameters(), full_text=False)
    asked = []
    for step in ANSWER_STEPS:
        each = expected[step.name]
        calls = (experts + rubrics) * each.calls
        shown = QUESTION_TOKENS + each.data_tokens / each.calls
        asked.append(Asking(step, calls, shown, each.answer_tokens / each.calls))
    length = answer_parameters().words_per_answer * TOKENS_PER_WORD
    criteria = ask.CRITERIA_PER_QUESTION * GRADE_TOKENS
    asked.append(Asking(JUDGE_ANSWER, rubrics, QUESTION_TOKENS + length + criteria, criteria))
    return experts + rubrics, [], asked


def _ideation(request: BenchmarkRequest, _: Sequence[Module]) -> Counted:
    """Both orders of each bundled idea, and of each idea of the run that has a later version."""
    bundled_ideas = read_ideas(bundled("ideas.jsonl"), default_cutoff=None).ideas
    texts = [idea.text for idea in bundled_ideas][: request.item_limit]
    if request.evaluated_run is not None:
        contests = ideation.versions_of(request, Settings()).contests
        texts += [contest.last.text for contest in contests]
    shown = 2 * sum(map(len, texts)) / CHARACTERS_PER_TOKEN / len(texts)
    said = len(ideation.ASKED) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return len(texts), [], [Asking(COMPARE_IDEAS, 2.0 * len(texts), shown, said)]


_COUNTS: Mapping[str, Callable[[BenchmarkRequest, Sequence[Module]], Counted]] = {
    "coverage": _coverage,
    "novelty": _novelty,
    "decisions": _decisions,
    "pairs": _pairs,
    "groups": _groups,
    "critical_problems": _critical_problems,
    "injected_errors": _injected_errors,
    "survey": _survey,
    "ask": _ask,
    "ideation": _ideation,
}
"""Suites that ask an engine; `agreement` asks none."""
