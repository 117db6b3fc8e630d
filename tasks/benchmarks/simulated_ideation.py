"""Ideas and judges that are made up: of known quality, of known biases, flattering in known ways.
What is measured of them is held against what is true of them.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

from schemas.base import Noun
from schemas.identifiers import IdeaId, content_hash
from schemas.outcome import Outcome, Provenance, Scored
from tasks.benchmarks.first_and_last import Contest
from tasks.judging.step import Step
from tasks.ranking.dossier import Dossier
from tasks.ranking.steps.compare_ideas import DimensionVerdict, PairInput, PairReply
from tasks.text.words import words

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
    """What a last version has beside the first one.

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
        """What is planted, as `tasks.benchmarks.first_and_last` names it, lengths apart."""
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
    """What moves a judge's log odds: quality, standing first, and each doubling of the length."""

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
    """What a generator made, and what is true of it: by the name of a contest how much better the
    last version is.
    """

    contests: tuple[Contest, ...]
    gains: Mapping[str, float]

    def truth(self, judge: Judge) -> dict[str, float]:
        """What a measurement without end would find of this judge."""
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
        return Scored(PairReply(verdicts=verdicts), self._provenance(step))

    def _provenance(self, step: Step[Any, Any]) -> Provenance:
        return Provenance(
            step=step.name,
            step_version=step.version,
            prompt_sha256=step.prompt_sha256,
            engine=self.name,
            model_requested=self.name,
            model_answered=self.name,
            seed=self.seed,
            created_at=datetime.now(UTC),
        )


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
