"""Suite `ideation`: are the last versions of ideas better than the first, or only more pleasing?

Three measurements by one and the same code. Made-up ideas and judges, of known quality and known
biases, show what it finds and what it exposes. Ideas with praise added that says nothing show
whether the engine falls for it. And the versions of a published ideation (`--run`) are held against
each other by an engine of another family than the one that wrote and criticised them.
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
from tasks.benchmarks.first_and_last import (
    ABLATIONS,
    FLATTERS,
    FLATTERY,
    IMPROVES,
    JUDGES,
    SOUND,
    Answer,
    Contest,
    Judged,
    SimulatedEngine,
    answers,
    effects,
    flattered,
    flattery_of,
    judge_both_orders,
    simulated_world,
    win_rates,
)
from tasks.benchmarks.items import ItemContext, Kept
from tasks.benchmarks.suite import Asking, Counted, Suite, SuiteData, Trial, sample_file
from tasks.ideas.read import read_ideas
from tasks.judging.expected import CHARACTERS_PER_TOKEN
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, paired_difference, share_of
from tasks.ranking.dimensions import DIMENSIONS, OVERALL, with_overall
from tasks.ranking.dossier import Dossier
from tasks.ranking.expected import TOKENS_PER_READING, TOKENS_PER_VERDICT
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS
from warehouse.units.kind import kind_of
from warehouse.units.reading import published_head, published_units
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)

NAME = "ideation"
SIMULATED, TRUTH = "simulated", "truth"
FEWEST_SEEDS = 30
ASKED = with_overall(DIMENSIONS)
Place = tuple[str, int]
"""An idea: its seed, and which of the seed's ideas it is."""


def run(trial: Trial) -> None:
    """Score what is made up, what is praised, and where `--run` names an ideation its versions."""
    _simulated(trial)
    _praised(trial)
    if trial.parameters.evaluated_run is not None:
        _of_run(trial, versions_of(trial.request, trial.settings))


def _simulated(trial: Trial) -> None:
    """Each judge over a generator that improves and one that flatters, then the generator without
    each of its parts; beside every value the true one.
    """

    def score(told: Mapping[str, Estimate], true: Mapping[str, float], part: str) -> None:
        known = {name: Estimate(true[name], told[name].count) for name in told}
        trial.score_all(told, SIMULATED, part)
        trial.score_all(known, TRUTH, part)

    seed = trial.seed
    sound: dict[str, list[Answer]] = {}
    for generator in (IMPROVES, FLATTERS):
        world = simulated_world(generator, seed)
        for judge in JUDGES:
            given = _judged_by(SimulatedEngine(judge, world, seed))
            sound.setdefault(generator.name, given)
            part = f"generator={generator.name}, judge={judge.name}"
            score(win_rates(given, seed) | effects(given, seed), world.truth(judge), part)
        gained, planted = _gained(world.contests, seed), generator.flattery
        true = {f"{name}_gained": value for name, value in planted.items()}
        score({name: gained[name] for name in true}, true, f"generator={generator.name}")
    whole = simulated_world(IMPROVES, seed)
    for ablated in ABLATIONS:
        world = simulated_world(ablated, seed)
        given = _judged_by(SimulatedEngine(SOUND, world, seed))
        lost = paired_difference(
            [each.last_won for each in sound[IMPROVES.name]],
            [each.last_won for each in given],
            seed,
            [each.contest.cluster for each in given],
        )
        rates = [each.truth(SOUND)["last_round_win_rate"] for each in (whole, world)]
        part = f"generator={ablated.name}, judge={SOUND.name}"
        score({"win_rate_lost": lost}, {"win_rate_lost": rates[0] - rates[1]}, part)


def _judged_by(engine: SimulatedEngine) -> list[Answer]:
    contests = engine.world.contests

    async def judged() -> dict[str, Judged]:
        return {
            each.name: await judge_both_orders(each, (OVERALL,), engine, engine.seed)
            for each in contests
        }

    return answers(contests, asyncio.run(judged()), OVERALL.name)


def _praised(trial: Trial) -> None:
    """Bundled ideas against themselves with praise added: a judge whom it does not move says half
    and half.
    """
    ideas = trial.draw(read_ideas(sample_file("ideas.jsonl"), default_cutoff=None).ideas)
    plain = [Dossier(idea_id=idea.idea_id, title=idea.title, text=idea.text) for idea in ideas]
    for name, given in _asked(trial, "praise", flattered(plain)).items():
        told = win_rates(given, trial.seed)
        part = f"praise added, dimension={name}"
        trial.score("praised_win_rate", told["last_round_win_rate"], part=part)
        trial.score("first_shown_share", told["first_shown_share"], part=part)


def _asked(trial: Trial, task: str, contests: Sequence[Contest]) -> dict[str, list[Answer]]:
    """Every contest put to the engine, recorded; answers by dimension."""
    seed = trial.request.profile.seed

    async def work(contest: Contest, context: ItemContext) -> Judged:
        return await judge_both_orders(contest, ASKED, context.engine, seed)

    judged = trial.each(task, {each.name: each for each in contests}, work, Judged)
    by_dimension = {each.name: answers(contests, judged, each.name) for each in ASKED}
    for dimension, given in by_dimension.items():
        for each in given:
            matches = judged[each.contest.name].matches
            first = next(match for match in matches if match.dimension == dimension)
            failed = next((match for match in matches if match.winner is None), first)
            won = each.last_won
            trial.record(
                f"{task}, {dimension}",
                each.contest.name,
                None if won is None else {0.0: "first", 1.0: "last"}.get(won, "undecided"),
                Kept(
                    reason=failed.unscored_reason,
                    detail=failed.unscored_detail,
                    provenance=first.provenance,
                ),
                value=won,
                explanation=first.rationale,
            )
    return by_dimension


# Versions of a published ideation.


@dataclass(frozen=True)
class Versions:
    """Versions that a published ideation made."""

    head: IdeationHead
    made: tuple[IdeaVersion, ...]

    @cached_property
    def stacks(self) -> dict[Place, list[IdeaVersion]]:
        """The versions of each idea that went on, the oldest first."""
        found: dict[Place, list[IdeaVersion]] = {}
        for version in sorted(kept_versions(self.made), key=lambda each: each.round):
            found.setdefault((version.seed_id, version.slot), []).append(version)
        return dict(sorted(found.items()))

    @cached_property
    def contests(self) -> tuple[Contest, ...]:
        """The last version against the first, of ideas that have a later one."""
        return tuple(
            Contest(f"{seed}-{slot}", seed, _dossier(stack[0]), _dossier(stack[-1]))
            for (seed, slot), stack in self.stacks.items()
            if len(stack) > 1
        )

    def after(self, number: int) -> dict[Place, IdeaVersion]:
        """The version that each idea has after a round."""
        states = {
            place: [version for version in stack if version.round <= number]
            for place, stack in self.stacks.items()
        }
        return {place: stack[-1] for place, stack in states.items() if stack}


def _dossier(version: IdeaVersion) -> Dossier:
    return Dossier(idea_id=version.version_id, title=version.title, text=version.text or "")


def versions_of(request: BenchmarkRequest, settings: Settings) -> Versions:
    """Of the ideation that `--run` names.

    Raises:
        UnknownNameError: it is not published.
        ConfigurationError: it has no ideas, or the engine that would judge is of the family that
            wrote them.
    """
    run_id = request.parameters.evaluated_run
    assert run_id is not None
    warehouse = Warehouse(request.warehouse, settings)
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(IDEATIONS), run_id)
        rounds = published_units(connection, kind_of(IDEATIONS), run_id)
    found = Versions(head, tuple(version for each in rounds for version in each.versions))
    if not found.stacks:
        raise ConfigurationError(f"--run {run_id} has no idea to judge: only leads, or none")
    if family_of(request.engine) == family_of(EngineChoice.parse(head.engine)):
        raise ConfigurationError(
            f"--engine {request.engine.text} is of the family that wrote and criticised the ideas"
            f" ({head.engine}): judge them by a model of another maker"
        )
    return found


_OF_ONE_MAKER = {"o": "gpt", "chatgpt": "gpt", "codex": "gpt", "gemma": "gemini"}


def family_of(engine: EngineChoice) -> str:
    """The first word of the model's name, whoever serves it; models of one maker that are called
    differently go by one name.
    """
    if engine.model is None:
        return engine.text
    name = engine.model.rpartition("/")[2].casefold()
    maker, _, rest = name.partition(".")
    if maker.isalpha() and rest[:1].isalpha():  # as in `anthropic.claude-sonnet-4`
        name = rest
    word = next((place for place, letter in enumerate(name) if not letter.isalpha()), len(name))
    return _OF_ONE_MAKER.get(name[:word], name[:word]) or name


def _of_run(trial: Trial, versions: Versions) -> None:
    seed, writer = trial.seed, versions.head.engine
    seeds = sorted({seed_id for seed_id, _ in versions.stacks})
    trial.evaluated_run_ids.append(versions.head.run_id)
    drawn = set(trial.draw(seeds))
    contests = [each for each in versions.contests if each.cluster in drawn]
    if len(drawn) < FEWEST_SEEDS:
        logger.warning(
            "%s: %d seeds; from %d on, intervals tell much of a win rate",
            NAME,
            len(drawn),
            FEWEST_SEEDS,
        )
    for name, given in _asked(trial, "last against first", contests).items():
        told = win_rates(given, seed) | effects(given, seed)
        trial.score_all(told, ASSAY, f"dimension={name}")
    revised = [len(stack) > 1 for stack in versions.stacks.values()]
    clusters = [seed_id for seed_id, _ in versions.stacks]
    trial.score("revised_share", share_of(revised, seed, clusters), writer)
    trial.score_all(_gained(versions.contests, seed), writer, "last less first")
    spread = _distances(trial, versions)
    for number in range(1, versions.head.round_count + 1):
        told = _of_round(versions, number, seed) | {"diversity": mean(spread[number])}
        trial.score_all(told, writer, f"round={number}")


def _gained(contests: Sequence[Contest], seed: int) -> dict[str, Estimate]:
    """Return what may please a judge: how much more of it the last versions have than the first."""
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
    """Of what the round made, the share that was dropped; of every idea as it is after the round,
    how near it is to the closest paper, and what may please a judge.
    """
    made = [each for each in versions.made if each.round == number and each.text is not None]
    states = list(versions.after(number).values())
    clusters = [each.seed_id for each in states]
    pleasing = [flattery_of(each.text or "") for each in states]
    near = [each.closest_similarity_0_to_1 for each in states]
    of_made = [each.seed_id for each in made]
    twins = [each.dropped_reason is Reason.NEAR_DUPLICATE for each in made]
    published = [each.dropped_reason is Reason.NEAR_PUBLISHED for each in made]
    return {
        "near_duplicate_share": share_of(twins, seed, of_made),
        "near_published_share": share_of(published, seed, of_made),
        "closest_work_similarity": mean(near, seed, clusters),
        **{name: mean([each[name] for each in pleasing], seed, clusters) for name in FLATTERY},
    }


class Distances(Kept):
    """Between the ideas of one seed: one less the cosine of their embeddings; None for one idea."""

    mean_distance: float | None


def _distances(trial: Trial, versions: Versions) -> dict[int, list[float | None]]:
    """By round, of each seed."""
    texts: dict[str, tuple[str, ...]] = {}
    rounds = range(1, versions.head.round_count + 1)
    for number in rounds:
        for (seed, _), version in versions.after(number).items():
            name = f"{number} {seed}"
            texts[name] = (*texts.get(name, ()), version.text or "")

    async def work(told: tuple[str, ...], context: ItemContext) -> Distances:
        vectors = await context.embedder.embed(told)
        apart = [1 - float(np.dot(one, other)) for one, other in combinations(vectors, 2)]
        return Distances(mean_distance=fmean(apart) if apart else None)

    found = trial.each("distances", texts, work, Distances)
    return {
        number: [
            each.mean_distance for name, each in found.items() if name.split()[0] == str(number)
        ]
        for number in rounds
    }


def _expects(data: SuiteData) -> Counted:
    """Both orders of each bundled idea, and of each idea of the run that has a later version."""
    bundled = read_ideas(sample_file("ideas.jsonl"), default_cutoff=None).ideas
    texts = [idea.text for idea in data.first(bundled)]
    if data.parameters.evaluated_run is not None:
        contests = versions_of(data.request, data.settings).contests
        texts += [contest.last.text for contest in contests]
    shown = 2 * sum(map(len, texts)) / CHARACTERS_PER_TOKEN / len(texts)
    said = len(ASKED) * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return Counted(len(texts), [Asking(COMPARE_IDEAS, 2.0 * len(texts), shown, said)])


SUITE = Suite(
    NAME,
    "Are last versions of ideas better than the first, or only more pleasing?",
    (),
    run,
    steps=(COMPARE_IDEAS,),
    expects=_expects,
)
