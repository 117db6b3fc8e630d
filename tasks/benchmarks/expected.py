"""What a suite will ask of its engine, before it is paid for: calls, tokens and dollars.

Counts of items are those of the data; sizes of what a model writes are expected ones, so that a
paid run may differ by half. A rerun asks only what has no answer yet, and replies to equal
questions come from the cache: both cost less than is said here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from schemas.idea import Idea
from schemas.judgement.benchmark import (
    ANOTHER_IDEAS,
    PROMPT_ONLY,
    PROMPT_WITH_SEARCH,
    SubmissionText,
)
from schemas.literature.survey import SurveyParameters
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
from tasks.benchmarks.suite import sample_file
from tasks.benchmarks.suites import ask, ideation, injected_errors, survey
from tasks.benchmarks.suites.problems_judging import DEFAULT_CHECK_COUNT
from tasks.benchmarks.suites.survey_reviews import REVIEWED_CASES, WITH_HOPS, review_parameters
from tasks.benchmarks.survey_sets import VIS_FILE
from tasks.benchmarks.trial import SuiteData
from tasks.ideas.read import read_ideas
from tasks.judging.expected import CHARACTERS_PER_TOKEN, Asked, StepsAsked
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
from tasks.survey.steps import SURVEY_PLAN, SURVEY_RELEVANCE
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


class Counted(NamedTuple):
    """What one suite is made of.

    Attributes:
        items: ideas, submissions, pairs, groups or checks.
        ideas: that modules would evaluate.
        asked: what the suite itself asks.
    """

    items: int
    ideas: Sequence[Idea]
    asked: Sequence[Asking]


def count(data: SuiteData) -> Counted:
    """Count what a suite asks, from its data.

    Raises:
        ConfigurationError: its data do not fit.
    """
    counts = _COUNTS.get(data.unit.suite)
    return Counted(0, (), ()) if counts is None else counts(data)


def asked_by(counted: Counted) -> Iterator[StepsAsked]:
    """Yield what the steps of a suite ask."""
    for one in counted.asked:
        shown, said = one.calls * one.shown, one.calls * one.said
        yield {one.step: Asked(one.calls, shown, said, first_calls=one.first_calls)}


def _tokens(ideas: Sequence[Idea]) -> float:
    return sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)


def _share(count: int, data: SuiteData) -> float:
    """Of a set that `--limit` leaves."""
    return min(1.0, (data.parameters.item_limit or count) / count) if count else 0.0


def _coverage(data: SuiteData) -> Counted:
    entries = review_sets.read_scholarideas(data.data / review_sets.SCHOLARIDEAS_FILE)
    share = _share(len(entries), data)
    ideas = [entry.idea for entry in entries][: round(share * len(entries))]
    rubrics, shown = share * sum(len(entry.rubrics) for entry in entries), _tokens(ideas)
    searched = PAPERS_SEARCHED * WORK_TOKENS
    systems = 1 + len(data.parameters.baselines)
    written = [name for name in data.parameters.baselines if name != ANOTHER_IDEAS]
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
    return Counted(len(ideas), ideas, asked)


def _novelty(data: SuiteData) -> Counted:
    rows = novelty_sets.read_novelty_checker(data.data / novelty_sets.NOVELTY_CHECKER_FILE)
    given = [
        (row.idea, len(row.works)) for row in rows[: round(_share(len(rows), data) * len(rows))]
    ]
    graded = 0
    for name in (novelty_sets.GOLD, novelty_sets.TRAINING):
        if (path := data.data / name).is_file():
            gold = novelty_sets.read_gold(path)
            kept = gold[: round(_share(len(gold), data) * len(gold))]
            given += [(one.idea, len(one.works)) for one in kept]
            graded += len(kept) if name == novelty_sets.GOLD else 0
    works = sum(count for _, count in given) / max(len(given), 1)
    shown = _tokens([idea for idea, _ in given])
    asked = [Asking(JUDGE_NOVELTY, len(given), shown + works * WORK_TOKENS, JUDGEMENT_TOKENS)]
    asked += [
        Asking(step, 2.0 * graded, shown + works * WORK_TOKENS, 3 * GRADE_TOKENS)
        for step in GRADING
    ]
    return Counted(len(given), [], asked)


def _decisions(data: SuiteData) -> Counted:
    found = innoeval.unique_ideas(innoeval.read_points(data.data / innoeval.POINTS_FILE))
    ideas = _written_out(found[: round(_share(len(found), data) * len(found))], data)
    return Counted(len(ideas), ideas, [])


def _written_out(ideas: list[Idea], data: SuiteData) -> list[Idea]:
    """From full papers each is as long as it may be; none is read for a plan."""
    if data.parameters.text is SubmissionText.ABSTRACT:
        return ideas
    return [as_long_as_a_paper(idea) for idea in ideas]


def _pairs(data: SuiteData) -> Counted:
    contests = []
    for difficulty, name in innoeval.PAIR_FILES.items():
        pairs = innoeval.read_pairs(data.data / name, difficulty)
        contests += [
            (pair.first, pair.second)
            for pair in pairs[: round(_share(len(pairs), data) * len(pairs))]
        ]
    return _matches(contests, data)


def _groups(data: SuiteData) -> Counted:
    groups = innoeval.read_groups(data.data / innoeval.GROUPS_FILE)
    return _matches(
        [group.members for group in groups[: round(_share(len(groups), data) * len(groups))]],
        data,
    )


def _matches(contests: Sequence[Sequence[innoeval.Submission]], data: SuiteData) -> Counted:
    ideas = _written_out(
        innoeval.unique_ideas(one for members in contests for one in members), data
    )
    meetings = sum(len(members) * (len(members) - 1) // 2 for members in contests)
    systems = 1 + (bool(data.parameters.modules) and PROMPT_ONLY in data.parameters.baselines)
    calls = float(meetings * systems * (2 if data.request.profile.ranking.both_orders else 1))
    said = len(compared_along(DIMENSIONS)) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return Counted(len(contests), ideas, [Asking(COMPARE_IDEAS, calls, 2 * _tokens(ideas), said)])


def _critical_problems(data: SuiteData) -> Counted:
    folder = data.data / "withdrarxiv"
    checks, problems = (
        pq.read_metadata(folder / f"{name}.parquet").num_rows for name in ("checks", "problems")
    )
    drawn = min(data.parameters.item_limit or DEFAULT_CHECK_COUNT, checks)
    return Counted(
        drawn,
        [],
        [Asking(JUDGE_HIT, drawn * problems / max(checks, 1), PROBLEM_TOKENS, GRADE_TOKENS)],
    )


def _injected_errors(data: SuiteData) -> Counted:
    """Each text as it was, and its twins."""
    texts = len(manuscript_places(data.data))
    read = round(_share(texts, data) * texts) * (1 + injected_errors.twin_count(data.request))
    said = injected_errors.MAXIMUM_PROBLEMS / 2 * PROBLEM_TOKENS
    asked = [Asking(FIND_PROBLEMS, read, MANUSCRIPT_TOKENS, said)]
    if not data.request.engine.is_baseline:
        sections = read * MANUSCRIPT_TOKENS / SECTION_TOKENS
        noted = 2 * NOTES_WORDS
        asked.append(Asking(READ_SECTION, sections, SECTION_TOKENS + noted, noted + PROBLEM_TOKENS))
        looks = read * injected_errors.MAXIMUM_PROBLEMS / 2
        asked.append(Asking(REFUTE_PROBLEM, looks, PASSAGES_TOKENS, GRADE_TOKENS))
        aspects = read * (len(Aspect) - 1)  # nobody judges novelty where nothing is looked up
        asked.append(Asking(REVIEW_ASPECT, aspects, noted + 2 * PASSAGES_TOKENS, PROBLEM_TOKENS))
        asked.append(Asking(WRITE_REVIEW, read, 2 * noted, noted))
    return Counted(read, [], asked)


def _survey(data: SuiteData) -> Counted:
    """As many questions of each set as may be drawn; relevance in the generated one is known."""
    drawn = data.parameters.item_limit or survey.CASES_PER_SET
    there = sum((data.data / name).is_file() for name in survey.SUITE.optional)
    parameters = SurveyParameters()
    planned = len(survey.DEPTHS) * (1 + there) * drawn
    per_call = parameters.papers_per_call
    judged = len(survey.DEPTHS) * there * drawn * survey.PAPERS_JUDGED / per_call
    plan_tokens = parameters.maximum_sub_questions * GRADE_TOKENS
    reviewed = (data.data / VIS_FILE).is_file() * min(drawn, REVIEWED_CASES)
    return Counted(
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


def _ask(data: SuiteData) -> Counted:
    """Every expert's question, and where an engine writes the drawn ones with criteria."""
    experts = data.parameters.item_limit or len(answer_cases(data.data / ANSWERS_FILE))
    rubrics = 0
    if (data.data / RUBRICS_FILE).is_file() and not data.request.engine.is_baseline:
        rubrics = data.parameters.item_limit or ask.RUBRIC_CASES
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
    return Counted(experts + rubrics, [], asked)


def _ideation(data: SuiteData) -> Counted:
    """Both orders of each bundled idea, and of each idea of the run that has a later version."""
    bundled_ideas = read_ideas(sample_file("ideas.jsonl"), default_cutoff=None).ideas
    texts = [idea.text for idea in bundled_ideas][: data.parameters.item_limit]
    if data.parameters.evaluated_run is not None:
        contests = ideation.versions_of(data.request, data.settings).contests
        texts += [contest.last.text for contest in contests]
    shown = 2 * sum(map(len, texts)) / CHARACTERS_PER_TOKEN / len(texts)
    said = len(ideation.ASKED) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return Counted(len(texts), [], [Asking(COMPARE_IDEAS, 2.0 * len(texts), shown, said)])


_COUNTS: Mapping[str, Callable[[SuiteData], Counted]] = {
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
