"""The engine judges problems of a release, and is held against the release's own judges."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, TypeVar

from schemas.identifiers import RunId
from schemas.judgement.benchmark import ASSAY, BenchmarkItem, BenchmarkScore, JudgeWording
from schemas.outcome import Outcome, Unscored
from schemas.works.manuscripts import ManuscriptCheck
from tasks.benchmarks.answer_rows import answered, unanswered
from tasks.benchmarks.trial import Trial, drawn_rows
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput, HitReply
from tasks.metrics.agreement import cohen_kappa, gwet_ac1
from tasks.metrics.chance import fixed_answers, random_scores
from tasks.metrics.classification import accuracy, accuracy_value, f1_of_class, macro_f1_value
from tasks.metrics.estimate import Estimate, benchmark_score, benchmark_scores, undefined
from tasks.metrics.hit_rate import (
    Ballot,
    CheckedPaper,
    Rule,
    answer_of,
    checked_papers,
    decided,
    hit_rate,
)
from tasks.metrics.labelled import Labelled, pair_up
from tasks.metrics.means import mean, share_of
from warehouse.run_log import EVENTS

logger = logging.getLogger(__name__)

DEFAULT_CHECK_COUNT = 80
"""Checks (one checker at one paper) judged without `--limit`: some 290 problems, so that `assay
benchmark all` stays short.
"""
KnownT = TypeVar("KnownT")
HIT, NO_HIT = "hit", "no hit"
Votes = dict[str, bool | None]
"""A judge's answers by item; None: it gave none, such as about problems after its first hit."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One drawn check with the run it stands in and the name its items begin with."""

    run_id: RunId
    name: str
    check: ManuscriptCheck
    paper: CheckedPaper

    def item(self, problem_id: str) -> str:
        return f"{self.name}:{problem_id}"


def judge_released(
    trial: Trial, suite: str, checks: Mapping[RunId, Sequence[ManuscriptCheck]]
) -> list[BenchmarkScore]:
    """Ask `judge_hit` over every problem of the drawn checks; agreement with each judge and with
    all of them, and hit rates.

    `--limit N` draws N checks by the seed; without it `DEFAULT_CHECK_COUNT` are drawn. Judges stop
    at a paper's first hit: agreement is over problems they voted on, the others are unscored. The
    extractive engine's threshold was chosen on a quarter of the real release's papers
    (`baselines/matching.py`): over those its agreement flatters it, which is said.
    """
    known = [
        (run_id, check)
        for run_id, listed in checks.items()
        for check in listed
        if check.known_reason is not None
    ]
    chosen = drawn_checks(known, trial.parameters.item_limit, trial.seed)
    drawn = [
        Drawn(run_id, f"{run_id}:{check.manuscript_id}", check, checked_papers(check)[0])
        for run_id, check in chosen
    ]
    EVENTS.info("%s: judging %d of %d checks", suite, len(drawn), len(known))
    if trial.request.engine.is_baseline:
        logger.warning(
            "%s: the extractive engine's threshold was chosen on a quarter of the released papers,"
            " its agreement may flatter it",
            suite,
        )
    outcomes = trial.ask(JUDGE_HIT, dict(_questions(drawn, trial.parameters.judge)))
    judges = sorted({vote.judge for _, check in known for vote in check.votes})
    votes = {judge: _votes(drawn, judge) for judge in judges}
    both = {item: decided([votes[judge][item] for judge in judges], Rule.ALL) for item in outcomes}
    trial.record(_items(drawn, outcomes, both))
    said: Votes = {
        item: None if isinstance(outcome, Unscored) else outcome.value.hit
        for item, outcome in outcomes.items()
    }
    papers = {
        one.item(problem.problem_id): one.check.manuscript_id
        for one in drawn
        for problem in one.check.problems
    }
    scores = _agreements(suite, votes, both, said, papers, trial.seed)
    return [*scores, *_hit_rates(suite, drawn, judges, said)]


def drawn_checks(known: Sequence[KnownT], item_limit: int | None, seed: int) -> Sequence[KnownT]:
    """As many as the limit or the default says, drawn as every suite draws its items."""
    return drawn_rows(known, item_limit or DEFAULT_CHECK_COUNT, seed)


def _agreements(
    suite: str,
    votes: Mapping[str, Votes],
    both: Votes,
    said: Votes,
    papers: Mapping[str, str],
    seed: int,
) -> list[BenchmarkScore]:
    """Of the engine with each judge and with all of them, of answers that look at nothing with the
    same, and of the judges with one another.
    """
    found: list[BenchmarkScore] = []
    for judge, given in votes.items():
        found += _agreement(suite, ASSAY, f"judge={judge}", given, said, papers, seed)
    found += _agreement(suite, ASSAY, "judges=all", both, said, papers, seed)
    for part, gold in {**{f"judge={one}": votes[one] for one in votes}, "judges=all": both}.items():
        found += _baselines(suite, part, gold, papers, seed)
    for (first, ours), (second, theirs) in combinations(votes.items(), 2):
        found += _agreement(suite, f"judge {second}", f"judge={first}", ours, theirs, papers, seed)
    return found


def _baselines(
    suite: str, part: str, gold: Votes, papers: Mapping[str, str], seed: int
) -> Iterator[BenchmarkScore]:
    """Always the commonest answer, always the middle one, and answers drawn by their shares."""
    labels = {item: _label(hit) for item, hit in gold.items()}
    for system, answers in fixed_answers(labels, (NO_HIT, HIT)).items():
        said = {item: None if answer is None else answer == HIT for item, answer in answers.items()}
        yield from _agreement(suite, system, part, gold, said, papers, seed)
    statistics: dict[str, Callable[[Labelled], float]] = {
        "accuracy": accuracy_value,
        "f1_hit": partial(macro_f1_value, classes=(HIT,)),
    }
    yield from random_scores(labels, statistics, suite, part, seed)


def _questions(drawn: Iterable[Drawn], wording: JudgeWording) -> Iterator[tuple[str, HitInput]]:
    for one in drawn:
        for problem in one.check.problems:
            yield (
                one.item(problem.problem_id),
                HitInput(
                    problem=problem.problem,
                    location=problem.location,
                    explanation=problem.explanation,
                    reason=one.check.known_reason or "",
                    wording=wording,
                ),
            )


def _votes(drawn: Iterable[Drawn], judge: str) -> Votes:
    return {
        one.item(problem.problem_id): answer_of(one.paper.ballots, problem.problem_id, judge)
        for one in drawn
        for problem in one.check.problems
    }


def _items(
    drawn: Iterable[Drawn], outcomes: Mapping[str, Outcome[HitReply]], gold: Votes
) -> Iterator[BenchmarkItem]:
    run_of = {
        one.item(problem.problem_id): one.run_id for one in drawn for problem in one.check.problems
    }
    for item, outcome in outcomes.items():
        asked: dict[str, Any] = {
            "item_id": item,
            "task": JUDGE_HIT.name,
            "system": ASSAY,
            "gold": _label(gold[item]),
            "evaluated_run_id": run_of[item],
        }
        if isinstance(outcome, Unscored):
            yield unanswered(outcome, **asked)
        else:
            hit, explanation = outcome.value.hit, outcome.value.explanation
            answer = HIT if hit else NO_HIT
            yield answered(outcome, answer, value=float(hit), explanation=explanation, **asked)


def _label(hit: bool | None) -> str | None:
    return None if hit is None else HIT if hit else NO_HIT


def _agreement(
    suite: str,
    system: str,
    part: str,
    gold: Votes,
    said: Votes,
    papers: Mapping[str, str],
    seed: int,
) -> list[BenchmarkScore]:
    """How far `system` says what `gold` does.

    Precision and recall draw whole papers: one reason is asked about many times.
    """
    voted = [item for item in said if gold[item] is not None]
    labelled = pair_up(
        {item: _label(gold[item]) for item in voted}, {item: _label(said[item]) for item in voted}
    )
    rows = [[_label(gold[item]), _label(said[item])] for item in voted]
    found: dict[str, Estimate] = {
        "cohen_kappa": cohen_kappa([first for first, _ in rows], [second for _, second in rows]),
        "gwet_ac1": gwet_ac1(rows, (HIT, NO_HIT)),
        "accuracy": accuracy(labelled),
        "precision": _share_among(voted, said, gold, papers, seed, "nothing was called a hit"),
        "recall": _share_among(voted, gold, said, papers, seed, "there is no hit to be found"),
        "f1_hit": f1_of_class(labelled, HIT, seed),
        "predicted_hit_share": share_of([said[item] for item in voted]),
        "gold_hit_share": share_of([gold[item] for item in voted]),
    }
    return benchmark_scores(found, suite, system, part)


def _share_among(
    items: Sequence[str],
    hits: Votes,
    confirmed: Votes,
    papers: Mapping[str, str],
    seed: int,
    reason: str,
) -> Estimate:
    """Share of the `hits` that are `confirmed` too; where all or none is, Wilson's interval, since
    resampling has nothing to draw from.
    """
    among = [item for item in items if hits[item]]
    if not among:
        return undefined(reason, unscored_count=sum(hits[item] is None for item in items))
    votes = [confirmed[item] for item in among]
    if not {True, False} <= set(votes):
        return share_of(votes)
    values = [None if vote is None else float(vote) for vote in votes]
    return mean(values, seed, [papers[item] for item in among])


def _hit_rates(
    suite: str, drawn: Sequence[Drawn], judges: Sequence[str], said: Votes
) -> Iterator[BenchmarkScore]:
    """Share of the drawn checks that are hits: by the engine, by each judge, by all."""
    own = [CheckedPaper(one.name, 1, one.paper.problem_ids, _ballots(one, said)) for one in drawn]
    theirs = [CheckedPaper(one.name, 1, one.paper.problem_ids, one.paper.ballots) for one in drawn]
    yield benchmark_score(
        hit_rate(own, (ASSAY,), Rule.ALL), suite, "hit_rate", ASSAY, "drawn checks"
    )
    for judge in judges:
        yield benchmark_score(
            hit_rate(theirs, (judge,), Rule.ALL),
            suite,
            "hit_rate",
            f"judge {judge}",
            "drawn checks",
        )
    yield benchmark_score(
        hit_rate(theirs, judges, Rule.ALL), suite, "hit_rate", "all judges", "drawn checks"
    )


def _ballots(one: Drawn, said: Votes) -> tuple[Ballot, ...]:
    return tuple(
        Ballot(problem.problem_id, ASSAY, said[one.item(problem.problem_id)])
        for problem in one.check.problems
    )
