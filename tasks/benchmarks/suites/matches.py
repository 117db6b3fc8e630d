"""Suites `pairs` and `groups` (InnoEval): submissions ranked by pairwise matches."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from pydantic import Field

from schemas.idea import Idea
from schemas.judgement.benchmark import ASSAY, PROMPT_ONLY
from schemas.judgement.calibration import Prior
from schemas.judgement.ranking import Rating, RatingMethod
from schemas.profile import RankingParameters
from schemas.reasons import Reason
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.submissions import (
    DECISION_DATE,
    GROUPS_FILE,
    PAIR_FILES,
    Submission,
    SubmissionPair,
    cluster_contests,
    planned_ideas,
    read_groups,
    read_pairs,
    submission_conditions,
    unique_ideas,
    with_texts,
)
from tasks.benchmarks.suite import ExpectedCalls, Suite, SuiteData, SuiteEstimate, Trial, tokens_of
from tasks.calibration.calibrator_files import load_prior, prior_log_odds, refuse_training_items
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_orders, random_order
from tasks.metrics.labels import GRADES
from tasks.metrics.means import share_of
from tasks.metrics.rankings import (
    TIE,
    Group,
    Pair,
    best_of_group,
    exact_ranking,
    kendall,
    pairwise_accuracy,
    rank_correlation,
    spearman,
)
from tasks.ranking.dimensions import AS_REVIEWERS, DIMENSIONS, OVERALL, with_overall
from tasks.ranking.dossier import Dossier, dossier_of
from tasks.ranking.expected import TOKENS_PER_READING, TOKENS_PER_VERDICT
from tasks.ranking.rank import rank_groups
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS

SCORES = "assay_scores"
"""System that orders ideas by the scores of their evaluations, without matches."""
PRIOR = "prior"
"""System that orders ideas by the profile's prior, without matches."""
MATCHES_AT_ONCE = 4
OF_ONE_STEP = 1e-6
"""Weight of the dimensions, which only breaks ties of the overall strength."""

Contests = Mapping[str, Sequence[Submission]]
"""Members of each group or pair, by name."""


class ContestRanking(ItemResult):
    """Overall Bradley–Terry log-strengths of one contest; None without a scored match.

    Ties are broken by the mean strength along the dimensions. `reason` is that of the first match
    without a verdict.
    """

    strengths: dict[str, float | None]
    explanation: str = Field(default="", description="Reason of the first overall match.")

    def no_answer(self, detail: str) -> ItemResult:
        """Return the reason why there is no answer; `detail` is the default."""
        return ItemResult(
            reason=self.reason or Reason.NO_EVIDENCE,
            detail=self.detail or detail,
            provenance=self.provenance,
        )


# Matches.


def ranked_by_system(trial: Trial, contests: Contests) -> dict[str, dict[str, ContestRanking]]:
    """Return strengths by system and contest.

    Without modules (the default, because evaluating all members is slow), `assay` is matches over
    the ideas' texts. With modules, `assay` is matches over dossiers of evaluated ideas; other
    systems are `assay_scores` and, if requested, `prompt_only`, matches over the texts. A prior of
    the profile is another system.
    """
    ideas = unique_ideas(one for members in contests.values() for one in members)
    plain_dossiers = {str(idea.idea_id): _plain(idea) for idea in ideas}
    prior = _prior(trial, ideas)
    if trial.unit.evaluated_run_id is None:
        prior_dossiers = {str(idea.idea_id): _plain(idea, prior) for idea in ideas}
        return {
            ASSAY: _rank_contests(trial, ASSAY, contests, prior_dossiers),
            **_by_prior(contests, prior_dossiers),
        }
    dossiers: dict[str, Dossier] = {}
    scores: dict[str, float | None] = {}
    for review in trial.reviews(trial.evaluated_run()):
        idea_id = str(review.evaluation.idea.idea_id)
        dossiers[idea_id], scores[idea_id] = dossier_of(review, None, prior), review.score.score
    by_system = {
        ASSAY: _rank_contests(trial, ASSAY, contests, plain_dossiers | dossiers),
        SCORES: _by_score(contests, scores),
        **_by_prior(contests, dossiers),
    }
    if PROMPT_ONLY in trial.parameters.baselines:
        by_system[PROMPT_ONLY] = _rank_contests(trial, PROMPT_ONLY, contests, plain_dossiers)
    return by_system


def _prior(trial: Trial, ideas: Sequence[Idea]) -> Prior | None:
    """Return the profile's prior.

    Raises:
        ConfigurationError: it was fitted on one of these ideas, or cannot be read.
    """
    path = trial.request.profile.ranking.prior
    if path is None:
        return None
    prior = load_prior(path)
    refuse_training_items(prior.calibrator, (idea.text for idea in ideas), "ranking.prior")
    return prior


def _plain(idea: Idea, prior: Prior | None = None) -> Dossier:
    log_odds = prior_log_odds(prior, {}, idea.text) if prior is not None else None
    return Dossier(idea_id=idea.idea_id, title=idea.title, text=idea.text, prior_log_odds=log_odds)


def _by_prior(
    contests: Contests, dossiers: Mapping[str, Dossier]
) -> dict[str, dict[str, ContestRanking]]:
    """Return strengths by the prior alone; empty without a prior."""
    log_odds_by_idea = {name: one.prior_log_odds for name, one in dossiers.items()}
    if all(value is None for value in log_odds_by_idea.values()):
        return {}
    return {PRIOR: _by_score(contests, log_odds_by_idea)}


def _by_score(contests: Contests, scores: Mapping[str, float | None]) -> dict[str, ContestRanking]:
    return {
        name: ContestRanking(
            strengths={str(one.idea.idea_id): scores.get(str(one.idea.idea_id)) for one in members}
        )
        for name, members in contests.items()
    }


def _rank_contests(
    trial: Trial, system: str, contests: Contests, dossiers: Mapping[str, Dossier]
) -> dict[str, ContestRanking]:
    profile = trial.request.profile

    async def work(members: Sequence[Submission], context: ItemContext) -> ContestRanking:
        contestants = [dossiers[str(one.idea.idea_id)] for one in members]
        return await rank_members(contestants, profile.ranking, profile.seed, context)

    return trial.each(f"matches {system}", contests, work, ContestRanking)


async def rank_members(
    dossiers: Sequence[Dossier], parameters: RankingParameters, seed: int, context: ItemContext
) -> ContestRanking:
    """Rank one group by pairwise matches.

    `overall` asks for the reviewers' preference, because the labels are reviewers' decisions.
    """
    ranking = await rank_groups(
        dossiers,
        parameters,
        context.engine,
        seed,
        dimensions=(*DIMENSIONS, AS_REVIEWERS),
        concurrency=MATCHES_AT_ONCE,
    )
    overall = [match for match in ranking.matches if match.dimension == OVERALL.name]
    failed_match = next((match for match in overall if match.winner is None), None)
    scored_match = next((match for match in overall if match.winner is not None), None)
    example = scored_match or failed_match
    return ContestRanking(
        strengths=_tie_free_strengths(ranking.ratings),
        explanation=scored_match.rationale if scored_match is not None else "",
        reason=failed_match.unscored_reason if failed_match is not None else None,
        detail=failed_match.unscored_detail if failed_match is not None else "",
        provenance=example.provenance if example is not None else None,
    )


def _tie_free_strengths(ratings: Sequence[Rating]) -> dict[str, float | None]:
    fitted_ratings = [rating for rating in ratings if rating.method is RatingMethod.BRADLEY_TERRY]
    along: dict[str, list[float]] = {}
    for rating in fitted_ratings:
        if rating.dimension != OVERALL.name and rating.strength is not None:
            along.setdefault(str(rating.idea_id), []).append(rating.strength)
    return {
        str(rating.idea_id): (
            None
            if rating.strength is None
            else rating.strength + OF_ONE_STEP * fmean(along.get(str(rating.idea_id)) or [0.0])
        )
        for rating in fitted_ratings
        if rating.dimension == OVERALL.name
    }


def _expects(data: SuiteData, contests: Sequence[Sequence[Submission]]) -> SuiteEstimate:
    ideas = planned_ideas(data, (one for members in contests for one in members))
    match_count = sum(len(members) * (len(members) - 1) // 2 for members in contests)
    systems = 1 + (bool(data.parameters.modules) and PROMPT_ONLY in data.parameters.baselines)
    calls = float(match_count * systems * (2 if data.request.profile.ranking.both_orders else 1))
    reply_tokens = len(with_overall(DIMENSIONS)) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    match_calls = ExpectedCalls(COMPARE_IDEAS, calls, 2 * tokens_of(ideas), reply_tokens)
    return SuiteEstimate(len(contests), [match_calls], ideas)


def _highest(strengths: Mapping[str, float | None]) -> str:
    scores = {name: value for name, value in strengths.items() if value is not None}
    return max(scores, key=lambda name: scores[name])


# Pairs: which of two submissions is better.


def run_pairs(trial: Trial) -> None:
    """Score accuracy by difficulty and decisions, and the share of ties.

    Ties count as wrong.

    Intervals keep pairs that share submissions together.
    """
    pairs = {pair.pair_id: pair for pair in _pairs(trial)}
    contests = {name: (pair.first, pair.second) for name, pair in pairs.items()}
    clusters = cluster_contests(contests)
    right = {
        name: labeled_pair
        for name, pair in pairs.items()
        if (labeled_pair := _labeled_pair(pair, clusters[name])) is not None
    }
    for system, rankings in ranked_by_system(trial, contests).items():
        preferred_ids = {name: _preferred_id(rankings[name]) for name in pairs}
        for name, pair in pairs.items():
            answer, gold = preferred_ids[name], right[name].better if name in right else None
            trial.record(
                f"pair {pair.difficulty}",
                name,
                answer,
                rankings[name]
                if answer is not None
                else rankings[name].no_answer("not both have a score"),
                system=system,
                gold=gold,
                value=None if gold is None else float(answer == gold),
                explanation=rankings[name].explanation,
            )
        answered_pairs = [
            replace(one, preferred=preferred_ids[name]) for name, one in right.items()
        ]
        _score_pairs(trial, answered_pairs, system)
        for difficulty in PAIR_FILES:
            ties = [
                None if one.preferred is None else one.preferred == TIE
                for one in answered_pairs
                if one.difficulty == difficulty
            ]
            trial.score("tie_share", share_of(ties), system, f"difficulty={difficulty}")
    _pair_baselines(trial, list(right.values()))


def _pairs(data: SuiteData) -> list[SubmissionPair]:
    drawn_pairs = [
        pair
        for difficulty, name in PAIR_FILES.items()
        for pair in data.draw(read_pairs(data.file(name), difficulty))
    ]
    texts = with_texts(data, (one for pair in drawn_pairs for one in (pair.first, pair.second)))
    return [
        replace(
            pair,
            first=replace(pair.first, idea=texts[str(pair.first.idea.idea_id)].idea),
            second=replace(pair.second, idea=texts[str(pair.second.idea.idea_id)].idea),
        )
        for pair in drawn_pairs
    ]


def _labeled_pair(pair: SubmissionPair, cluster: str) -> Pair | None:
    """Return the pair with its gold answer; None without two different decisions."""
    decisions = {pair.first.decision, pair.second.decision}
    if None in decisions or len(decisions) < 2:
        return None
    better, worse = sorted((pair.first, pair.second), key=lambda one: -GRADES[one.decision or ""])
    ids = (str(better.idea.idea_id), str(worse.idea.idea_id))
    return Pair(*ids, None, pair.difficulty, pair.kind, cluster)


def _preferred_id(ranking: ContestRanking) -> str | None:
    """Return the stronger idea, or `TIE`; None if a strength is missing."""
    values = list(ranking.strengths.values())
    if len(values) < 2 or any(value is None for value in values):
        return None
    return TIE if len(set(values)) == 1 else _highest(ranking.strengths)


def _score_pairs(trial: Trial, pairs: Sequence[Pair], system: str) -> None:
    for part, of_part in _parts(pairs).items():
        trial.score("pairwise_accuracy", pairwise_accuracy(of_part, trial.seed), system, part)


def _parts(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Group pairs by difficulty and by decisions."""
    parts: dict[str, list[Pair]] = {}
    for one in sorted(pairs, key=lambda one: one.difficulty):
        parts.setdefault(f"difficulty={one.difficulty}", []).append(one)
    for one in sorted((one for one in pairs if one.kind), key=lambda one: one.kind):
        parts.setdefault(f"decisions={one.kind}", []).append(one)
    return parts


def _pair_baselines(trial: Trial, pairs: Sequence[Pair]) -> None:
    """Score random choices, and constant choices by identifier position."""

    def as_groups(some: Sequence[Pair]) -> list[Group]:
        return [Group("", {one.better: 1.0, one.worse: 0.0}, {}) for one in some]

    for system, ordered_groups in fixed_orders(as_groups(pairs)).items():
        answered_pairs = [
            replace(one, preferred=_highest(group.predicted))
            for one, group in zip(pairs, ordered_groups, strict=True)
        ]
        _score_pairs(trial, answered_pairs, system)
    for part, of_part in _parts(pairs).items():
        estimate = random_order(as_groups(of_part), best_of_group, trial.seed)
        trial.score("pairwise_accuracy", estimate, STRATIFIED_RANDOM, part)


def _expected_pairs(data: SuiteData) -> SuiteEstimate:
    contests = [
        (pair.first, pair.second)
        for difficulty, name in PAIR_FILES.items()
        for pair in data.first(read_pairs(data.file(name), difficulty))
    ]
    return _expects(data, contests)


# Groups: the order of similar submissions.


def run_groups(trial: Trial) -> None:
    """Score best of group, exact ranking and rank correlations."""
    contests = _groups(trial)
    clusters = cluster_contests(contests)

    def groups_from(strengths: Mapping[str, Mapping[str, float | None]]) -> list[Group]:
        """Return the groups of graded members with predicted strengths."""
        return [
            Group(
                name,
                {
                    str(one.idea.idea_id): float(GRADES[one.decision])
                    for one in members
                    if one.decision is not None
                },
                strengths.get(name, {}),
                clusters[name],
            )
            for name, members in contests.items()
        ]

    for system, rankings in ranked_by_system(trial, contests).items():
        groups = groups_from({name: one.strengths for name, one in rankings.items()})
        for group in groups:
            one = rankings[group.name]
            scores = {name: value for name, value in one.strengths.items() if value is not None}
            complete = len(scores) == len(contests[group.name])
            best = max(group.gold.values(), default=None)
            gold = sorted(name for name, grade in group.gold.items() if grade == best)
            best_names = sorted(
                name for name, value in scores.items() if value == max(scores.values())
            )
            trial.record(
                "best_of_group",
                group.name,
                ", ".join(best_names) if complete else None,
                one if complete else one.no_answer("not every member has a score"),
                system=system,
                gold=", ".join(gold) or None,
                explanation=one.explanation,
            )
        _score_groups(trial, groups, system)
    unranked_groups = groups_from({})
    for system, ordered_groups in fixed_orders(unranked_groups).items():
        _score_groups(trial, ordered_groups, system)
    # Rank correlations of random orders are 0 on average, and not simulated.
    for metric, statistic in (("best_of_group", best_of_group), ("exact_ranking", exact_ranking)):
        estimate = random_order(unranked_groups, statistic, trial.seed)
        trial.score(metric, estimate, STRATIFIED_RANDOM)


def _groups(data: SuiteData) -> dict[str, tuple[Submission, ...]]:
    drawn_groups = data.draw(read_groups(data.file(GROUPS_FILE)))
    texts = with_texts(data, (one for group in drawn_groups for one in group.members))
    return {
        group.name: tuple(
            replace(one, idea=texts[str(one.idea.idea_id)].idea) for one in group.members
        )
        for group in drawn_groups
    }


def _score_groups(trial: Trial, groups: Sequence[Group], system: str) -> None:
    estimates = {
        "best_of_group": best_of_group(groups, trial.seed),
        "exact_ranking": exact_ranking(groups, trial.seed),
        "spearman": rank_correlation(groups, spearman, trial.seed),
        "kendall": rank_correlation(groups, kendall, trial.seed),
    }
    trial.score_all(estimates, system)


PAIRS = Suite(
    "pairs",
    "Does it prefer the better of two submissions?",
    tuple(PAIR_FILES.values()),
    run_pairs,
    steps=(COMPARE_IDEAS,),
    expects=_expected_pairs,
    ideas=lambda data: unique_ideas(
        one for pair in _pairs(data) for one in (pair.first, pair.second)
    ),
    conditions=submission_conditions,
    labels_public_since=DECISION_DATE,
)
GROUPS = Suite(
    "groups",
    "Does it find the best of similar submissions?",
    (GROUPS_FILE,),
    run_groups,
    steps=(COMPARE_IDEAS,),
    expects=lambda data: _expects(
        data, [group.members for group in data.first(read_groups(data.file(GROUPS_FILE)))]
    ),
    ideas=lambda data: unique_ideas(one for each in _groups(data).values() for one in each),
    conditions=submission_conditions,
    labels_public_since=DECISION_DATE,
)
