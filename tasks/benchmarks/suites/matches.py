"""Groups and pairs of submissions, ranked by matches of their dossiers: with what an evaluation
found out, and by their text alone.
"""

from collections.abc import Mapping, Sequence

from schemas.idea import Idea
from schemas.judgement.benchmark import ASSAY, PROMPT_ONLY
from schemas.judgement.calibration import Prior
from tasks.benchmarks.innoeval import Submission, unique_ideas
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.ranking import RankedMembers, may_go_better, rank_members
from tasks.benchmarks.trial import Trial
from tasks.calibration.applying import load_prior, prior_log_odds, refuse_training_items
from tasks.ranking.dossier import Dossier, dossier_of

SCORES = "assay_scores"
"""Ideas in the order of their evaluations' scores, without any match."""
TEXT_ONLY = PROMPT_ONLY
PRIOR = "prior"
"""Ideas in the order that the profile's prior expects, without any match."""


def ideas_of(contests: Mapping[str, Sequence[Submission]]) -> list[Idea]:
    """Return the idea of every member, each once."""
    return unique_ideas(one for members in contests.values() for one in members)


def ranked_by_system(
    trial: Trial, contests: Mapping[str, Sequence[Submission]]
) -> dict[str, dict[str, RankedMembers]]:
    """Strengths by system and contest. A prior that the profile names is one more judge.

    Without modules, which is usual since evaluating all members takes long, `assay` is matches over
    titles and abstracts. With some (`--modules committee`) it is matches over dossiers of evaluated
    ideas, and two systems join it: `assay_scores`, those evaluations' scores alone, and, where
    asked for, `prompt_only`, matches over titles and abstracts.
    """
    ideas = ideas_of(contests)
    plain = {str(idea.idea_id): _plain(idea) for idea in ideas}
    prior = _prior(trial, ideas)
    if trial.unit.evaluated_run_id is None:
        expected = {str(idea.idea_id): _plain(idea, prior) for idea in ideas}
        return {ASSAY: _ranked(trial, ASSAY, contests, expected), **_by_prior(contests, expected)}
    dossiers, scores = _evaluated(trial, prior)
    found = {
        ASSAY: _ranked(trial, ASSAY, contests, plain | dossiers),
        SCORES: _by_score(contests, scores),
        **_by_prior(contests, dossiers),
    }
    if TEXT_ONLY in trial.parameters.baselines:
        found[TEXT_ONLY] = _ranked(trial, TEXT_ONLY, contests, plain)
    return found


def _prior(trial: Trial, ideas: Sequence[Idea]) -> Prior | None:
    """The profile's prior, never on what it was fitted on.

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
    contests: Mapping[str, Sequence[Submission]], dossiers: Mapping[str, Dossier]
) -> dict[str, dict[str, RankedMembers]]:
    """By what the prior expects alone; nothing where there is none."""
    expected = {name: one.prior_log_odds for name, one in dossiers.items()}
    known = any(value is not None for value in expected.values())
    return {PRIOR: _by_score(contests, expected)} if known else {}


def _evaluated(
    trial: Trial, prior: Prior | None
) -> tuple[dict[str, Dossier], dict[str, float | None]]:
    run_id = trial.evaluated_run()
    dossiers: dict[str, Dossier] = {}
    scores: dict[str, float | None] = {}
    for review in trial.reviews(run_id):
        idea_id = str(review.evaluation.idea.idea_id)
        dossiers[idea_id], scores[idea_id] = dossier_of(review, None, prior), review.score.score
    return dossiers, scores


def _ranked(
    trial: Trial,
    system: str,
    contests: Mapping[str, Sequence[Submission]],
    dossiers: Mapping[str, Dossier],
) -> dict[str, RankedMembers]:
    profile = trial.request.profile

    async def work(members: Sequence[Submission], context: ItemContext) -> RankedMembers:
        shown = [dossiers[str(one.idea.idea_id)] for one in members]
        return await rank_members(shown, profile.ranking, profile.seed, context)

    found = trial.each(f"matches {system}", contests, work, RankedMembers, ask_again=may_go_better)
    for ranked in found.values():
        if may_go_better(ranked) and ranked.unscored_reason is not None:
            trial.missing_reason = ranked.unscored_reason
    return found


def _by_score(
    contests: Mapping[str, Sequence[Submission]], scores: Mapping[str, float | None]
) -> dict[str, RankedMembers]:
    return {
        name: RankedMembers(
            strengths={str(one.idea.idea_id): scores.get(str(one.idea.idea_id)) for one in members}
        )
        for name, members in contests.items()
    }
