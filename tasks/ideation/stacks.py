"""The stacks of a run: every idea's versions so far, what they scored, what was found wanting."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import product

from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.works.ideation import Finding, IdeationRound, IdeaVersion, Move
from schemas.works.ideation_run import IDEATIONS, IdeationParameters, Slot
from tasks.ideation.findings import findings_of, next_move
from warehouse.answers import IdeaReview
from warehouse.units.kind import kind_of
from warehouse.units.record import landed_unit
from warehouse.warehouse import Warehouse

Place = tuple[str, int]
"""An idea of a run: its seed, and which of the seed's ideas it is."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An idea whose last version was found wanting, and what the rule would do next with it."""

    place: Place
    version: IdeaVersion
    findings: tuple[Finding, ...]
    move: Move


class Stacks:
    """Grows by `add` (what a round made) and `judge` (what its evaluation found)."""

    def __init__(
        self, seeds: Iterable[Idea], parameters: IdeationParameters, cutoff_date: date | None
    ) -> None:
        """`cutoff_date`: of seeds that have none."""
        self._parameters, self._cutoff_date = parameters, cutoff_date
        self._seeds = {seed.idea_id: seed for seed in seeds}
        self._stacks: dict[Place, list[IdeaVersion]] = {
            place: [] for place in product(self._seeds, range(1, parameters.per_seed + 1))
        }
        self._reviews: dict[str, IdeaReview] = {}

    def add(self, versions: Iterable[IdeaVersion]) -> None:
        """Those that go on; of the others the stack keeps the version before."""
        for version in versions:
            if version.kept:
                self._stacks[version.seed_id, version.slot].append(version)

    def judge(self, reviews: Iterable[IdeaReview]) -> None:
        self._reviews |= {str(review.evaluation.idea.idea_id): review for review in reviews}

    def branches(self) -> Iterator[Branch]:
        """Of each idea that can go on: of a version that was not evaluated, or in which nothing was
        found wanting, there is none.
        """
        parameters = self._parameters
        for place, stack in self._stacks.items():
            review = self._reviews.get(str(stack[-1].version_id)) if stack else None
            if review is None:
                continue
            findings = findings_of(review.evaluation, parameters.findings_shown)
            move = next_move(stack[-1].keywords, findings, parameters.maximum_keywords)
            if move is not None:
                yield Branch(place, stack[-1], findings, move)

    def slots(
        self, number: int, decided: Mapping[Place, Move | None] | None = None
    ) -> tuple[Slot, ...]:
        """What the round of that number has to make.

        Args:
            decided: by people; an idea of which nothing was decided goes on by rule.
        """
        if number == 1:
            return tuple(self._slot(place, 1, Move.BEGIN) for place in self._stacks)
        return tuple(
            self._slot(branch.place, number, move, branch.findings)
            for branch in self.branches()
            if (move := (decided or {}).get(branch.place, branch.move)) is not None
        )

    def _slot(
        self, place: Place, number: int, move: Move, findings: tuple[Finding, ...] = ()
    ) -> Slot:
        (seed_id, slot), stack = place, self._stacks[place]
        seed = self._seeds[IdeaId(seed_id)]
        return Slot(
            seed=seed,
            slot=slot,
            round=number,
            move=move,
            cutoff_date=seed.cutoff_date or self._cutoff_date,
            stack=tuple(stack),
            scores=tuple(self._score(version) for version in stack),
            findings=findings,
            taken=tuple(self._taken(seed_id, slot)),
        )

    def _score(self, version: IdeaVersion) -> str:
        review = self._reviews.get(str(version.version_id))
        score = review.score.score if review is not None else None
        return "not scored" if score is None else f"{score:.1f} of 10"

    def _taken(self, seed_id: str, slot: int) -> Iterable[str]:
        for (other_seed, other_slot), stack in self._stacks.items():
            if other_seed == seed_id and other_slot != slot and stack:
                yield from stack[-1].keywords


def landed_round(warehouse: Warehouse, run_id: RunId, round_id: str) -> IdeationRound:
    """A round as it landed, calls apart."""
    found = landed_unit(warehouse, kind_of(IDEATIONS), run_id, round_id)
    return found if found is not None else IdeationRound(round_id=round_id)
