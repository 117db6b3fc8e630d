"""Study `ideation`: last versions of ideas against first, and judge biases.

The same measurement on three inputs: simulated ideas and judges of known quality and biases;
bundled ideas with generic praise appended; and the versions of a published ideation (`--run`),
judged by an engine of another model family than the one that wrote them.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean

import numpy as np

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import ASSAY, BenchmarkRequest
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.ideation import IdeaVersion, kept_versions
from schemas.works.ideation_run import IDEATIONS, IdeationHead
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.suite import (
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
    sample_file,
)
from tasks.ideas.read import read_ideas
from tasks.judging.expected import CHARACTERS_PER_TOKEN
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, paired_difference, share_of
from tasks.ranking.dimensions import DIMENSIONS, OVERALL, with_overall
from tasks.ranking.dossier import Dossier
from tasks.ranking.expected import TOKENS_PER_READING, TOKENS_PER_VERDICT
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS
from tests.benchmarks.studies.version_contests import (
    ABLATIONS,
    FLATTERS,
    FLATTERY,
    IMPROVES,
    JUDGES,
    SOUND,
    Answer,
    Contest,
    ContestMatches,
    SimulatedEngine,
    answers_along,
    effects,
    flattery_of,
    judge_both_orders,
    praise_contests,
    simulated_world,
    win_rates,
)
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)

NAME = "ideation"
SIMULATED, TRUTH = "simulated", "truth"
FEWEST_SEEDS = 30
ASKED = with_overall(DIMENSIONS)
Place = tuple[str, int]
"""An idea: its seed and its slot within the seed."""


def run(trial: Trial) -> None:
    """Score simulations, ideas with praise, and the ideation of `--run`."""
    _score_simulations(trial)
    _score_praise(trial)
    if trial.parameters.evaluated_run is not None:
        _score_run(trial, versions_of(trial.request, trial.settings))


def _score_simulations(trial: Trial) -> None:
    """Score simulated judges on improving and flattering generators and on ablations.

    Every estimate is recorded with its true value.
    """

    def score(
        estimates: Mapping[str, Estimate], true_values: Mapping[str, float], part: str
    ) -> None:
        truth = {name: Estimate(true_values[name], estimates[name].count) for name in estimates}
        trial.score_all(estimates, SIMULATED, part)
        trial.score_all(truth, TRUTH, part)

    seed = trial.seed
    unbiased_answers: dict[str, list[Answer]] = {}
    for generator in (IMPROVES, FLATTERS):
        world = simulated_world(generator, seed)
        for judge in JUDGES:
            answers = _simulate_answers(SimulatedEngine(judge, world, seed))
            unbiased_answers.setdefault(generator.name, answers)
            part = f"generator={generator.name}, judge={judge.name}"
            score(win_rates(answers, seed) | effects(answers, seed), world.truth(judge), part)
        gains, planted_flattery = _flattery_gains(world.contests, seed), generator.flattery
        true = {f"{name}_gained": value for name, value in planted_flattery.items()}
        score({name: gains[name] for name in true}, true, f"generator={generator.name}")
    complete_world = simulated_world(IMPROVES, seed)
    for ablation in ABLATIONS:
        world = simulated_world(ablation, seed)
        answers = _simulate_answers(SimulatedEngine(SOUND, world, seed))
        win_rate_loss = paired_difference(
            [each.last_won for each in unbiased_answers[IMPROVES.name]],
            [each.last_won for each in answers],
            seed,
            [each.contest.cluster for each in answers],
        )
        rates = [each.truth(SOUND)["last_round_win_rate"] for each in (complete_world, world)]
        part = f"generator={ablation.name}, judge={SOUND.name}"
        score({"win_rate_lost": win_rate_loss}, {"win_rate_lost": rates[0] - rates[1]}, part)


def _simulate_answers(engine: SimulatedEngine) -> list[Answer]:
    contests = engine.world.contests

    async def matches_by_contest() -> dict[str, ContestMatches]:
        return {
            each.name: await judge_both_orders(each, (OVERALL,), engine, engine.seed)
            for each in contests
        }

    return answers_along(contests, asyncio.run(matches_by_contest()), OVERALL.name)


def _score_praise(trial: Trial) -> None:
    """Score bundled ideas against copies with praise.

    An unbiased judge gives one half.
    """
    ideas = trial.draw(read_ideas(sample_file("ideas.jsonl"), default_cutoff=None).ideas)
    dossiers = [Dossier(idea_id=idea.idea_id, title=idea.title, text=idea.text) for idea in ideas]
    for name, answers in _judge_contests(trial, "praise", praise_contests(dossiers)).items():
        rates = win_rates(answers, trial.seed)
        part = f"praise added, dimension={name}"
        trial.score("praised_win_rate", rates["last_round_win_rate"], part=part)
        trial.score("first_shown_share", rates["first_shown_share"], part=part)


def _judge_contests(
    trial: Trial, task: str, contests: Sequence[Contest]
) -> dict[str, list[Answer]]:
    """Judge all contests by the engine; record and return answers by dimension."""
    seed = trial.request.profile.seed

    async def work(contest: Contest, context: ItemContext) -> ContestMatches:
        return await judge_both_orders(contest, ASKED, context.engine, seed)

    matches_by_contest = trial.each(
        task, {each.name: each for each in contests}, work, ContestMatches
    )
    by_dimension = {
        each.name: answers_along(contests, matches_by_contest, each.name) for each in ASKED
    }
    for dimension, answers in by_dimension.items():
        for each in answers:
            matches = matches_by_contest[each.contest.name].matches
            first = next(match for match in matches if match.dimension == dimension)
            failed_match = next((match for match in matches if match.winner is None), first)
            last_share = each.last_won
            trial.record(
                f"{task}, {dimension}",
                each.contest.name,
                None
                if last_share is None
                else {0.0: "first", 1.0: "last"}.get(last_share, "undecided"),
                ItemResult(
                    reason=failed_match.unscored_reason,
                    detail=failed_match.unscored_detail,
                    provenance=first.provenance,
                ),
                value=last_share,
                explanation=first.rationale,
            )
    return by_dimension


@dataclass(frozen=True)
class Versions:
    """Versions of a published ideation."""

    head: IdeationHead
    made: tuple[IdeaVersion, ...]

    @cached_property
    def stacks(self) -> dict[Place, list[IdeaVersion]]:
        """The kept versions of each idea, oldest first."""
        stacks: dict[Place, list[IdeaVersion]] = {}
        for version in sorted(kept_versions(self.made), key=lambda each: each.round):
            stacks.setdefault((version.seed_id, version.slot), []).append(version)
        return dict(sorted(stacks.items()))

    @cached_property
    def contests(self) -> tuple[Contest, ...]:
        """Contests of last against first versions.

        Ideas with a single version have none.
        """
        return tuple(
            Contest(f"{seed}-{slot}", seed, _dossier(stack[0]), _dossier(stack[-1]))
            for (seed, slot), stack in self.stacks.items()
            if len(stack) > 1
        )

    def after(self, number: int) -> dict[Place, IdeaVersion]:
        """Return the current version of each idea after a round."""
        states = {
            place: [version for version in stack if version.round <= number]
            for place, stack in self.stacks.items()
        }
        return {place: stack[-1] for place, stack in states.items() if stack}


def _dossier(version: IdeaVersion) -> Dossier:
    return Dossier(idea_id=version.version_id, title=version.title, text=version.text or "")


def versions_of(request: BenchmarkRequest, settings: Settings) -> Versions:
    """Return the versions of the ideation that `--run` names.

    Raises:
        UnknownNameError: it is not published.
        ConfigurationError: it has no ideas, or the judge is of the model family that wrote them.
    """
    run_id = request.parameters.evaluated_run
    assert run_id is not None
    warehouse = Warehouse(request.warehouse, settings)
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(IDEATIONS), run_id)
        rounds = published_units(connection, kind_of(IDEATIONS), run_id)
    versions = Versions(head, tuple(version for each in rounds for version in each.versions))
    if not versions.stacks:
        raise ConfigurationError(f"--run {run_id} has no idea to judge: only leads, or none")
    if family_of(request.engine) == family_of(EngineChoice.parse(head.engine)):
        raise ConfigurationError(
            f"--engine {request.engine.text} is of the model family that wrote the ideas"
            f" ({head.engine}): judge them by a model of another provider"
        )
    return versions


_OF_ONE_MAKER = {"o": "gpt", "chatgpt": "gpt", "codex": "gpt", "gemma": "gemini"}


def family_of(engine: EngineChoice) -> str:
    """Return the model family, by the first word of its name.

    The provider is ignored. Families of one maker share a name.
    """
    if engine.model is None:
        return engine.text
    name = engine.model.rpartition("/")[2].casefold()
    maker, _, rest = name.partition(".")
    if maker.isalpha() and rest[:1].isalpha():  # as in `anthropic.claude-sonnet-4`
        name = rest
    word = next((place for place, letter in enumerate(name) if not letter.isalpha()), len(name))
    return _OF_ONE_MAKER.get(name[:word], name[:word]) or name


def _score_run(trial: Trial, versions: Versions) -> None:
    seed, writer = trial.seed, versions.head.engine
    seeds = sorted({seed_id for seed_id, _ in versions.stacks})
    trial.evaluated_run_ids.append(versions.head.run_id)
    drawn_seeds = set(trial.draw(seeds))
    contests = [each for each in versions.contests if each.cluster in drawn_seeds]
    if len(drawn_seeds) < FEWEST_SEEDS:
        logger.warning(
            "%s: %d seeds; from %d on, intervals tell much of a win rate",
            NAME,
            len(drawn_seeds),
            FEWEST_SEEDS,
        )
    for name, answers in _judge_contests(trial, "last against first", contests).items():
        estimates = win_rates(answers, seed) | effects(answers, seed)
        trial.score_all(estimates, ASSAY, f"dimension={name}")
    revision_flags = [len(stack) > 1 for stack in versions.stacks.values()]
    clusters = [seed_id for seed_id, _ in versions.stacks]
    trial.score("revised_share", share_of(revision_flags, seed, clusters), writer)
    trial.score_all(_flattery_gains(versions.contests, seed), writer, "last less first")
    spread = _distances(trial, versions)
    for number in range(1, versions.head.round_count + 1):
        estimates = _of_round(versions, number, seed) | {"diversity": mean(spread[number])}
        trial.score_all(estimates, writer, f"round={number}")


def _flattery_gains(contests: Sequence[Contest], seed: int) -> dict[str, Estimate]:
    """Estimate how much the flattery features grow from first to last versions."""
    first, last = (
        (
            [flattery_of(text) for text in texts]
            for texts in zip(*((each.first.text, each.last.text) for each in contests), strict=True)
        )
        if contests
        else ([], [])
    )
    clusters = [each.cluster for each in contests]
    return {
        f"{name}_gained": paired_difference(
            [each[name] for each in last], [each[name] for each in first], seed, clusters
        )
        for name in FLATTERY
    }


def _of_round(versions: Versions, number: int, seed: int) -> dict[str, Estimate]:
    """Estimate drop shares of a round, and later novelty and flattery."""
    made_versions = [
        each for each in versions.made if each.round == number and each.text is not None
    ]
    states = list(versions.after(number).values())
    clusters = [each.seed_id for each in states]
    flattery_rows = [flattery_of(each.text or "") for each in states]
    similarities = [each.closest_similarity_0_to_1 for each in states]
    made_clusters = [each.seed_id for each in made_versions]
    twins = [each.dropped_reason is Reason.NEAR_DUPLICATE for each in made_versions]
    published_flags = [each.dropped_reason is Reason.NEAR_PUBLISHED for each in made_versions]
    return {
        "near_duplicate_share": share_of(twins, seed, made_clusters),
        "near_published_share": share_of(published_flags, seed, made_clusters),
        "closest_work_similarity": mean(similarities, seed, clusters),
        **{name: mean([each[name] for each in flattery_rows], seed, clusters) for name in FLATTERY},
    }


class Distances(ItemResult):
    """Mean of 1 - cosine between embeddings of a seed's ideas.

    `mean_distance` is None for a single idea.
    """

    mean_distance: float | None


def _distances(trial: Trial, versions: Versions) -> dict[int, list[float | None]]:
    """Return the mean distances by round, one for each seed."""
    texts: dict[str, tuple[str, ...]] = {}
    rounds = range(1, versions.head.round_count + 1)
    for number in rounds:
        for (seed, _), version in versions.after(number).items():
            name = f"{number} {seed}"
            texts[name] = (*texts.get(name, ()), version.text or "")

    async def work(idea_texts: tuple[str, ...], context: ItemContext) -> Distances:
        vectors = await context.embedder.embed(idea_texts)
        distances = [1 - float(np.dot(one, other)) for one, other in combinations(vectors, 2)]
        return Distances(mean_distance=fmean(distances) if distances else None)

    distances = trial.each("distances", texts, work, Distances)
    return {
        number: [
            each.mean_distance for name, each in distances.items() if name.split()[0] == str(number)
        ]
        for number in rounds
    }


def _expects(data: SuiteData) -> SuiteEstimate:
    sample_ideas = read_ideas(sample_file("ideas.jsonl"), default_cutoff=None).ideas
    texts = [idea.text for idea in data.first(sample_ideas)]
    if data.parameters.evaluated_run is not None:
        contests = versions_of(data.request, data.settings).contests
        texts += [contest.last.text for contest in contests]
    prompt_tokens = 2 * sum(map(len, texts)) / CHARACTERS_PER_TOKEN / len(texts)
    reply_tokens = len(ASKED) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return SuiteEstimate(
        len(texts), [ExpectedCalls(COMPARE_IDEAS, 2.0 * len(texts), prompt_tokens, reply_tokens)]
    )


SUITE = Suite(
    NAME,
    "Are last versions of ideas better than the first, or only more pleasing?",
    (),
    run,
    steps=(COMPARE_IDEAS,),
    expects=_expects,
)
