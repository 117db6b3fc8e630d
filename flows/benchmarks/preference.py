"""Which of two reviews a judge prefers, asked in both orders (ScholarEval E.3)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flows.benchmarks.items import answered, unanswered
from flows.benchmarks.reviewing import WrittenReview
from flows.benchmarks.trial import Trial
from schemas.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
from schemas.outcome import Outcome, Scored
from tasks.benchmarks.steps.judge_preference import (
    JUDGE_PREFERENCE,
    PreferenceInput,
    PreferenceReply,
)
from tasks.metrics.estimate import benchmark_score
from tasks.metrics.reviews import CRITERIA, Answer, Preference, win_rates

Outcomes = Mapping[str, Outcome[PreferenceReply]]
METRICS = ("win", "loss", "tie", "win_of_decided", "consistency", "first_shown")


def preference_scores(
    trial: Trial, suite: str, reviews: Mapping[str, Mapping[str, WrittenReview]]
) -> Iterator[BenchmarkScore]:
    """Rates of Assay's reviews against each baseline's, by criterion; an idea that one of them has
    no review of is unscored.
    """
    for system, theirs in reviews.items():
        if system == ASSAY:
            continue
        both = {"ours_first": _asked(trial, reviews[ASSAY], theirs, system, swapped=False)}
        both["theirs_first"] = _asked(trial, reviews[ASSAY], theirs, system, swapped=True)
        for criterion in CRITERIA:
            trial.record(_items(both, criterion, system))
            rates = win_rates(_preferences(tuple(theirs), both, criterion))
            for metric in METRICS:
                name = f"preference_{metric}"
                yield benchmark_score(
                    getattr(rates, metric),
                    suite,
                    name,
                    f"{ASSAY} vs. {system}",
                    f"criterion={criterion}",
                )


def _asked(
    trial: Trial,
    ours: Mapping[str, WrittenReview],
    theirs: Mapping[str, WrittenReview],
    system: str,
    *,
    swapped: bool,
) -> Outcomes:
    questions = {}
    for idea_id, review in theirs.items():
        first, second = (review, ours[idea_id]) if swapped else (ours[idea_id], review)
        if first.text and second.text:
            questions[idea_id] = PreferenceInput(first=first.text, second=second.text)
    order = "theirs_first" if swapped else "ours_first"
    return trial.ask(JUDGE_PREFERENCE, questions, task=f"{JUDGE_PREFERENCE.name} {system} {order}")


def _preferences(
    idea_ids: Sequence[str], both: Mapping[str, Outcomes], criterion: str
) -> list[Preference]:
    return [
        Preference(
            pair_id=idea_id,
            criterion=criterion,
            ours_first=_answer(both["ours_first"].get(idea_id), criterion),
            theirs_first=_answer(both["theirs_first"].get(idea_id), criterion),
        )
        for idea_id in idea_ids
    ]


def _answer(outcome: Outcome[PreferenceReply] | None, criterion: str) -> Answer | None:
    if not isinstance(outcome, Scored):
        return None
    found: Answer = getattr(outcome.value, criterion)
    return found


def _items(both: Mapping[str, Outcomes], criterion: str, system: str) -> Iterator[BenchmarkItem]:
    for order, outcomes in both.items():
        for idea_id, outcome in outcomes.items():
            asked: dict[str, Any] = {
                "item_id": idea_id,
                "task": f"{JUDGE_PREFERENCE.name} {criterion} {order}",
                "system": f"{ASSAY} vs. {system}",
            }
            if isinstance(outcome, Scored):
                answer = getattr(outcome.value, criterion)
                reason = getattr(outcome.value, f"{criterion}_reason")
                yield answered(outcome, answer, explanation=reason, **asked)
            else:
                yield unanswered(outcome, **asked)
