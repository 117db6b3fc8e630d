"""Estimates of the requests, calls, tokens, dollars and hours of a run.

`tests/tasks/evaluation/test_estimate_against_a_run.py` checks that estimates are within 15 % of a
run whose model and literature behave as expected here; `python -m tests.benchmarks requests_and_tokens`
measures real ideas. The numbers of methods, dimensions and relevant papers and the lengths of
unbounded replies depend on the model: they were measured with ScholarEval's released code.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from schemas.base import Noun, replace
from schemas.idea import Idea
from schemas.judgement.contribution import CLOSEST_SHOWN
from schemas.judgement.run_request import RunRequest
from schemas.profile import ContributionParameters, RecommendationKind, SearchKind
from schemas.run import Module
from schemas.settings import LanguageModelSettings, Settings
from tasks.assessment.material import expected_assessment
from tasks.committee.knowledge.tools import LITERATURE
from tasks.committee.planning import IDEA_TOKENS_SHOWN, expected_committee
from tasks.evaluation.preparation import expected_preparation
from tasks.evaluation.steps import STEPS
from tasks.evaluation.surveyed_literature import IDEA_SURVEY
from tasks.judging.batches.expected import BatchEstimate, estimate_batches
from tasks.judging.expected import (
    CHARACTERS_PER_TOKEN,
    CallsByStep,
    ExpectedCalls,
    StepEstimate,
    add_calls,
    estimate_step,
    total_usd,
    unpriced,
)
from tasks.judging.step import Step
from tasks.judging.steps import VERIFY_CITATIONS
from tasks.judging.verifying import CLAIMS_PER_CALL, WORDS_PER_SOURCE
from tasks.literature.edges import MOST_SEEDS_PER_REQUEST
from tasks.literature.gateway.messages import LARGEST_BATCH
from tasks.novelty.expected import expected_novelty
from tasks.recommendation.steps import expected_resources
from tasks.survey.expected import expected_requests, expected_survey

TOKENS_PER_WORD = 1.7
"""Mean characters / 4 per word in real ideas and abstracts."""
ABSTRACT_TOKENS = 290
"""Mean of 87,106 abstracts, which have 1,144 characters on average."""
TITLE_TOKENS = 35
"""Title, key and tags of a paper in a prompt."""
ENTRY_TOKENS = 18
"""Keys, names and brackets of one entry of a reply."""
DIMENSION_TOKENS = 120
"""Name and statements of one dimension."""
METHOD_TOKENS = 90
QUERY_TOKENS = 45
EXPECTED_ELEMENTS, ELEMENT_TOKENS = 10, 75
"""Elements that a plan rests on: a sentence of twenty words, its quote and field names."""
CONCERN_WORDS, CONCERN_QUOTE_WORDS = 90, 14
EXPECTED_STRENGTHS_SHARE = 0.33
QUESTION_TOKENS = 45
"""A question in the plan's review, with its quote."""
RESOURCE_LINE_TOKENS = 25
"""A data set, baseline or metric in the prompt of the plan's review."""
CONCERN_SHOWN_TOKENS = 45
"""A concern in the prompt of `concern_evidence`: key and one sentence."""
EXPECTED_BEARINGS, BEARING_WORDS = 6, 25
"""Concerns supported or weakened by the evidence."""
COMPARED_ENTRY_TOKENS = 19
"""Name, overlap and score of one dimension of a comparison."""
EXPECTED_ADDRESSED_SHARE = 0.6
"""Share of compared abstracts that address a dimension."""
EXPECTED_OVERLAPPING_SHARE = 0.2
"""Share of compared papers with a quoted overlap."""
EXPECTED_SUGGESTIONS, SUGGESTION_TOKENS = 2, 120
"""Suggestions of one review; each has four texts with field names."""
EXPECTED_CORRECTED_SHARE = 0.15
VERIFIED_SENTENCE_WORDS = 25
"""Words of a cited sentence; a call checks forty, with the texts of some twenty papers."""
EXPECTED_METHODS = 7
EXPECTED_DIMENSIONS = 4
EXPECTED_STATEMENTS_PER_DIMENSION = 2
"""ScholarEval's released code on five ideas finds 6 to 8 methods and 5 to 11 statements each."""
EXPECTED_RELEVANT_SHARE = 0.38
EXPECTED_NEW_PER_QUERY_SHARE = 0.8
EXPECTED_CITED_PER_PASSAGE = 1.2
EXPECTED_FULL_TEXT_SHARE = 0.8
SECTION_WORDS = 1_400
EXPECTED_WITHOUT_ABSTRACT_SHARE = 0.5
FINDING_WORDS, REVIEW_WORDS, SUMMARY_WORDS = 100, 190, 30
RATIONALE_WORDS, COMPARISON_WORDS, SECTION_OF_REVIEW_WORDS = 45, 45, 140
SECONDS_UNTIL_ANSWER = 2.0
TOKENS_PER_SECOND = 60.0
"""Output speed of one call, thinking included, by larger models of the big providers."""


@dataclass(frozen=True, slots=True)
class DoneBefore:
    """Part of a request that earlier runs have done.

    Attributes:
        evaluated: ideas with a complete evaluation, which is reused.
        replies: number of cached model replies of each incomplete idea.
        interrupted: started ideas without landed results.
        ranked: whether a complete ranking by matches exists.
    """

    evaluated: int = 0
    replies: tuple[int, ...] = ()
    interrupted: int = 0
    ranked: bool = False

    def left_of(self, idea_count: int, calls_per_idea: float) -> float:
        """Return the number of ideas to pay for.

        Incomplete ideas count by their missing calls.
        """
        done_share = sum(min(count / calls_per_idea, 1.0) for count in self.replies if count)
        return max(idea_count - self.evaluated - done_share, 0.0)


NOTHING_DONE = DoneBefore()


class Estimate(Noun):
    """Estimate of the rest of a run. `cost_usd` is None when a price is unknown, 0 without a model
    or where all is done.
    """

    ideas: int
    evaluated: int = Field(
        default=0, description="Of the ideas, evaluated before: they cost nothing."
    )
    partly_evaluated: int = Field(
        default=0,
        description="Of the ideas, begun before; the replies that they had are not paid again.",
    )
    not_covered: int = Field(
        default=0,
        description="Of the ideas, outside the literature's fields: no evidence is bought.",
    )
    rejected: int
    literature_requests: int
    model_calls: int
    prompt_tokens: int
    cached_tokens: int = Field(
        description="Of the prompt tokens, expected from the provider's cache."
    )
    completion_tokens: int = Field(description="As they are billed: answers and thinking.")
    thinking_tokens: int = Field(description="Of the completion tokens.")
    cost_usd: float | None
    cost_usd_per_idea: float | None
    unpriced_models: tuple[str, ...] = Field(description="Models whose price is unknown.")
    hours: float
    bound_by: str = Field(
        description=(
            "What the hours are spent waiting for: literature rate, model, model rate, or"
            " processor."
        )
    )
    steps: tuple[StepEstimate, ...] = Field(description="Of one idea.")
    batches: BatchEstimate | None = Field(
        default=None, description="None: questions are asked by calls."
    )


def estimate_run(
    ideas: Sequence[Idea],
    rejected: int,
    request: RunRequest,
    settings: Settings,
    done: DoneBefore = NOTHING_DONE,
    *,
    not_covered: int = 0,
) -> Estimate:
    """Estimate a run over `ideas`, without the part that is `done`.

    Args:
        not_covered: ideas whose field the literature does not cover.
    """
    idea_tokens = sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)
    has_cutoffs = any(idea.cutoff_date is not None for idea in ideas)
    counts, requests = _per_idea(request, settings, has_cutoffs=has_cutoffs)
    counts |= {
        step.name: ExpectedCalls(
            *(each / len(ideas) for each in (one.calls, one.data_tokens, one.answer_tokens))
        )
        for step, one in expected_preparation(ideas).items()
    }
    steps = _steps(counts, request, idea_tokens, settings)
    count = done.left_of(len(ideas), sum(step.calls for step in steps))
    # The done ideas are unknown here: assume that uncovered ideas are spread evenly over them.
    uncovered_count = count * not_covered / max(len(ideas), 1)
    uncovered_steps = (
        _outside_the_field(request, idea_tokens, settings, has_cutoffs=has_cutoffs)
        if uncovered_count
        else ()
    )
    groups = [
        (size, each)
        for size, each in ((count - uncovered_count, steps), (uncovered_count, uncovered_steps))
        if size
    ]

    def total_of(field: str) -> int:
        total: float = sum(
            size * sum(getattr(step, field) for step in each) for size, each in groups
        )
        return round(total)

    costs = [(size, total_usd(step.cost_usd for step in each)) for size, each in groups]
    requests *= count - uncovered_count
    hours, bound_by = _hours(count - uncovered_count, requests, steps, request, settings)
    return Estimate(
        ideas=len(ideas),
        not_covered=not_covered,
        evaluated=done.evaluated,
        partly_evaluated=len(done.replies),
        rejected=rejected,
        literature_requests=round(requests),
        model_calls=total_of("calls"),
        prompt_tokens=total_of("prompt_tokens"),
        cached_tokens=total_of("cached_tokens"),
        completion_tokens=total_of("completion_tokens"),
        thinking_tokens=total_of("thinking_tokens"),
        cost_usd=total_usd(None if cost is None else size * cost for size, cost in costs),
        cost_usd_per_idea=total_usd(step.cost_usd for step in steps),
        unpriced_models=unpriced(steps),
        hours=hours,
        bound_by=bound_by,
        steps=steps,
        batches=estimate_batches(request.parameters.modules, steps if count else ())
        if request.parameters.batch
        else None,
    )


def calls_for_ideas(
    ideas: Sequence[Idea], request: RunRequest, settings: Settings
) -> tuple[CallsByStep, float]:
    """Return (expected calls by step, literature requests) of new ideas."""
    count, steps_by_name = len(ideas), {step.name: step for step in STEPS}
    idea_tokens = sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(count, 1)
    has_cutoffs = any(idea.cutoff_date is not None for idea in ideas)
    counts, requests = _per_idea(request, settings, has_cutoffs=has_cutoffs)
    calls_by_step = {}
    for name, each in counts.items():
        idea_tokens_shown = _idea_tokens_shown(steps_by_name[name], idea_tokens)
        if each.most_idea_tokens is not None:
            idea_tokens_shown = min(idea_tokens_shown, each.most_idea_tokens)
        calls_by_step[steps_by_name[name]] = ExpectedCalls(
            count * each.calls,
            count * (each.data_tokens + each.calls * idea_tokens_shown),
            count * each.answer_tokens,
            each.shared_tokens + idea_tokens_shown,
            None if each.first_calls is None else count * each.first_calls,
        )
    return {**calls_by_step, **expected_preparation(ideas)}, count * requests


def _per_idea(
    request: RunRequest, settings: Settings, *, has_cutoffs: bool
) -> tuple["Counts", float]:
    """Return (expected calls by step, literature requests) of one idea."""
    profile, modules = request.profile, request.parameters.modules
    parts: list[tuple[Counts, float]] = []
    if Module.SOUNDNESS in modules:
        parts.append(_soundness(request))
    if Module.CONTRIBUTION in modules:
        parts.append(_contribution(request))
    if request.parameters.survey:
        survey_requests = expected_requests(IDEA_SURVEY, unlimited=request.literature.unlimited)
        parts.append((expected_survey(IDEA_SURVEY, full_text=False), survey_requests))
    if Module.COMMITTEE in modules:
        parts.append(
            expected_committee(
                profile.committee, settings, dated=has_cutoffs, full_text=request.full_text
            )
        )
    if Module.NOVELTY in modules:
        parts.append(expected_novelty(profile.novelty))
    if Module.ASSESSMENT in modules:
        parts.append((_assessment(request), 0.0))
    parts.append((expected_resources(profile.resources), 0.0))
    counts: Counts = {}
    name = VERIFY_CITATIONS.name
    for part, _ in parts:
        both = [each[name] for each in (counts, part) if name in each]
        counts |= part
        if len(both) > 1:  # two modules verify their citations
            counts[name] = add_calls({VERIFY_CITATIONS: each} for each in both)[VERIFY_CITATIONS]
    return counts, sum(requests for _, requests in parts)


def _outside_the_field(
    request: RunRequest, idea_tokens: float, settings: Settings, *, has_cutoffs: bool
) -> tuple[StepEstimate, ...]:
    """Return the calls of an idea in an uncovered field.

    These are the plan's review, the committee with other sources, and the assessment.
    """
    counts: Counts = {}
    if Module.SOUNDNESS in request.parameters.modules:
        soundness = _soundness(request)[0]
        names = ("plan_review", "plan_questions")
        counts |= {name: soundness[name] for name in names if name in soundness}
    if Module.COMMITTEE in request.parameters.modules:
        parameters = request.profile.committee
        others = tuple(name for name in parameters.sources if name != LITERATURE)
        counts |= expected_committee(
            replace(parameters, sources=others),
            settings,
            dated=has_cutoffs,
            full_text=request.full_text,
        )[0]
    if Module.ASSESSMENT in request.parameters.modules:
        counts |= _assessment(request, is_covered=False)
    return _steps(counts, request, idea_tokens, settings)


def _steps(
    counts: "Counts", request: RunRequest, idea_tokens: float, settings: Settings
) -> tuple[StepEstimate, ...]:
    steps_by_name = {step.name: step for step in STEPS}
    steps = [
        estimate_step(
            steps_by_name[name],
            calls,
            _idea_tokens_shown(steps_by_name[name], idea_tokens),
            request.profile.judging,
            request.engine,
            settings.language_model,
            by_batch=request.parameters.batch,
        )
        for name, calls in counts.items()
    ]
    return tuple(step for step in steps if step is not None)


def _verification(text_tokens: float, reviews: float, papers: float) -> "Counts":
    """Return the calls that verify reviews.

    Each has two texts of `text_tokens`; together they cite at most `papers`.
    """
    sentences = reviews * 2 * max(round(text_tokens / TOKENS_PER_WORD / VERIFIED_SENTENCE_WORDS), 1)
    sentence_tokens = sentences * (VERIFIED_SENTENCE_WORDS * TOKENS_PER_WORD + ENTRY_TOKENS)
    texts = min(papers, sentences) * (WORDS_PER_SOURCE * TOKENS_PER_WORD + TITLE_TOKENS)
    corrections = EXPECTED_CORRECTED_SHARE * VERIFIED_SENTENCE_WORDS * TOKENS_PER_WORD
    return {
        VERIFY_CITATIONS.name: ExpectedCalls(
            math.ceil(sentences / CLAIMS_PER_CALL),
            sentence_tokens + texts,
            sentences * (ENTRY_TOKENS + corrections),
        )
    }


def _idea_tokens_shown(step: Step[Any, Any], idea_tokens: float) -> float:
    if not {"idea", "question"} & step.input_model.model_fields.keys():
        return IDEA_TOKENS_SHOWN.get(step.name, 0.0)
    return IDEA_TOKENS_SHOWN.get(step.name, idea_tokens)


Counts = dict[str, ExpectedCalls]
"""Expected calls of one idea by step, in order of work."""


def _soundness(request: RunRequest) -> tuple[Counts, float]:
    parameters = request.profile.soundness
    methods = min(parameters.maximum_methods, EXPECTED_METHODS)
    papers = min(parameters.papers_per_method, _papers_named(request))
    readings = methods * math.ceil(papers / parameters.papers_per_reading_call)
    paper = _paper_tokens(request)
    relevant = methods * papers * EXPECTED_RELEVANT_SHARE
    finding = 3 * _tokens(parameters.words_per_finding, FINDING_WORDS)
    text = _tokens(parameters.words_per_review_text, REVIEW_WORDS)
    review = 2 * text + EXPECTED_SUGGESTIONS * SUGGESTION_TOKENS
    alike, failures = parameters.queries_per_method, int(parameters.search_failures)
    query = parameters.query_word_limit * TOKENS_PER_WORD + ENTRY_TOKENS / 2
    points = parameters.maximum_points
    most_idea_tokens = _idea_tokens(parameters.idea_word_limit)
    point = _tokens(parameters.words_per_concern, CONCERN_WORDS) + (
        CONCERN_QUOTE_WORDS * TOKENS_PER_WORD + 3 * ENTRY_TOKENS
    )
    concern_tokens = points * (1 - EXPECTED_STRENGTHS_SHARE) * CONCERN_SHOWN_TOKENS
    bearing_tokens = EXPECTED_BEARINGS * (BEARING_WORDS * TOKENS_PER_WORD + ENTRY_TOKENS)
    resource_tokens = parameters.resources_shown * RESOURCE_LINE_TOKENS
    questions_tokens = parameters.maximum_questions * QUESTION_TOKENS
    plan_calls: Counts = {
        "plan_review": ExpectedCalls(1, resource_tokens, points * point),
        "plan_questions": ExpectedCalls(1, 0, questions_tokens),
    }
    counts: Counts = {
        "extract_methods": ExpectedCalls(
            1, 0, methods * METHOD_TOKENS + EXPECTED_ELEMENTS * ELEMENT_TOKENS
        ),
        **(plan_calls if points else {}),
        "soundness_query": ExpectedCalls(
            math.ceil(methods / parameters.methods_per_query_call),
            methods * METHOD_TOKENS,
            methods * (alike + failures) * min(QUERY_TOKENS, query),
        ),
        "method_evidence": ExpectedCalls(
            readings,
            readings * METHOD_TOKENS + methods * papers * (paper + TITLE_TOKENS),
            relevant * finding + methods * papers * ENTRY_TOKENS,
            first_calls=1,
            most_idea_tokens=most_idea_tokens,
        ),
        "soundness_review": ExpectedCalls(
            methods,
            methods * METHOD_TOKENS + relevant * (finding + 2 * TITLE_TOKENS),
            methods * (review + text / 2 + ENTRY_TOKENS),
            most_idea_tokens=most_idea_tokens,
        ),
    }
    if points:
        counts["concern_evidence"] = ExpectedCalls(
            1, concern_tokens + methods * (2 * text + METHOD_TOKENS), bearing_tokens
        )
    if parameters.summarise:
        counts["soundness_summary"] = ExpectedCalls(
            1, methods * (review + METHOD_TOKENS), 9 * _tokens(None, SUMMARY_WORDS)
        )
    if parameters.verify_citations:
        counts |= _verification(text, methods, relevant)
    searches = failures + (alike if request.literature.unlimited else 1)
    return counts, 2.0 * methods * searches


def _assessment(request: RunRequest, *, is_covered: bool = True) -> Counts:
    """Return the calls of the assessment.

    An uncovered idea has no evidence, only a plan review.
    """
    soundness, modules = request.profile.soundness, request.parameters.modules
    is_reviewed = Module.SOUNDNESS in modules
    return expected_assessment(
        request.profile.assessment,
        concerns=soundness.maximum_points if is_reviewed else 0,
        questions=soundness.maximum_questions if is_reviewed and soundness.maximum_points else 0,
        methods=min(soundness.maximum_methods, EXPECTED_METHODS)
        if is_reviewed and is_covered
        else 0,
        compared=is_covered and (Module.CONTRIBUTION in modules or Module.NOVELTY in modules),
    )


def _papers_named(request: RunRequest) -> float:
    """Return the number of papers to read for a method's passages.

    A snapshot's passages have no citations and contribute their own paper.
    """
    parameters = request.profile.soundness
    if request.literature.snapshot is not None:
        return parameters.snippets_per_method
    passage_papers = parameters.snippets_per_method if parameters.include_passage_papers else 0
    return passage_papers + parameters.snippets_per_method * EXPECTED_CITED_PER_PASSAGE


def _idea_tokens(word_limit: int | None) -> float | None:
    return None if word_limit is None else word_limit * TOKENS_PER_WORD


def _abstract_tokens(word_limit: int | None) -> float:
    limit = ABSTRACT_TOKENS if word_limit is None else word_limit * TOKENS_PER_WORD
    return min(ABSTRACT_TOKENS, limit)


def _paper_tokens(request: RunRequest) -> float:
    """Return the tokens of a paper to read.

    These are its abstract and, with full texts, methods and results.
    """
    if not request.full_text:
        return ABSTRACT_TOKENS
    section_words = min(request.profile.soundness.section_word_limit, SECTION_WORDS)
    return ABSTRACT_TOKENS + EXPECTED_FULL_TEXT_SHARE * 2 * section_words * TOKENS_PER_WORD


def _contribution(request: RunRequest) -> tuple[Counts, float]:
    parameters = request.profile.contribution
    dimensions = min(parameters.maximum_dimensions, EXPECTED_DIMENSIONS)
    statements = dimensions * EXPECTED_STATEMENTS_PER_DIMENSION
    queries = statements * parameters.queries_per_statement
    papers_found = queries * parameters.papers_per_query * EXPECTED_NEW_PER_QUERY_SHARE
    first = min(papers_found, parameters.maximum_judged_papers)
    seeds = min(first * EXPECTED_RELEVANT_SHARE, parameters.maximum_seeds)
    second = _second_pass(parameters, first)
    papers_compared = min(parameters.papers_compared, (first + second) * EXPECTED_RELEVANT_SHARE)
    closest = min(parameters.closest_papers, papers_compared)
    comparisons = sum(
        math.ceil(each / parameters.papers_per_comparison_call)
        for each in (closest, papers_compared - closest)
    )
    query_calls = math.ceil(dimensions / parameters.dimensions_per_query_call)
    most_idea_tokens = _idea_tokens(parameters.idea_word_limit)
    comparison = _comparison_tokens(parameters, closest, papers_compared)
    addressed_papers = papers_compared * EXPECTED_ADDRESSED_SHARE
    text = _tokens(parameters.words_per_review_text, SECTION_OF_REVIEW_WORDS)
    closest_tokens = min(CLOSEST_SHOWN, addressed_papers) * (
        ABSTRACT_TOKENS + 2 * comparison + TITLE_TOKENS
    )
    quote_tokens = 2 * comparison + CONCERN_QUOTE_WORDS * TOKENS_PER_WORD
    counts: Counts = {
        "extract_dimensions": ExpectedCalls(1, 0, dimensions * DIMENSION_TOKENS),
        "contribution_queries": ExpectedCalls(
            query_calls, dimensions * DIMENSION_TOKENS, queries * QUERY_TOKENS / 2
        ),
        "relevance": _relevance(parameters, first, second),
        "compare_paper": ExpectedCalls(
            comparisons,
            comparisons * dimensions * DIMENSION_TOKENS
            + papers_compared * (ABSTRACT_TOKENS + TITLE_TOKENS),
            papers_compared
            * (
                (1 + dimensions * EXPECTED_ADDRESSED_SHARE) * comparison
                + dimensions * COMPARED_ENTRY_TOKENS
                + EXPECTED_OVERLAPPING_SHARE * quote_tokens
                + ENTRY_TOKENS
            ),
            shared_tokens=dimensions * DIMENSION_TOKENS,
            first_calls=1,
            most_idea_tokens=most_idea_tokens,
        ),
        "contribution_review": ExpectedCalls(
            dimensions,
            dimensions
            * (
                DIMENSION_TOKENS
                + addressed_papers * (comparison + 2 * TITLE_TOKENS)
                + closest_tokens
            ),
            dimensions * (2 * text + EXPECTED_SUGGESTIONS * SUGGESTION_TOKENS),
            most_idea_tokens=most_idea_tokens,
        ),
    }
    if parameters.verify_citations:
        counts |= _verification(text, dimensions, papers_compared)
    return counts, _searches(parameters, dimensions, queries) + _neighbours(request, seeds)


def _relevance(parameters: ContributionParameters, first: float, second: float) -> ExpectedCalls:
    """Return the calls of both passes.

    With a word limit only relevant papers get a rationale.
    """
    per_call, paper_count = parameters.papers_per_relevance_call, first + second
    words = parameters.abstract_word_limit
    second_words = parameters.second_pass_word_limit or words
    rationales = (
        paper_count
        if parameters.words_per_rationale is None
        else paper_count * EXPECTED_RELEVANT_SHARE
    )
    return ExpectedCalls(
        math.ceil(first / per_call) + math.ceil(second / per_call),
        first * _abstract_tokens(words)
        + second * _abstract_tokens(second_words)
        + paper_count * TITLE_TOKENS,
        rationales * _tokens(parameters.words_per_rationale, RATIONALE_WORDS)
        + paper_count * ENTRY_TOKENS,
        first_calls=1,
        most_idea_tokens=_idea_tokens(parameters.idea_word_limit),
    )


def _comparison_tokens(
    parameters: ContributionParameters, closest_count: float, compared_count: float
) -> float:
    """Return the mean tokens of a comparison, over all compared papers."""
    near_tokens = closest_count * _tokens(parameters.words_per_closest_comparison, COMPARISON_WORDS)
    other_tokens = (compared_count - closest_count) * _tokens(
        parameters.words_per_comparison, COMPARISON_WORDS
    )
    return (near_tokens + other_tokens) / (compared_count or 1)


def _second_pass(parameters: ContributionParameters, first: float) -> float:
    """Return the expected number of papers in the second pass.

    It depends on the expected share of relevant ones.
    """
    most = parameters.embedding_top
    if parameters.second_pass_margin is None:
        return most
    missing = max(parameters.papers_compared - first * EXPECTED_RELEVANT_SHARE, 0)
    expected_need = parameters.second_pass_margin * missing / EXPECTED_RELEVANT_SHARE
    return min(most, max(expected_need, most / 3))


def _searches(parameters: ContributionParameters, dimensions: float, queries: float) -> float:
    by_kind = {
        SearchKind.RELEVANCE: queries,
        SearchKind.PACKED: dimensions,
        SearchKind.BULK: parameters.maximum_bulk_requests,
    }
    return float(by_kind[parameters.search])


def _neighbours(request: RunRequest, seeds: float) -> float:
    """Return requests for recommendations, references, and abstracts missing in reference lists."""
    parameters = request.profile.contribution
    requests = 0.0
    if parameters.recommendations_per_seed:
        is_pooled = parameters.recommendations is RecommendationKind.POOLED
        requests += (
            math.ceil(seeds / parameters.seeds_per_recommendation_request) if is_pooled else seeds
        )
    if parameters.references_per_seed:
        requests += math.ceil(seeds / MOST_SEEDS_PER_REQUEST)
        if request.literature.snapshot is None:
            requests += math.ceil(
                seeds
                * parameters.references_per_seed
                * EXPECTED_WITHOUT_ABSTRACT_SHARE
                / LARGEST_BATCH
            )
    return requests


def _tokens(words_asked: int | None, words_otherwise: int) -> float:
    """Return the tokens of a text.

    It fills 90 % of its word limit, or is as long as measured with ScholarEval's code.
    """
    return (0.9 * words_asked if words_asked is not None else words_otherwise) * TOKENS_PER_WORD


def _hours(
    ideas: float,
    requests: float,
    steps: Sequence[StepEstimate],
    request: RunRequest,
    settings: Settings,
) -> tuple[float, str]:
    seconds_by_limit = {"processor": ideas * 4.0 / request.worker_count}
    if request.literature.snapshot is None:
        seconds_by_limit["literature rate"] = requests / settings.literature.requests_per_second
    limits = settings.language_model
    if steps and not request.parameters.batch:
        in_flight = (
            min(limits.maximum_concurrency, request.parameters.ideas_in_flight * 4)
            * request.worker_count
        )
        seconds = sum(
            step.calls * SECONDS_UNTIL_ANSWER + step.completion_tokens / TOKENS_PER_SECOND
            for step in steps
        )
        seconds_by_limit["model"] = ideas * seconds / in_flight
        seconds_by_limit["model rate"] = ideas * 60 * _busiest_model_minutes(steps, limits)
    slowest = max(seconds_by_limit, key=lambda name: seconds_by_limit[name])
    return seconds_by_limit[slowest] / 3600, slowest


def _busiest_model_minutes(steps: Sequence[StepEstimate], limits: LanguageModelSettings) -> float:
    """Return the busiest model's minutes per idea under rate limits."""
    calls: dict[str, float] = defaultdict(float)
    tokens: dict[str, float] = defaultdict(float)
    for step in steps:
        for model in step.models:
            calls[model] += step.calls / len(step.models)
            tokens[model] += (step.prompt_tokens + step.completion_tokens) / len(step.models)
    minutes = [0.0]
    if limits.requests_per_minute:
        minutes.append(max(calls.values()) / limits.requests_per_minute)
    if limits.tokens_per_minute:
        minutes.append(max(tokens.values()) / limits.tokens_per_minute)
    return max(minutes)
