"""Suite `coverage` (ScholarEval §3.2, E.1-E.3): what experts said and reviews say too, references
that lead nowhere, preferences.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.judgement.benchmark import (
    ANOTHER_IDEAS,
    ASSAY,
    PROMPT_WITH_SEARCH,
    BenchmarkItem,
    BenchmarkScore,
)
from schemas.outcome import Outcome, Scored, Unscored
from schemas.run import Module
from tasks.benchmarks.answer_rows import answered, unanswered
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.links import LinkStatus, cited_links, link_answers, link_status
from tasks.benchmarks.review_sets import (
    SCHOLARIDEAS_FILE,
    ReviewedIdea,
    Rubric,
    read_scholarideas,
)
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput, CoverageReply
from tasks.benchmarks.steps.judge_preference import (
    JUDGE_PREFERENCE,
    PreferenceInput,
    PreferenceReply,
)
from tasks.benchmarks.steps.prompted_contribution import PROMPTED_CONTRIBUTION
from tasks.benchmarks.steps.prompted_soundness import PROMPTED_SOUNDNESS
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites.reviewing import WrittenReview, reviews_by_system
from tasks.benchmarks.trial import SuiteData, Trial
from tasks.metrics.estimate import Estimate, benchmark_score, benchmark_scores, undefined
from tasks.metrics.reviews import (
    CRITERIA,
    Answer,
    Preference,
    RubricScore,
    coverage,
    coverage_tests,
    reference_invalidity,
    win_rates,
)

NAME = "coverage"
TIMEOUT_SECONDS = 20.0
_NOT_ASKED = "addresses were not asked: add --check-links"


def reference_scores(
    trial: Trial, reviews: Mapping[str, Mapping[str, WrittenReview]]
) -> Iterator[BenchmarkScore]:
    """Lower bound, share of those that answered, and upper bound, by system; undefined where
    addresses were not asked.
    """
    links = {
        system: [link for review in written.values() for link in cited_links(review.text)]
        for system, written in reviews.items()
    }
    statuses = _statuses(trial, links) if trial.parameters.check_links else {}
    for system, cited in links.items():
        yield from benchmark_scores(_estimates(trial, cited, statuses), NAME, system)


def _estimates(
    trial: Trial, cited: list[str], statuses: dict[str, LinkStatus]
) -> dict[str, Estimate]:
    bounds = ("lower_bound", "of_answered", "upper_bound")
    names = [f"reference_invalidity_{bound}" for bound in bounds]
    if cited and not trial.parameters.check_links:
        return dict.fromkeys(names, undefined(_NOT_ASKED, unscored_count=len(cited)))
    found = reference_invalidity(link_answers(cited, statuses))
    return {name: getattr(found, bound) for name, bound in zip(names, bounds, strict=True)}


def _statuses(trial: Trial, links: Mapping[str, list[str]]) -> dict[str, LinkStatus]:
    """Each address is looked up once, however often it is cited."""
    addresses = {link: link for cited in links.values() for link in cited}
    return trial.each(
        "head_request", addresses, _status, LinkStatus, ask_again=lambda found: found.status is None
    )


async def _status(url: str, _desk: ItemContext) -> LinkStatus:
    return await link_status(url, TIMEOUT_SECONDS)


Outcomes = Mapping[str, Outcome[PreferenceReply]]
METRICS = ("win", "loss", "tie", "win_of_decided", "consistency", "first_shown")


def preference_scores(
    trial: Trial, reviews: Mapping[str, Mapping[str, WrittenReview]]
) -> Iterator[BenchmarkScore]:
    """Rates of Assay's reviews against each baseline's, by criterion; an idea that one of them has
    no review of is unscored. Which of its own reviews is better says nothing.
    """
    for system, theirs in reviews.items():
        if system in (ASSAY, ANOTHER_IDEAS):
            continue
        both = {"ours_first": _in_order(trial, reviews[ASSAY], theirs, system, swapped=False)}
        both["theirs_first"] = _in_order(trial, reviews[ASSAY], theirs, system, swapped=True)
        for criterion in CRITERIA:
            trial.record(_preference_items(both, criterion, system))
            rates = win_rates(_preferences(tuple(theirs), both, criterion))
            found = {f"preference_{metric}": getattr(rates, metric) for metric in METRICS}
            part = f"criterion={criterion}"
            yield from benchmark_scores(found, NAME, f"{ASSAY} vs. {system}", part)


def _in_order(
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


def _preference_items(
    both: Mapping[str, Outcomes], criterion: str, system: str
) -> Iterator[BenchmarkItem]:
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


MODULES = (Module.SOUNDNESS, Module.CONTRIBUTION)


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Coverage of every system's reviews, their differences from Assay's, invalid references and
    preferences.
    """
    entries = _entries(trial)
    ideas = [entry.idea for entry in entries]
    rubrics = [rubric for entry in entries for rubric in entry.rubrics]
    reviews = reviews_by_system(trial, ideas)
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
        *reference_scores(
            trial, {name: found for name, found in reviews.items() if name != ANOTHER_IDEAS}
        ),
        *preference_scores(trial, reviews),
    ]


def _entries(data: SuiteData) -> Sequence[ReviewedIdea]:
    return data.draw(read_scholarideas(data.file(SCHOLARIDEAS_FILE)))


def _judged(
    trial: Trial, system: str, rubrics: Sequence[Rubric], written: Mapping[str, WrittenReview]
) -> list[RubricScore]:
    """A score for every rubric: unscored where there is no review to judge, or no judgement."""
    questions = {
        rubric.rubric_id: CoverageInput(
            review=written[rubric.idea_id].text,
            statement=rubric.statement,
            wording=trial.parameters.judge,
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
    """Assay less each baseline: paired over rubrics, and the p-values of Welch's test that the
    paper uses.
    """
    for system, theirs in judged.items():
        if system != ASSAY:
            name = f"{ASSAY} - {system}"
            for metric, part, estimate in coverage_tests(judged[ASSAY], theirs, seed):
                yield benchmark_score(estimate, NAME, metric, name, part)


SUITE = Suite(
    NAME,
    "How much of what experts said do reviews say too?",
    (SCHOLARIDEAS_FILE,),
    run,
    steps=(JUDGE_COVERAGE, JUDGE_PREFERENCE, PROMPTED_SOUNDNESS, PROMPTED_CONTRIBUTION),
    ideas=lambda data: [entry.idea for entry in _entries(data)],
    modules=MODULES,
    searches=lambda request: PROMPT_WITH_SEARCH in request.parameters.baselines,
)
