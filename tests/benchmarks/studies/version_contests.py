"""Contests of last against first versions of ideas, and their simulation.

Measures win rates and biases of the judge: position, length, novelty claims, hedges, and words of
the judge's rubric. Simulated ideas and judges have a known quality and known biases.
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
from tasks.benchmarks.items import ItemResult
from tasks.judging.step import Engine, Step, program_provenance
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
"""Resamples of effects; fewer than usual, because each one fits a model."""
WON = {Winner.FIRST: 1.0, Winner.TIE: 0.5, Winner.SECOND: 0.0}
_PRECISION = np.array([1 / PRIOR_DEVIATION**2, *[1 / EFFECT_DEVIATION**2] * 2])


@dataclass(frozen=True, slots=True)
class Contest:
    """Two versions of one idea.

    Ideas grown from one seed share a `cluster`.
    """

    name: str
    cluster: str
    first: Dossier
    last: Dossier

    @property
    def doublings(self) -> float:
        """Return the binary logarithm of last length over first length."""
        return math.log2((1 + len(words(self.last.text))) / (1 + len(words(self.first.text))))


class ContestMatches(ItemResult):
    """Matches of one contest in both orders along every dimension.

    `reason` is that of the first match without a verdict that is worth retrying.
    """

    matches: tuple[Match, ...]


async def judge_both_orders(
    contest: Contest, dimensions: Sequence[ReviewDimension], engine: Engine, seed: int
) -> ContestMatches:
    """Judge a contest with one call for each order."""
    orders = ((contest.last, contest.first), (contest.first, contest.last))
    by_order = [
        await ask(*order, dimensions, engine, group=contest.cluster, round_number=1, seed=seed)
        for order in orders
    ]
    matches = tuple(match for each in by_order for match in each)
    open_ones = (match.unscored_reason for match in matches if not is_final(match))
    return ContestMatches(matches=matches, reason=next(open_ones, None))


@dataclass(frozen=True, slots=True)
class Answer:
    """Verdicts on one contest along one dimension.

    `won_as_first`, `won_as_second`: share won by the last version in first and second position;
    None: no verdict.
    """

    contest: Contest
    won_as_first: float | None
    won_as_second: float | None

    @property
    def last_won(self) -> float | None:
        """Return the last version's mean share, 0 to 1.

        The result is None if a verdict is missing.
        """
        if self.won_as_first is None or self.won_as_second is None:
            return None
        return (self.won_as_first + self.won_as_second) / 2

    @property
    def first_position_won(self) -> float | None:
        """Return the mean share of the first position, 0 to 1.

        The result is None if a verdict is missing.
        """
        if self.won_as_first is None or self.won_as_second is None:
            return None
        return (self.won_as_first + 1 - self.won_as_second) / 2


def answers_along(
    contests: Sequence[Contest], matches_by_contest: Mapping[str, ContestMatches], dimension: str
) -> list[Answer]:
    """Return the verdicts on each contest along one dimension."""
    answers = []
    for contest in contests:
        first_shares = {
            match.first_idea_id: WON[match.winner]
            for match in matches_by_contest[contest.name].matches
            if match.dimension == dimension and match.winner is not None
        }
        first_share = first_shares.get(contest.first.idea_id)
        last_share = first_shares.get(contest.last.idea_id)
        answers.append(
            Answer(contest, last_share, None if first_share is None else 1 - first_share)
        )
    return answers


def win_rates(answers: Sequence[Answer], seed: int) -> dict[str, Estimate]:
    """Estimate the win rates of last versions and first positions.

    Intervals resample whole clusters.
    """
    clusters = [each.contest.cluster for each in answers]
    return {
        "last_round_win_rate": mean([each.last_won for each in answers], seed, clusters),
        "first_shown_share": mean([each.first_position_won for each in answers], seed, clusters),
    }


def effects(answers: Sequence[Answer], seed: int) -> dict[str, Estimate]:
    """Estimate effects of position and length, and win rate at equal length.

    Logistic regression over the verdicts. Effects are log odds of the first position and of a
    doubled length. A weak prior keeps the effects of a constant judge finite.
    """
    scored_answers = [each for each in answers if each.last_won is not None]
    lost_count = len(answers) - len(scored_answers)
    names = ("win_rate_at_equal_length", "first_shown_log_odds", "length_log_odds")
    if not scored_answers:
        reason = (
            f"none of the {lost_count} contests has a verdict"
            if lost_count
            else "there is no contest"
        )
        return dict.fromkeys(names, undefined(reason, unscored_count=lost_count))
    win_shares = np.array(
        [v for e in scored_answers for v in (e.won_as_first, e.won_as_second)], dtype=np.float64
    )
    lengths = [each.contest.doublings for each in scored_answers]
    design = np.array([(1.0, side, value) for value in lengths for side in (1.0, -1.0)])
    clusters = [each.contest.cluster for each in scored_answers for _ in range(2)]
    differs = len({round(value, 9) for value in lengths}) > 1
    return {
        name: _effect(place, design, win_shares, clusters, seed, lost_count)
        if differs or place == 1
        else undefined("all pairs differ alike in length", len(scored_answers), lost_count)
        for place, name in enumerate(names)
    }


def _effect(
    place: int,
    design: Matrix,
    win_shares: Vector,
    clusters: Sequence[str],
    seed: int,
    unscored_count: int,
) -> Estimate:
    def statistic(indices: Indices) -> float:
        coefficients, _ = fit_log_odds(design[indices], win_shares[indices], _PRECISION)
        return float(expit(coefficients[0]) if place == 0 else coefficients[place])

    everything = np.arange(len(win_shares))
    interval = bootstrap_interval(statistic, len(win_shares), seed, clusters, RESAMPLES)
    return Estimate(statistic(everything), len(win_shares) // 2, interval, unscored_count)


_HEDGING = bounded(
    r"\b(?:may|might|could|perhaps|possibl[ey]|probabl[ey]|presumably|potential(?:ly)?|likely"
    r"|appears?|seems?|suggests?|arguably|roughly|approximately|to some extent)\b",
    IGNORECASE,
)
FLATTERY = ("words", "newness_claims", "hedges", "rubric_words")
"""Text features that may please a judge: total words; the others per hundred words."""


def flattery_of(text: str) -> dict[str, float]:
    """Return the `FLATTERY` features of a text."""
    count = len(words(text))
    stems = content_words(text)
    counts = {
        "newness_claims": sum(1 for _ in NEWNESS.finditer(text)),
        "hedges": sum(1 for _ in _HEDGING.finditer(text)),
        "rubric_words": sum(stem in rubric_stems() for stem in stems),
    }
    return {"words": float(count), **{n: 100 * v / max(count, 1) for n, v in counts.items()}}


@lru_cache(maxsize=1)
def rubric_stems() -> frozenset[str]:
    """Return the word stems of the judge's dimensions and questions."""
    texts = (f"{each.name} {each.question} {each.scale}" for each in with_overall(DIMENSIONS))
    return frozenset(stem for text in texts for stem in content_words(text))


# Simulation.

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
_WORDS_PER_SENTENCE = 12


@dataclass(frozen=True, slots=True)
class Generator:
    """Simulated changes from first to last versions.

    Attributes:
        gain: gain of quality, in log odds of a judge whose `quality` is 1.
        doublings: binary logarithm of the change in length.
        claims, hedges, rubric_words: additional words per hundred.
    """

    name: str
    gain: float
    doublings: float = 0.0
    claims: float = 0.0
    hedges: float = 0.0
    rubric_words: float = 0.0

    @property
    def flattery(self) -> dict[str, float]:
        """Return the added words per hundred, by the names of `FLATTERY`."""
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
"""Arbitrary gains that test whether the loss of an ablation is measured correctly."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Simulated judge, with weights of quality, first position and length doubling."""

    name: str
    quality: float = 1.0
    first: float = 0.0
    length: float = 0.0

    def log_odds(self, ahead: float, doublings: float) -> float:
        """Return the log odds of the text in first position."""
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
    """Simulated contests, with the true quality gain of each by name."""

    contests: tuple[Contest, ...]
    gains: Mapping[str, float]

    def truth(self, judge: Judge) -> dict[str, float]:
        """Return the true values of the metrics for a judge."""
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
        """Average a function of win shares over contests.

        Its arguments are both versions' shares in first position.
        """
        return fmean(
            of_shares(
                _share(judge.log_odds(self.gains[each.name], each.doublings)),
                _share(judge.log_odds(-self.gains[each.name], -each.doublings)),
            )
            for each in self.contests
        )


def simulated_world(generator: Generator, seed: int) -> World:
    """Simulate the contests of `SEEDS` seeds with `IDEAS_PER_SEED` ideas each."""
    chance = random.Random(f"{generator.name} {seed}")
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
            last = _dossier(
                f"{name}-r2", _text(max(length, _WORDS_PER_SENTENCE), generator, chance)
            )
            contests.append(Contest(name, f"seed-{number:02d}", first, last))
    return World(tuple(contests), gains)


def _dossier(name: str, text: str) -> Dossier:
    return Dossier(idea_id=IdeaId(name), title=name, text=text)


def _text(length: int, flatterer: Generator | None, chance: random.Random) -> str:
    rates = () if flatterer is None else tuple(flatterer.flattery.values())
    kinds = (_CLAIMS, _HEDGES, _RUBRIC)
    vocabulary: list[str] = []
    for _ in range(length):
        percent = chance.uniform(0, 100)
        words: tuple[str, ...] = _NEUTRAL
        for kind, rate in zip(kinds, rates, strict=False):
            if 0 <= percent < rate:
                words = kind
            percent -= rate
        vocabulary.append(chance.choice(words))
    sentences = (
        vocabulary[at : at + _WORDS_PER_SENTENCE] for at in range(0, length, _WORDS_PER_SENTENCE)
    )
    return " ".join(f"{' '.join(sentence)}." for sentence in sentences)


@dataclass(frozen=True, slots=True)
class SimulatedEngine:
    """Engine that answers `compare_ideas` by a simulated judge, reproducibly by its seed."""

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
        pair_hash = content_hash(self.name, str(self.seed), first.title, first.text, second.text)
        chance = random.Random(pair_hash)
        share = _share(self.judge.log_odds(ahead, doublings))
        verdicts = [
            DimensionVerdict(
                dimension=each.name,
                reason="drawn",
                a_better_percent=99 if chance.random() < share else 1,
            )
            for each in inputs.dimensions
        ]
        return Scored(PairReply(verdicts=verdicts), program_provenance(step, self.name, self.seed))


def _share(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


PRAISE = (
    "This is a novel, first and hitherto unexplored idea that rethinks the field; no prior work is"
    " like it. Its novelty is plain, its feasibility is sure, its validity is beyond doubt, its"
    " clarity speaks for itself, and its significance would change more for more people than any"
    " other. It may well be, and could possibly prove to be, the idea that most deserves to be"
    " pursued first, at little cost and with a good chance of success."
)


def praise_contests(dossiers: Sequence[Dossier]) -> list[Contest]:
    """Pair each idea with a copy that has generic praise appended."""
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
