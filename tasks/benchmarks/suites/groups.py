"""Suite `groups` (InnoEval, grouping task): similar submissions with different decisions; who is
best, and in what order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from schemas.reasons import Reason
from tasks.benchmarks.innoeval import (
    DECIDED,
    GROUPS_FILE,
    Submission,
    SubmissionGroup,
    connected,
    read_groups,
)
from tasks.benchmarks.ranking import RankedMembers
from tasks.benchmarks.suite import Suite, submission_conditions
from tasks.benchmarks.suites.matches import ideas_of, ranked_by_system
from tasks.benchmarks.trial import SuiteData, Trial
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_orders, random_order
from tasks.metrics.estimate import benchmark_score
from tasks.metrics.labelled import GRADES
from tasks.metrics.rankings import (
    Group,
    best_of_group,
    exact_ranking,
    kendall,
    rank_correlation,
    spearman,
)
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS

NAME = "groups"


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Best of group, exact ranking and mean rank correlations, for matches, for scores alone and
    for the baselines.
    """
    groups = _groups(trial)
    scores: list[BenchmarkScore] = []
    contests = _contests(groups)
    clusters = connected(contests)
    for system, ranked in ranked_by_system(trial, contests).items():
        trial.record(_items(groups, ranked, system))
        listed = [
            _group(group, ranked[group.name].strengths, clusters[group.name]) for group in groups
        ]
        scores += _scores(listed, system, trial.seed)
    unranked = [_group(group, {}, clusters[group.name]) for group in groups]
    return [*scores, *_baselines(unranked, trial.seed)]


def _groups(data: SuiteData) -> list[SubmissionGroup]:
    drawn = data.draw(read_groups(data.file(GROUPS_FILE)))
    texts = data.submissions(one for group in drawn for one in group.members)
    return [
        replace(
            group,
            members=tuple(
                replace(one, idea=texts[str(one.idea.idea_id)].idea) for one in group.members
            ),
        )
        for group in drawn
    ]


def _contests(groups: Sequence[SubmissionGroup]) -> dict[str, Sequence[Submission]]:
    return {group.name: group.members for group in groups}


def _baselines(groups: Sequence[Group], seed: int) -> Iterator[BenchmarkScore]:
    """Orders drawn by chance, whose rank correlation is 0 on average, and fixed ones of places."""
    for system, ordered in fixed_orders(groups).items():
        yield from _scores(ordered, system, seed)
    for metric, statistic in (("best_of_group", best_of_group), ("exact_ranking", exact_ranking)):
        drawn = random_order(groups, statistic, seed)
        yield benchmark_score(drawn, NAME, metric, STRATIFIED_RANDOM)


def _group(group: SubmissionGroup, strengths: Mapping[str, float | None], cluster: str) -> Group:
    """Members without a decision have no grade and take no part."""
    gold = {
        str(one.idea.idea_id): float(GRADES[one.decision])
        for one in group.members
        if one.decision is not None
    }
    return Group(group.name, gold, strengths, cluster)


def _scores(groups: Sequence[Group], system: str, seed: int) -> Iterator[BenchmarkScore]:
    yield benchmark_score(best_of_group(groups, seed), NAME, "best_of_group", system)
    yield benchmark_score(exact_ranking(groups, seed), NAME, "exact_ranking", system)
    yield benchmark_score(rank_correlation(groups, spearman, seed), NAME, "spearman", system)
    yield benchmark_score(rank_correlation(groups, kendall, seed), NAME, "kendall", system)


def _items(
    groups: Sequence[SubmissionGroup], ranked: Mapping[str, RankedMembers], system: str
) -> Iterator[BenchmarkItem]:
    for group in groups:
        one = ranked[group.name]
        members = _group(group, one.strengths, "")
        known = {name: value for name, value in one.strengths.items() if value is not None}
        complete = len(known) == len(group.members)
        best = max(members.gold.values(), default=None)
        yield BenchmarkItem(
            item_id=group.name,
            task="best_of_group",
            system=system,
            gold=", ".join(sorted(name for name, grade in members.gold.items() if grade == best))
            or None,
            answer=", ".join(
                sorted(name for name, value in known.items() if value == max(known.values()))
            )
            if complete
            else None,
            explanation=one.explanation if complete else "",
            unscored_reason=None if complete else one.unscored_reason or Reason.NO_EVIDENCE,
            unscored_detail=""
            if complete
            else one.unscored_detail or "not every member has a score",
            provenance=one.provenance,
        )


SUITE = Suite(
    NAME,
    "Does it find the best of similar submissions?",
    (GROUPS_FILE,),
    run,
    steps=(COMPARE_IDEAS,),
    ideas=lambda data: ideas_of(_contests(_groups(data))),
    conditions=submission_conditions,
    labels_public_since=DECIDED,
)
