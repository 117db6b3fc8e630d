"""The idea in six parts, each a list of atomic claims (InnoEval, "Overall Architecture")."""

from dataclasses import dataclass

from schemas.committee import Claim, IdeaPart
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.committee.knowledge.failure_log import STAGE
from tasks.committee.steps.shown import PartShown
from tasks.committee.steps.structure_idea import STRUCTURE_IDEA, StructureInput
from tasks.judging.step import Engine

ESSENTIAL = (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS)
"""Parts whose absence is worth a row of its own; that any other is absent shows in its having no claims."""


@dataclass(frozen=True, slots=True)
class Structured:
    """The claims in the order of the parts; `unscored` says why there are none."""

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()
    unscored: Unscored | None = None

    @property
    def parts(self) -> tuple[PartShown, ...]:
        """All six parts, those the idea lacks without claims."""
        return tuple(
            PartShown(
                part=part.value,
                claims=tuple(claim.statement for claim in self.claims if claim.part is part),
            )
            for part in IdeaPart
        )


async def structure_idea(idea: Idea, engine: Engine) -> Structured:
    """Ask for the parts of the whole idea. It goes on without those it lacks; without a method or a test, a failure says so."""
    outcome = await engine.run(STRUCTURE_IDEA, StructureInput(idea=idea.text))
    if isinstance(outcome, Unscored):
        failure = Failure(
            stage=STAGE, subject=STRUCTURE_IDEA.name, reason=outcome.reason, detail=outcome.detail
        )
        return Structured((), (failure,), outcome)
    stated = outcome.value.claims()
    pairs = [(part, statement) for part, statements in stated.items() for statement in statements]
    if not pairs:
        nothing = Unscored(
            Reason.NOTHING_TO_JUDGE, "the reply finds no claim in the idea", outcome.provenance
        )
        return Structured((), (_missing(idea, list(IdeaPart)),), nothing)
    claims = tuple(
        Claim(claim_id=f"c{number}", part=part, statement=statement, provenance=outcome.provenance)
        for number, (part, statement) in enumerate(pairs, start=1)
    )
    absent = [part for part in ESSENTIAL if not stated[part]]
    return Structured(claims, (_missing(idea, absent),) if absent else ())


def _missing(idea: Idea, parts: list[IdeaPart]) -> Failure:
    names = ", ".join(part.value.replace("_", " ") for part in parts)
    detail = f"the idea does not have: {names}; it was judged without"
    return Failure(stage=STAGE, subject=idea.idea_id, reason=Reason.NOTHING_TO_JUDGE, detail=detail)
