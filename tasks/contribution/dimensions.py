"""Along which dimensions an idea claims to contribute (ScholarEval §2.2, dimension extraction)."""

from dataclasses import dataclass

from schemas.contribution import Dimension
from schemas.failure import Failure, call_failures
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.contribution.context import STAGE, Context
from tasks.contribution.steps.extract_dimensions import EXTRACT_DIMENSIONS, DimensionsInput
from tasks.contribution.steps.shown import ShownDimension


@dataclass(frozen=True, slots=True)
class Extraction:
    """The idea's dimensions, most important first; none exactly when `failures` says why."""

    dimensions: tuple[Dimension, ...]
    failures: tuple[Failure, ...] = ()


async def extract_dimensions(context: Context) -> Extraction:
    """Ask for the dimensions; the first `maximum_dimensions` of a longer answer count, as the
    prompt says.
    """
    limit = context.parameters.maximum_dimensions
    outcome = await context.engine.run(
        EXTRACT_DIMENSIONS, DimensionsInput(idea=context.idea.text, maximum_dimensions=limit)
    )
    if isinstance(outcome, Unscored):
        return Extraction((), tuple(call_failures([outcome], STAGE, context.idea.idea_id)))
    if not outcome.value.dimensions:
        detail = "the idea claims no contribution; say what would be new about it"
        return Extraction(
            (),
            tuple(
                call_failures(
                    [Unscored(Reason.NOTHING_TO_JUDGE, detail, outcome.provenance)],
                    STAGE,
                    context.idea.idea_id,
                )
            ),
        )
    return Extraction(
        tuple(
            Dimension(
                dimension_id=f"d{number}",
                name=" ".join(answer.name.split()),
                statements=tuple(
                    dict.fromkeys(" ".join(statement.split()) for statement in answer.statements)
                ),
                provenance=outcome.provenance,
            )
            for number, answer in enumerate(outcome.value.dimensions[:limit], start=1)
        )
    )


def shown(dimension: Dimension) -> ShownDimension:
    return ShownDimension(
        dimension_id=dimension.dimension_id, name=dimension.name, statements=dimension.statements
    )
