"""The stacks of a run: every idea's versions so far, what they scored, what was found wanting."""

from collections.abc import Iterable, Sequence
from itertools import product

from schemas.idea import Idea
from schemas.ideation import IdeationRound, IdeaVersion, Move
from schemas.ideation_run import IdeationRequest
from schemas.identifiers import IdeaId, RunId
from schemas.tables import TABLE
from tasks.ideation.findings import findings_of
from tasks.ideation.routing import next_move
from tasks.ideation.versions import Slot
from warehouse.answers import IdeaReview
from warehouse.ideations import IDEATION_RECORD, IDEATIONS
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.units.landing import CALL_TABLES


class Stacks:
    """Grows by `add` (what a round made) and `judge` (what its evaluation found)."""

    def __init__(self, request: IdeationRequest) -> None:
        self._request = request
        self._seeds = {seed.idea_id: seed for seed in request.seeds}
        self._stacks: dict[tuple[str, int], list[IdeaVersion]] = {
            place: [] for place in product(self._seeds, range(1, request.parameters.per_seed + 1))
        }
        self._reviews: dict[str, IdeaReview] = {}

    def add(self, versions: Iterable[IdeaVersion]) -> None:
        """Those that go on; of the others the stack keeps the version before."""
        for version in versions:
            if version.kept:
                self._stacks[version.seed_id, version.slot].append(version)

    def judge(self, reviews: Iterable[IdeaReview]) -> None:
        self._reviews |= {str(review.evaluation.idea.idea_id): review for review in reviews}

    def slots(self, number: int) -> tuple[Slot, ...]:
        """What the round of that number has to make: of a version that was not evaluated, or in
        which nothing was found wanting, nothing.
        """
        found = (self._slot(seed, slot, number) for seed, slot in self._stacks)
        return tuple(slot for slot in found if slot is not None)

    def _slot(self, seed_id: str, slot: int, number: int) -> Slot | None:
        seed, stack = self._seeds[IdeaId(seed_id)], self._stacks[seed_id, slot]
        parameters = self._request.parameters
        cutoff = seed.cutoff_date or self._request.evaluation.cutoff_date
        if number == 1:
            return Slot(seed=seed, slot=slot, round=1, move=Move.BEGIN, cutoff_date=cutoff)
        review = self._reviews.get(str(stack[-1].version_id)) if stack else None
        if review is None:
            return None
        findings = findings_of(review.evaluation, parameters.findings_shown)
        move = next_move(stack[-1].keywords, findings, parameters.maximum_keywords)
        if move is None:
            return None
        return Slot(
            seed=seed,
            slot=slot,
            round=number,
            move=move,
            cutoff_date=cutoff,
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
        """Keywords of the seed's other ideas."""
        for (other_seed, other_slot), stack in self._stacks.items():
            if other_seed == seed_id and other_slot != slot and stack:
                yield from stack[-1].keywords


def ideas_of(versions: Sequence[IdeaVersion]) -> list[Idea]:
    """Versions as ideas that every command takes; those of one seed are a group."""
    return [
        Idea(
            idea_id=version.version_id,
            title=version.title,
            text=version.text or "",
            problem=version.problem or None,
            method=version.method or None,
            experiment=version.experiment or None,
            cutoff_date=version.cutoff_date,
            group=version.seed_id,
            metadata={"keywords": "; ".join(version.keywords), "round": str(version.round)},
        )
        for version in versions
    ]


def landed_round(layout: Layout, run_id: RunId, round_id: str) -> IdeationRound:
    """A round as it landed, calls apart."""
    folder = IDEATIONS.unit_folder(layout, run_id, round_id)
    rows = {
        name: read_rows(TABLE[name], path)
        for name in IDEATIONS.tables
        if name not in CALL_TABLES and (path := folder / f"{name}.parquet").exists()
    }
    found = IDEATION_RECORD.units_of(rows)
    return found[0] if found else IdeationRound(round_id=round_id)
