"""Suites `pairs` and `groups` (InnoEval): submissions with different decisions, ranked by matches of
their dossiers: with what an evaluation found out, and by their text alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from pydantic import Field

from schemas.idea import Idea
from schemas.judgement.benchmark import ASSAY, PROMPT_ONLY
from schemas.judgement.calibration import Prior
from schemas.judgement.ranking import Rating, RatingMethod
from schemas.profile import RankingParameters
from schemas.reasons import Reason
from tasks.benchmarks.items import ItemContext, Kept
from tasks.benchmarks.submissions import (
    DECIDED,
    GROUPS_FILE,
    PAIR_FILES,
    Submission,
    SubmissionPair,
    connected,
    planned_ideas,
    read_groups,
    read_pairs,
    submission_conditions,
    unique_ideas,
    with_texts,
)
from tasks.benchmarks.suite import Asking, Counted, Suite, SuiteData, Trial, tokens_of
from tasks.calibration.applying import load_prior, prior_log_odds, refuse_training_items
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_orders, random_order
from tasks.metrics.labelled import GRADES
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
"""Ideas in the order of their evaluations' scores, without any match."""
PRIOR = "prior"
"""Ideas in the order that the profile's prior expects, without any match."""
MATCHES_AT_ONCE = 4
OF_ONE_STEP = 1e-6
"""Weight of the dimensions beside the whole: enough to break a tie, too little to change an order.
"""

Contests = Mapping[str, Sequence[Submission]]
"""Members of each group or pair, by its name."""


class RankedMembers(Kept):
    """Bradley–Terry log-strengths overall; None for an idea without a scored match.

    A benchmark asks for an answer, so ideas level on the whole are told apart by the mean of their
    strengths along the dimensions. `reason`: of the first match without a verdict.
    """

    strengths: dict[str, float | None]
    explanation: str = Field(default="", description="Reason of the first overall match.")

    def lacking(self, detail: str) -> Kept:
        """Return why there is no answer; `detail` where no match says it."""
        return Kept(
            reason=self.reason or Reason.NO_EVIDENCE,
            detail=self.detail or detail,
            provenance=self.provenance,
        )


# Matches.


def ranked_by_system(trial: Trial, contests: Contests) -> dict[str, dict[str, RankedMembers]]:
    """Return strengths by system and contest. A prior that the profile names is one more judge.

    Without modules, which is usual since evaluating all members takes long, `assay` is matches over
    titles and abstracts. With some (`--modules committee`) it is matches over dossiers of evaluated
    ideas, and two systems join it: `assay_scores`, those evaluations' scores alone, and, where
    asked for, `prompt_only`, matches over titles and abstracts.
    """
    ideas = unique_ideas(one for members in contests.values() for one in members)
    plain = {str(idea.idea_id): _plain(idea) for idea in ideas}
    prior = _prior(trial, ideas)
    if trial.unit.evaluated_run_id is None:
        expected = {str(idea.idea_id): _plain(idea, prior) for idea in ideas}
        return {ASSAY: _ranked(trial, ASSAY, contests, expected), **_by_prior(contests, expected)}
    dossiers: dict[str, Dossier] = {}
    scores: dict[str, float | None] = {}
    for review in trial.reviews(trial.evaluated_run()):
        idea_id = str(review.evaluation.idea.idea_id)
        dossiers[idea_id], scores[idea_id] = dossier_of(review, None, prior), review.score.score
    found = {
        ASSAY: _ranked(trial, ASSAY, contests, plain | dossiers),
        SCORES: _by_score(contests, scores),
        **_by_prior(contests, dossiers),
    }
    if PROMPT_ONLY in trial.parameters.baselines:
        found[PROMPT_ONLY] = _ranked(trial, PROMPT_ONLY, contests, plain)
    return found


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
    expected = prior_log_odds(prior, {}, idea.text) if prior is not None else None
    return Dossier(idea_id=idea.idea_id, title=idea.title, text=idea.text, prior_log_odds=expected)


def _by_prior(
    contests: Contests, dossiers: Mapping[str, Dossier]
) -> dict[str, dict[str, RankedMembers]]:
    """By what the prior expects alone; nothing where there is none."""
    expected = {name: one.prior_log_odds for name, one in dossiers.items()}
    known = any(value is not None for value in expected.values())
    return {PRIOR: _by_score(contests, expected)} if known else {}


def _by_score(contests: Contests, scores: Mapping[str, float | None]) -> dict[str, RankedMembers]:
    return {
        name: RankedMembers(
            strengths={str(one.idea.idea_id): scores.get(str(one.idea.idea_id)) for one in members}
        )
        for name, members in contests.items()
    }


def _ranked(
    trial: Trial, system: str, contests: Contests, dossiers: Mapping[str, Dossier]
) -> dict[str, RankedMembers]:
    profile = trial.request.profile

    async def work(members: Sequence[Submission], context: ItemContext) -> RankedMembers:
        shown = [dossiers[str(one.idea.idea_id)] for one in members]
        return await rank_members(shown, profile.ranking, profile.seed, context)

    return trial.each(f"matches {system}", contests, work, RankedMembers)


async def rank_members(
    dossiers: Sequence[Dossier], parameters: RankingParameters, seed: int, context: ItemContext
) -> RankedMembers:
    """Let the ideas of one group meet in pairs, in both orders where the profile says so.

    The labels are decisions of reviewers, so that is what `overall` asks for here.
    """
    ranked = await rank_groups(
        dossiers,
        parameters,
        context.engine,
        seed,
        dimensions=(*DIMENSIONS, AS_REVIEWERS),
        concurrency=MATCHES_AT_ONCE,
    )
    overall = [match for match in ranked.matches if match.dimension == OVERALL.name]
    failed = next((match for match in overall if match.winner is None), None)
    scored = next((match for match in overall if match.winner is not None), None)
    shown = scored or failed
    return RankedMembers(
        strengths=_forced(ranked.ratings),
        explanation=scored.rationale if scored is not None else "",
        reason=failed.unscored_reason if failed is not None else None,
        detail=failed.unscored_detail if failed is not None else "",
        provenance=shown.provenance if shown is not None else None,
    )


def _forced(ratings: Sequence[Rating]) -> dict[str, float | None]:
    fitted = [rating for rating in ratings if rating.method is RatingMethod.BRADLEY_TERRY]
    along: dict[str, list[float]] = {}
    for rating in fitted:
        if rating.dimension != OVERALL.name and rating.strength is not None:
            along.setdefault(str(rating.idea_id), []).append(rating.strength)
    return {
        str(rating.idea_id): (
            None
            if rating.strength is None
            else rating.strength + OF_ONE_STEP * fmean(along.get(str(rating.idea_id)) or [0.0])
        )
        for rating in fitted
        if rating.dimension == OVERALL.name
    }


def _expects(data: SuiteData, contests: Sequence[Sequence[Submission]]) -> Counted:
    ideas = planned_ideas(data, (one for members in contests for one in members))
    meetings = sum(len(members) * (len(members) - 1) // 2 for members in contests)
    systems = 1 + (bool(data.parameters.modules) and PROMPT_ONLY in data.parameters.baselines)
    calls = float(meetings * systems * (2 if data.request.profile.ranking.both_orders else 1))
    said = len(with_overall(DIMENSIONS)) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    asking = Asking(COMPARE_IDEAS, calls, 2 * tokens_of(ideas), said)
    return Counted(len(contests), [asking], ideas)


def _highest(strengths: Mapping[str, float | None]) -> str:
    known = {name: value for name, value in strengths.items() if value is not None}
    return max(known, key=lambda name: known[name])


# Pairs: which of two submissions is better.


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair with a right answer; `kind`: its two decisions, as the file names them."""

    pair: Pair
    kind: str

    @property
    def group(self) -> Group:
        return Group("", {self.pair.better: 1.0, self.pair.worse: 0.0}, {})


def run_pairs(trial: Trial) -> None:
    """Score accuracy on easy and hard pairs and by their two decisions, with the share of ties, which
    count as wrong; intervals draw pairs that share submissions together.
    """
    pairs = {pair.pair_id: pair for pair in _pairs(trial)}
    contests = {name: (pair.first, pair.second) for name, pair in pairs.items()}
    clusters = connected(contests)
    right = {
        name: judged
        for name, pair in pairs.items()
        if (judged := _judged(pair, clusters[name])) is not None
    }
    for system, ranked in ranked_by_system(trial, contests).items():
        preferred = {name: _preferred(ranked[name]) for name in pairs}
        for name, pair in pairs.items():
            answer, gold = preferred[name], right[name].pair.better if name in right else None
            trial.record(
                f"pair {pair.difficulty}",
                name,
                answer,
                ranked[name]
                if answer is not None
                else ranked[name].lacking("not both have a score"),
                system=system,
                gold=gold,
                value=None if gold is None else float(answer == gold),
                explanation=ranked[name].explanation,
            )
        answered = [_preferring(one, preferred[name]) for name, one in right.items()]
        _score_pairs(trial, answered, system)
        for difficulty in PAIR_FILES:
            tied = [
                None if one.pair.preferred is None else one.pair.preferred == TIE
                for one in answered
                if one.pair.difficulty == difficulty
            ]
            trial.score("tie_share", share_of(tied), system, f"difficulty={difficulty}")
    _pair_baselines(trial, list(right.values()))


def _pairs(data: SuiteData) -> list[SubmissionPair]:
    drawn = [
        pair
        for difficulty, name in PAIR_FILES.items()
        for pair in data.draw(read_pairs(data.file(name), difficulty))
    ]
    texts = with_texts(data, (one for pair in drawn for one in (pair.first, pair.second)))
    return [
        replace(
            pair,
            first=replace(pair.first, idea=texts[str(pair.first.idea.idea_id)].idea),
            second=replace(pair.second, idea=texts[str(pair.second.idea.idea_id)].idea),
        )
        for pair in drawn
    ]


def _judged(pair: SubmissionPair, cluster: str) -> JudgedPair | None:
    """None for a pair without two different decisions: it has no right answer."""
    decisions = {pair.first.decision, pair.second.decision}
    if None in decisions or len(decisions) < 2:
        return None
    better, worse = sorted((pair.first, pair.second), key=lambda one: -GRADES[one.decision or ""])
    ids = (str(better.idea.idea_id), str(worse.idea.idea_id))
    return JudgedPair(Pair(*ids, None, pair.difficulty, cluster), pair.kind)


def _preferring(one: JudgedPair, preferred: str | None) -> JudgedPair:
    return replace(one, pair=replace(one.pair, preferred=preferred))


def _preferred(ranked: RankedMembers) -> str | None:
    """The stronger one; None unless both have a strength."""
    values = list(ranked.strengths.values())
    if len(values) < 2 or any(value is None for value in values):
        return None
    return TIE if len(set(values)) == 1 else _highest(ranked.strengths)


def _score_pairs(trial: Trial, judged: Sequence[JudgedPair], system: str) -> None:
    for part, of_part in _parts(judged).items():
        estimate = pairwise_accuracy([one.pair for one in of_part], trial.seed)
        trial.score("pairwise_accuracy", estimate, system, part)


def _parts(judged: Sequence[JudgedPair]) -> dict[str, list[JudgedPair]]:
    """By difficulty, then by the two decisions."""
    found: dict[str, list[JudgedPair]] = {}
    for one in sorted(judged, key=lambda one: one.pair.difficulty):
        found.setdefault(f"difficulty={one.pair.difficulty}", []).append(one)
    for one in sorted((one for one in judged if one.kind), key=lambda one: one.kind):
        found.setdefault(f"decisions={one.kind}", []).append(one)
    return found


def _pair_baselines(trial: Trial, judged: Sequence[JudgedPair]) -> None:
    """A coin, and always the place (by identifier) that is right more often, or the first one."""
    for system, ordered in fixed_orders([one.group for one in judged]).items():
        answered = [
            _preferring(one, _highest(group.predicted))
            for one, group in zip(judged, ordered, strict=True)
        ]
        _score_pairs(trial, answered, system)
    for part, of_part in _parts(judged).items():
        drawn = random_order([one.group for one in of_part], best_of_group, trial.seed)
        trial.score("pairwise_accuracy", drawn, STRATIFIED_RANDOM, part)


def _expected_pairs(data: SuiteData) -> Counted:
    contests = [
        (pair.first, pair.second)
        for difficulty, name in PAIR_FILES.items()
        for pair in data.first(read_pairs(data.file(name), difficulty))
    ]
    return _expects(data, contests)


# Groups: who is best of similar submissions, and in what order.


def run_groups(trial: Trial) -> None:
    """Score best of group, exact ranking and mean rank correlations, for matches, for scores alone
    and for the baselines.
    """
    contests = _groups(trial)
    clusters = connected(contests)

    def listed(strengths: Mapping[str, Mapping[str, float | None]]) -> list[Group]:
        """Members without a decision have no grade and take no part."""
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

    for system, ranked in ranked_by_system(trial, contests).items():
        groups = listed({name: one.strengths for name, one in ranked.items()})
        for group in groups:
            one = ranked[group.name]
            known = {name: value for name, value in one.strengths.items() if value is not None}
            complete = len(known) == len(contests[group.name])
            best = max(group.gold.values(), default=None)
            gold = sorted(name for name, grade in group.gold.items() if grade == best)
            named = sorted(name for name, value in known.items() if value == max(known.values()))
            trial.record(
                "best_of_group",
                group.name,
                ", ".join(named) if complete else None,
                one if complete else one.lacking("not every member has a score"),
                system=system,
                gold=", ".join(gold) or None,
                explanation=one.explanation,
            )
        _score_groups(trial, groups, system)
    unranked = listed({})
    for system, ordered in fixed_orders(unranked).items():
        _score_groups(trial, ordered, system)
    # Orders drawn by chance: their rank correlation is 0 on average.
    for metric, statistic in (("best_of_group", best_of_group), ("exact_ranking", exact_ranking)):
        drawn = random_order(unranked, statistic, trial.seed)
        trial.score(metric, drawn, STRATIFIED_RANDOM)


def _groups(data: SuiteData) -> dict[str, tuple[Submission, ...]]:
    drawn = data.draw(read_groups(data.file(GROUPS_FILE)))
    texts = with_texts(data, (one for group in drawn for one in group.members))
    return {
        group.name: tuple(
            replace(one, idea=texts[str(one.idea.idea_id)].idea) for one in group.members
        )
        for group in drawn
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
    labels_public_since=DECIDED,
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
    labels_public_since=DECIDED,
)
