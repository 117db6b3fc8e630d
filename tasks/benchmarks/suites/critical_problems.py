"""Suite `critical_problems`: the quality checker's release, with the engine as another judge.

Source: arXiv 2505.23824. For other manuscripts, `assay check PAPER... --reasons FILE` finds
problems and prints hit rates.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import pyarrow.parquet as pq

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import ASSAY
from schemas.outcome import Scored
from schemas.works.check_run import CHECKS
from schemas.works.manuscripts import ManuscriptCheck
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    PROBLEM_TOKENS,
    ExpectedCalls,
    Statistics,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
)
from tasks.benchmarks.suites.release_scores import PRICES, score_release
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput
from tasks.metrics.agreement import cohen_kappa, gwet_ac1
from tasks.metrics.chance import fixed_answers
from tasks.metrics.classification import accuracy, accuracy_value, f1_of_class, macro_f1_value
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.hit_rate import (
    Ballot,
    CheckedPaper,
    Rule,
    answer_of,
    checked_papers,
    combine_votes,
    hit_rate,
)
from tasks.metrics.labels import pair_up
from tasks.metrics.means import mean, share_of
from warehouse.kinds.quality_checker import RELEASE_TABLES, import_release, release_views
from warehouse.run_log import EVENTS
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_units

logger = logging.getLogger(__name__)

FOLDER = "withdrarxiv"
DEFAULT_CHECK_COUNT = 80
"""Default sample of checks (one checker on one paper), about 290 problems."""
HIT, NO_HIT = "hit", "no hit"
Votes = Mapping[str, bool | None]
"""A judge's answers by item; None: missing, for example after its first hit."""


@dataclass(frozen=True, slots=True)
class DrawnCheck:
    """Sampled check with its run and the prefix of its item ids."""

    run_id: RunId
    name: str
    check: ManuscriptCheck
    paper: CheckedPaper

    def item(self, problem_id: str) -> str:
        return f"{self.name}:{problem_id}"


def run(trial: Trial) -> None:
    """Score the release's checkers, and compare engine and judges."""
    run_ids = _import_release(trial)
    trial.evaluated_run_ids.extend(run_ids)
    with trial.warehouse.reader() as connection:
        checks = [
            (run_id, check)
            for run_id in run_ids
            for check in published_units(connection, kind_of(CHECKS), run_id)
            if check.known_reason is not None
        ]
    _score_engine(trial, checks)
    with release_views(trial.warehouse, run_ids) as connection:
        score_release(trial, connection)


def _import_release(trial: Trial) -> tuple[RunId, ...]:
    EVENTS.info("%s: importing the release", trial.unit.suite)
    publications = import_release(trial.data / FOLDER, trial.warehouse)
    for one in publications:
        if not one.published:
            broken_expectations = ", ".join(one.failed_expectations)
            raise ConfigurationError(
                f"{FOLDER}/: {one.run_id} breaks {broken_expectations}; take its files as they were released"
            )
    if not publications:
        raise ConfigurationError(f"{trial.data / FOLDER} holds nothing: its checks have no row")
    return tuple(one.run_id for one in publications)


def _score_engine(trial: Trial, checks: Sequence[tuple[RunId, ManuscriptCheck]]) -> None:
    """Judge every problem of the sampled checks.

    Score agreement with judges, and hit rates. Judges stop at a paper's first hit: agreement is
    over the problems they voted on, and the others are unscored. The extractive engine's threshold
    was chosen on a quarter of the release's papers, where its agreement is optimistic.
    """
    drawn_checks = [
        DrawnCheck(run_id, f"{run_id}:{check.manuscript_id}", check, checked_papers(check)[0])
        for run_id, check in trial.draw(checks, DEFAULT_CHECK_COUNT)
    ]
    EVENTS.info("%s: judging %d of %d checks", trial.unit.suite, len(drawn_checks), len(checks))
    if trial.request.engine.is_baseline:
        logger.warning(
            "%s: the extractive engine's threshold was chosen on a quarter of the released papers,"
            " its agreement may flatter it",
            trial.unit.suite,
        )
    problems = {
        one.item(problem.problem_id): (one, problem)
        for one in drawn_checks
        for problem in one.check.problems
    }
    questions = {
        item: HitInput(
            problem=problem.problem,
            location=problem.location,
            explanation=problem.explanation,
            reason=one.check.known_reason or "",
            wording=trial.parameters.judge,
        )
        for item, (one, problem) in problems.items()
    }
    outcomes = trial.ask(JUDGE_HIT, questions)
    judges = sorted({vote.judge for _, check in checks for vote in check.votes})
    votes: dict[str, Votes] = {
        judge: {
            item: answer_of(one.paper.ballots, problem.problem_id, judge)
            for item, (one, problem) in problems.items()
        }
        for judge in judges
    }
    both: Votes = {
        item: combine_votes([votes[judge][item] for judge in judges], Rule.ALL) for item in outcomes
    }
    answers: dict[str, bool | None] = {}
    for item, outcome in outcomes.items():
        reply = outcome.value if isinstance(outcome, Scored) else None
        answers[item] = None if reply is None else reply.hit
        trial.record(
            JUDGE_HIT.name,
            item,
            _label(answers[item]),
            outcome,
            gold=_label(both[item]),
            value=None if reply is None else float(reply.hit),
            explanation="" if reply is None else reply.explanation,
            evaluated_run_id=problems[item][0].run_id,
        )
    papers = {item: one.check.manuscript_id for item, (one, _) in problems.items()}
    parts = {**{f"judge={judge}": votes[judge] for judge in judges}, "judges=all": both}
    for part, gold in parts.items():
        _score_agreement(trial, ASSAY, part, gold, answers, papers)
    for part, gold in parts.items():
        _score_baselines(trial, part, gold, papers)
    for (first, ours), (second, theirs) in combinations(votes.items(), 2):
        _score_agreement(trial, f"judge {second}", f"judge={first}", ours, theirs, papers)
    # Hit rates of the sampled checks by the engine, by each judge and by all judges.
    by_engine = [
        CheckedPaper(
            one.name,
            1,
            one.paper.problem_ids,
            tuple(
                Ballot(problem.problem_id, ASSAY, answers[one.item(problem.problem_id)])
                for problem in one.check.problems
            ),
        )
        for one in drawn_checks
    ]
    released_papers = [
        CheckedPaper(one.name, 1, one.paper.problem_ids, one.paper.ballots) for one in drawn_checks
    ]
    rates = {ASSAY: hit_rate(by_engine, (ASSAY,), Rule.ALL)}
    rates |= {f"judge {judge}": hit_rate(released_papers, (judge,), Rule.ALL) for judge in judges}
    rates["all judges"] = hit_rate(released_papers, judges, Rule.ALL)
    for system, rate in rates.items():
        trial.score("hit_rate", rate, system, "drawn checks")


def _score_baselines(trial: Trial, part: str, gold: Votes, papers: Mapping[str, str]) -> None:
    """Score constant and random answers."""
    labels = {item: _label(hit) for item, hit in gold.items()}
    for system, answers in fixed_answers(labels, (NO_HIT, HIT)).items():
        votes = {
            item: None if answer is None else answer == HIT for item, answer in answers.items()
        }
        _score_agreement(trial, system, part, gold, votes, papers)
    of_hits = partial(macro_f1_value, classes=(HIT,))
    of_chance: Statistics = {"accuracy": accuracy_value, "f1_hit": of_hits}
    trial.score_by_chance(labels, of_chance, part)


def _label(hit: bool | None) -> str | None:
    return None if hit is None else HIT if hit else NO_HIT


def _score_agreement(
    trial: Trial, system: str, part: str, gold: Votes, predictions: Votes, papers: Mapping[str, str]
) -> None:
    """Score the agreement of `system` with `gold`.

    Precision and recall resample whole papers, because a paper's problems share one reason.
    """
    voted_items = [item for item in predictions if gold[item] is not None]
    label_pairs = pair_up(
        {item: _label(gold[item]) for item in voted_items},
        {item: _label(predictions[item]) for item in voted_items},
    )
    rows = [[_label(gold[item]), _label(predictions[item])] for item in voted_items]
    seed = trial.seed
    estimates: dict[str, Estimate] = {
        "cohen_kappa": cohen_kappa([first for first, _ in rows], [second for _, second in rows]),
        "gwet_ac1": gwet_ac1(rows, (HIT, NO_HIT)),
        "accuracy": accuracy(label_pairs),
        "precision": _share_among(
            voted_items, predictions, gold, papers, seed, "nothing was called a hit"
        ),
        "recall": _share_among(
            voted_items, gold, predictions, papers, seed, "there is no hit to be found"
        ),
        "f1_hit": f1_of_class(label_pairs, HIT, seed),
        "predicted_hit_share": share_of([predictions[item] for item in voted_items]),
        "gold_hit_share": share_of([gold[item] for item in voted_items]),
    }
    trial.score_all(estimates, system, part)


def _share_among(
    items: Sequence[str],
    hits: Votes,
    other_votes: Votes,
    papers: Mapping[str, str],
    seed: int,
    reason: str,
) -> Estimate:
    """Estimate the share of `hits` that are hits in `other_votes` too.

    If all or none are, resampling has no variance, and the interval is Wilson's.
    """
    hit_items = [item for item in items if hits[item]]
    if not hit_items:
        return undefined(reason, unscored_count=sum(hits[item] is None for item in items))
    votes = [other_votes[item] for item in hit_items]
    if not {True, False} <= set(votes):
        return share_of(votes)
    values = [None if vote is None else float(vote) for vote in votes]
    return mean(values, seed, [papers[item] for item in hit_items])


def _expects(data: SuiteData) -> SuiteEstimate:
    checks, problems = (
        pq.read_metadata(data.file(f"{FOLDER}/{name}.parquet")).num_rows
        for name in ("checks", "problems")
    )
    check_count = min(data.parameters.item_limit or DEFAULT_CHECK_COUNT, checks)
    calls = check_count * problems / max(checks, 1)
    return SuiteEstimate(
        check_count, [ExpectedCalls(JUDGE_HIT, calls, PROBLEM_TOKENS, GRADE_TOKENS)]
    )


SUITE = Suite(
    "critical_problems",
    "Does it see whether a reported problem is the one a paper was withdrawn for, and what do"
    " checkers find at which cost?",
    tuple(f"{FOLDER}/{name}.parquet" for name in RELEASE_TABLES),
    run,
    steps=(JUDGE_HIT,),
    expects=_expects,
    conditions=lambda *_: (content_hash(PRICES.read_text("utf-8")),),  # costs depend on the prices
)
