"""Suite `coverage` (ScholarEval §3.2, E.1-E.3): what experts said and reviews say too, references
that lead nowhere, preferences.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flows.benchmarks.items import answered, unanswered
from flows.benchmarks.preference import preference_scores
from flows.benchmarks.references import reference_scores
from flows.benchmarks.reviewing import WrittenReview, reviews_by_system
from flows.benchmarks.suite import Suite
from flows.benchmarks.trial import Trial
from schemas.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
from schemas.outcome import Outcome, Scored, Unscored
from schemas.run import Module
from tasks.benchmarks.scholarideas import FILE, Rubric, read_scholarideas
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput, CoverageReply
from tasks.benchmarks.steps.judge_preference import JUDGE_PREFERENCE
from tasks.benchmarks.steps.prompt_only import PROMPT_ONLY
from tasks.benchmarks.steps.prompt_with_search import PROMPT_WITH_SEARCH
from tasks.metrics.comparing import WelchTest, welch
from tasks.metrics.estimate import Estimate, benchmark_score, undefined
from tasks.metrics.reviews import RubricScore, coverage, coverage_difference

NAME = "coverage"
MODULES = (Module.SOUNDNESS, Module.CONTRIBUTION)


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Coverage of every system's reviews, their differences from Assay's, invalid references and
    preferences.
    """
    entries = trial.draw(read_scholarideas(trial.file(FILE)))
    ideas = [entry.idea for entry in entries]
    rubrics = [rubric for entry in entries for rubric in entry.rubrics]
    reviews = reviews_by_system(trial, ideas, trial.modules(MODULES))
    judged = {
        system: _judged(trial, system, rubrics, written) for system, written in reviews.items()
    }
    scores = [
        benchmark_score(estimate, NAME, "coverage", system, part)
        for system, found in judged.items()
        for part, estimate in coverage(found, trial.seed).items()
    ]
    return [
        *scores,
        *_differences(judged, trial.seed),
        *reference_scores(trial, NAME, reviews),
        *preference_scores(trial, NAME, reviews),
    ]


def _judged(
    trial: Trial, system: str, rubrics: Sequence[Rubric], written: Mapping[str, WrittenReview]
) -> list[RubricScore]:
    """A score for every rubric: unscored where there is no review to judge, or no judgement of it."""
    questions = {
        rubric.rubric_id: CoverageInput(
            review=written[rubric.idea_id].text, statement=rubric.statement
        )
        for rubric in rubrics
        if written[rubric.idea_id].text
    }
    outcomes = trial.ask(JUDGE_COVERAGE, questions, task=f"{JUDGE_COVERAGE.name} {system}")
    trial.record(_items(system, rubrics, written, outcomes))
    return [_rubric_score(rubric, outcomes.get(rubric.rubric_id)) for rubric in rubrics]


def _rubric_score(rubric: Rubric, outcome: Outcome[CoverageReply] | None) -> RubricScore:
    return RubricScore(
        idea_id=rubric.idea_id,
        rubric=rubric.rubric_id,
        discipline=rubric.discipline,
        type=rubric.type,
        axis=rubric.axis,
        severity=rubric.severity,
        score_1_to_5=float(outcome.value.score) if isinstance(outcome, Scored) else None,
    )


def _items(
    system: str,
    rubrics: Sequence[Rubric],
    written: Mapping[str, WrittenReview],
    outcomes: Mapping[str, Outcome[CoverageReply]],
) -> Iterator[BenchmarkItem]:
    for rubric in rubrics:
        outcome, review = outcomes.get(rubric.rubric_id), written[rubric.idea_id]
        asked: dict[str, Any] = {
            "item_id": rubric.rubric_id,
            "task": JUDGE_COVERAGE.name,
            "system": system,
        }
        if outcome is None:
            yield BenchmarkItem(
                answer=None,
                unscored_reason=review.reason,
                unscored_detail=review.detail,
                **asked,
            )
        elif isinstance(outcome, Unscored):
            yield unanswered(outcome, **asked)
        else:
            reply = outcome.value
            yield answered(
                outcome,
                str(reply.score),
                value=float(reply.score),
                explanation=reply.reason,
                **asked,
            )


def _differences(
    judged: Mapping[str, Sequence[RubricScore]], seed: int
) -> Iterator[BenchmarkScore]:
    """Assay less each baseline: paired over rubrics, and the p-value of Welch's test that the paper
    uses.
    """
    for system, theirs in judged.items():
        if system == ASSAY:
            continue
        name = f"{ASSAY} - {system}"
        yield benchmark_score(
            coverage_difference(judged[ASSAY], theirs, seed), NAME, "coverage_difference", name
        )
        test = welch(
            [one.score_1_to_5 for one in judged[ASSAY]], [one.score_1_to_5 for one in theirs]
        )
        yield benchmark_score(_p_value(test), NAME, "welch_p_value", name)


def _p_value(test: WelchTest) -> Estimate:
    count, missing = (
        test.first.count + test.second.count,
        test.first_unscored + test.second_unscored,
    )
    if test.undefined_reason is not None:
        return undefined(test.undefined_reason, count, missing)
    return Estimate(test.p_value, count, unscored_count=missing)


SUITE = Suite(
    NAME,
    "How much of what experts said do reviews say too?",
    (FILE,),
    run,
    steps=(JUDGE_COVERAGE, JUDGE_PREFERENCE, PROMPT_ONLY, PROMPT_WITH_SEARCH),
    modules=MODULES,
)
