"""A last version of an idea held against its first one, in both orders: how often it wins, and what
sways the judge beside quality: length, claims to be new, hedges, words of the questions that judges
are asked. And made-up ideas and judges, of known quality and known biases, by which that is tested.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np
from scipy.special import expit

from schemas.base import Noun
from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.committee import ReviewDimension
from schemas.judgement.ranking import Match, Winner
from schemas.outcome import Outcome, Scored
from schemas.text.patterns import IGNORECASE, bounded
from tasks.benchmarks.items import Kept
from tasks.judging.step import Engine, Step, made_by_program
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.means import Indices, bootstrap_interval, mean
from tasks.ranking.biases import EFFECT_DEVIATION, Matrix, Vector, fit_log_odds
from tasks.ranking.dimensions import DIMENSIONS, with_overall
from tasks.ranking.dossier import Dossier
from tasks.ranking.matching import ask, is_final
from tasks.ranking.steps.compare_ideas import DimensionVerdict, PairInput, PairReply
from tasks.ranking.steps.measures import NEWNESS
from tasks.ranking.tally import PRIOR_DEVIATION
from tasks.text.words import content_words, words

RESAMPLES = 400
"""Of effects: each fits its answers anew."""
WON = {Winner.FIRST: 1.0, Winner.TIE: 0.5, Winner.SECOND: 0.0}
_PRECISION = np.array([1 / PRIOR_DEVIATION**2, *[1 / EFFECT_DEVIATION**2] * 2])


@dataclass(frozen=True, slots=True)
class Contest:
    """Two versions of one idea. Ideas of one `cluster`, a seed, are not independent."""

    name: str
    cluster: str
    first: Dossier
    last: Dossier

    @property
    def doublings(self) -> float:
        """Return how often the length was doubled from the first version to the last."""
        return math.log2((1 + len(words(self.last.text))) / (1 + len(words(self.first.text))))


class Judged(Kept):
    """The matches of one contest: both orders, each along every dimension; `reason`: of the first
    that has no verdict and may get one another time.
    """

    matches: tuple[Match, ...]


async def judge_both_orders(
    contest: Contest, dimensions: Sequence[ReviewDimension], engine: Engine, seed: int
) -> Judged:
    """One call for each order."""
    orders = ((contest.last, contest.first), (contest.first, contest.last))
    found = [
        await ask(*order, dimensions, engine, group=contest.cluster, round_number=1, seed=seed)
        for order in orders
    ]
    matches = tuple(match for each in found for match in each)
    open_ones = (match.unscored_reason for match in matches if not is_final(match))
    return Judged(matches=matches, reason=next(open_ones, None))


@dataclass(frozen=True, slots=True)
class Answer:
    """Verdict on one contest along one dimension: what the last version won, shown first and shown
    second; None: no verdict.
    """

    contest: Contest
    shown_first: float | None
    shown_second: float | None

    @property
    def last_won(self) -> float | None:
        """From 0 to 1: orders that disagree make a half. None unless both have a verdict."""
        if self.shown_first is None or self.shown_second is None:
            return None
        return (self.shown_first + self.shown_second) / 2

    @property
    def first_shown_won(self) -> float | None:
        """Return what whichever was shown first won, from 0 to 1."""
        if self.shown_first is None or self.shown_second is None:
            return None
        return (self.shown_first + 1 - self.shown_second) / 2


def answers(
    contests: Sequence[Contest], judged: Mapping[str, Judged], dimension: str
) -> list[Answer]:
    """Return the answer of each contest, by its name in `judged`."""
    given = []
    for contest in contests:
        won = {
            match.first_idea_id: WON[match.winner]
            for match in judged[contest.name].matches
            if match.dimension == dimension and match.winner is not None
        }
        second = won.get(contest.first.idea_id)
        last = won.get(contest.last.idea_id)
        given.append(Answer(contest, last, None if second is None else 1 - second))
    return given


def win_rates(given: Sequence[Answer], seed: int) -> dict[str, Estimate]:
    """Return how often the last version wins, and how often what is shown first does; intervals draw whole
    clusters.
    """
    clusters = [each.contest.cluster for each in given]
    return {
        "last_round_win_rate": mean([each.last_won for each in given], seed, clusters),
        "first_shown_share": mean([each.first_shown_won for each in given], seed, clusters),
    }


def effects(given: Sequence[Answer], seed: int) -> dict[str, Estimate]:
    """Return what standing first and a doubled length add to the log odds, and how often the last version
    would win if it were as long as the first: logistic regression over the answers, with a weak
    prior, so that a judge who always says the same has a finite effect.
    """
    whole = [each for each in given if each.last_won is not None]
    lost = len(given) - len(whole)
    names = ("win_rate_at_equal_length", "first_shown_log_odds", "length_log_odds")
    if not whole:
        reason = f"none of the {lost} contests has a verdict" if lost else "there is no contest"
        return dict.fromkeys(names, undefined(reason, unscored_count=lost))
    won = np.array([v for e in whole for v in (e.shown_first, e.shown_second)], dtype=np.float64)
    lengths = [each.contest.doublings for each in whole]
    design = np.array([(1.0, side, value) for value in lengths for side in (1.0, -1.0)])
    clusters = [each.contest.cluster for each in whole for _ in range(2)]
    differs = len({round(value, 9) for value in lengths}) > 1
    return {
        name: _effect(place, design, won, clusters, seed, lost)
        if differs or place == 1
        else undefined("all pairs differ alike in length", len(whole), lost)
        for place, name in enumerate(names)
    }


def _effect(
    place: int, design: Matrix, won: Vector, clusters: Sequence[str], seed: int, lost: int
) -> Estimate:
    def statistic(chosen: Indices) -> float:
        found, _ = fit_log_odds(design[chosen], won[chosen], _PRECISION)
        return float(expit(found[0]) if place == 0 else found[place])

    everything = np.arange(len(won))
    interval = bootstrap_interval(statistic, len(won), seed, clusters, RESAMPLES)
    return Estimate(statistic(everything), len(won) // 2, interval, lost)


_HEDGING = bounded(
    r"\b(?:may|might|could|perhaps|possibl[ey]|probabl[ey]|presumably|potential(?:ly)?|likely"
    r"|appears?|seems?|suggests?|arguably|roughly|approximately|to some extent)\b",
    IGNORECASE,
)
FLATTERY = ("words", "newness_claims", "hedges", "rubric_words")
"""Words in all; the others per hundred words."""


def flattery_of(text: str) -> dict[str, float]:
    """Return each of `FLATTERY` in a text."""
    count = len(words(text))
    stems = content_words(text)
    found = {
        "newness_claims": sum(1 for _ in NEWNESS.finditer(text)),
        "hedges": sum(1 for _ in _HEDGING.finditer(text)),
        "rubric_words": sum(stem in rubric_stems() for stem in stems),
    }
    return {"words": float(count), **{n: 100 * v / max(count, 1) for n, v in found.items()}}


@lru_cache(maxsize=1)
def rubric_stems() -> frozenset[str]:
    """Return those of the dimensions that ideas are compared along, with their questions."""
    told = (f"{each.name} {each.question} {each.scale}" for each in with_overall(DIMENSIONS))
    return frozenset(stem for text in told for stem in content_words(text))


# Made up.

SEEDS, IDEAS_PER_SEED = 40, 3
FIRST_WORDS = 100
SPREAD_OF_GAINS, SPREAD_OF_SEEDS, SPREAD_OF_DOUBLINGS = 0.5, 0.3, 0.6
_NEUTRAL = (
    *("amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "island"),
    *("jasper", "kelp", "lagoon", "marble", "nectar", "orchard", "pebble", "quartz", "river"),
    *("saddle", "timber", "umber", "valley", "willow", "yarrow", "zinc"),
)
_CLAIMS, _HEDGES, _RUBRIC = (
    ("novel", "unexplored"),
    ("perhaps", "possibly"),
    ("feasibility", "clarity"),
)
_SENTENCE = 12


@dataclass(frozen=True, slots=True)
class Generator:
    """Advantage of last versions over first ones.

    Attributes:
        gain: quality, in log odds of a judge whose `quality` is 1.
        doublings: of its length.
        claims, hedges, rubric_words: how many more in a hundred words.
    """

    name: str
    gain: float
    doublings: float = 0.0
    claims: float = 0.0
    hedges: float = 0.0
    rubric_words: float = 0.0

    @property
    def flattery(self) -> dict[str, float]:
        """Return what is planted, as `FLATTERY` names it, lengths apart."""
        return {
            "newness_claims": self.claims,
            "hedges": self.hedges,
            "rubric_words": self.rubric_words,
        }


IMPROVES = Generator("improves", 1.0)
FLATTERS = Generator("flatters", 0.0, doublings=1.0, claims=3.0, hedges=2.0, rubric_words=4.0)
ABLATIONS = (
    Generator("without_network", 0.7),
    Generator("without_evidence", 0.5),
    Generator("without_critic", 0.1),
)
"""Made-up losses: they test that an ablation's share is found, and say nothing of real ones."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Weights of a judge's log odds: quality, standing first, and each doubling of the length."""

    name: str
    quality: float = 1.0
    first: float = 0.0
    length: float = 0.0

    def log_odds(self, ahead: float, doublings: float) -> float:
        """Of the text that is shown first."""
        return self.quality * ahead + self.first + self.length * doublings


SOUND = Judge("sound")
JUDGES = (
    SOUND,
    Judge("prefers_first", first=1.0),
    Judge("prefers_long", length=1.0),
    Judge("coin", quality=0.0),
)


@dataclass(frozen=True, slots=True)
class World:
    """Simulated contests and their truth: by name how much better the last version is."""

    contests: tuple[Contest, ...]
    gains: Mapping[str, float]

    def truth(self, judge: Judge) -> dict[str, float]:
        """Return what a measurement without end would find of this judge."""
        return {
            "last_round_win_rate": self._mean(judge, lambda one, two: (one + 1 - two) / 2),
            "first_shown_share": self._mean(judge, lambda one, two: (one + two) / 2),
            "win_rate_at_equal_length": fmean(
                _share(judge.quality * gain) for gain in self.gains.values()
            ),
            "first_shown_log_odds": judge.first,
            "length_log_odds": judge.length,
        }

    def _mean(self, judge: Judge, of_shares: Any) -> float:
        """Over contests, of what the last wins shown first, and the first wins shown first."""
        return fmean(
            of_shares(
                _share(judge.log_odds(self.gains[each.name], each.doublings)),
                _share(judge.log_odds(-self.gains[each.name], -each.doublings)),
            )
            for each in self.contests
        )


def simulated_world(generator: Generator, seed: int) -> World:
    """Forty seeds, three ideas of each."""
    chance = random.Random(f"{generator.name} {seed}")  # noqa: S311 -- no secret
    contests: list[Contest] = []
    gains: dict[str, float] = {}
    for number in range(SEEDS):
        of_seed = chance.gauss(generator.gain, SPREAD_OF_SEEDS)
        for slot in range(1, IDEAS_PER_SEED + 1):
            name = f"seed-{number:02d}-{slot}"
            gains[name] = chance.gauss(of_seed, SPREAD_OF_GAINS)
            doublings = chance.gauss(generator.doublings, SPREAD_OF_DOUBLINGS)
            length = round(FIRST_WORDS * 2**doublings)
            first = _dossier(f"{name}-r1", _text(FIRST_WORDS, None, chance))
            last = _dossier(f"{name}-r2", _text(max(length, _SENTENCE), generator, chance))
            contests.append(Contest(name, f"seed-{number:02d}", first, last))
    return World(tuple(contests), gains)


def _dossier(name: str, text: str) -> Dossier:
    return Dossier(idea_id=IdeaId(name), title=name, text=text)


def _text(length: int, flatterer: Generator | None, chance: random.Random) -> str:
    planted = () if flatterer is None else tuple(flatterer.flattery.values())
    kinds = (_CLAIMS, _HEDGES, _RUBRIC)
    told: list[str] = []
    for _ in range(length):
        drawn = chance.uniform(0, 100)
        chosen: tuple[str, ...] = _NEUTRAL
        for kind, rate in zip(kinds, planted, strict=False):
            if 0 <= drawn < rate:
                chosen = kind
            drawn -= rate
        told.append(chance.choice(chosen))
    sentences = (told[at : at + _SENTENCE] for at in range(0, length, _SENTENCE))
    return " ".join(f"{' '.join(sentence)}." for sentence in sentences)


@dataclass(frozen=True, slots=True)
class SimulatedEngine:
    """Answers `compare_ideas` as its judge would, drawn by the seed from what is shown."""

    judge: Judge
    world: World
    seed: int

    @property
    def name(self) -> str:
        return f"simulated:{self.judge.name}"

    async def run(self, step: Step[Any, Any], inputs: Noun) -> Outcome[Any]:
        assert isinstance(inputs, PairInput)
        first, second = inputs.first, inputs.second
        contest, _, version = first.title.rpartition("-")
        gain = self.world.gains[contest]
        ahead = gain if version == "r2" else -gain
        doublings = math.log2((1 + len(words(first.text))) / (1 + len(words(second.text))))
        drawn = content_hash(self.name, str(self.seed), first.title, first.text, second.text)
        chance = random.Random(drawn)  # noqa: S311 -- no secret
        share = _share(self.judge.log_odds(ahead, doublings))
        verdicts = [
            DimensionVerdict(
                dimension=each.name,
                reason="drawn",
                a_better_percent=99 if chance.random() < share else 1,
            )
            for each in inputs.dimensions
        ]
        return Scored(PairReply(verdicts=verdicts), made_by_program(step, self.name, self.seed))


def _share(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


PRAISE = (
    "This is a novel, first and hitherto unexplored idea that rethinks the field; no prior work is"
    " like it. Its novelty is plain, its feasibility is sure, its validity is beyond doubt, its"
    " clarity speaks for itself, and its significance would change more for more people than any"
    " other. It may well be, and could possibly prove to be, the idea that most deserves to be"
    " pursued first, at little cost and with a good chance of success."
)


def flattered(dossiers: Sequence[Dossier]) -> list[Contest]:
    """Each idea against itself with praise added that says nothing of it."""
    return [
        Contest(
            str(each.idea_id),
            str(each.idea_id),
            each,
            _dossier(f"{each.idea_id}-praised", f"{each.text}\n\n{PRAISE}").model_copy(
                update={"title": each.title}
            ),
        )
        for each in dossiers
    ]
