"""Along what ideas are held against each other: InnoEval's five dimensions, those of the user, and the whole."""

from collections.abc import Iterable, Sequence

from schemas.base import replace
from schemas.committee import ReviewDimension
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from tasks.personas.roster import load_roster

OVERALL = ReviewDimension(
    name="overall",
    question="All in all, which idea deserves to be pursued first?",
    scale="Weigh what the dimensions say against each other; a fatal flaw in one outweighs small gains in others.",
)


def dimensions_of(profile: Profile) -> tuple[ReviewDimension, ...]:
    """What matches are asked under this profile: the dimensions of its committee, or those of them that `[ranking]` names.

    Raises:
        ConfigurationError: a personas file with a mistake, or a name that no dimension bears.
    """
    held = comparing(load_roster(profile.committee.personas_file).dimensions)
    wanted = profile.ranking.dimensions
    if wanted is None:
        return compared_along(held)
    known = [dimension.name for dimension in held]
    if unknown := sorted(set(wanted) - {*known, OVERALL.name}):
        raise ConfigurationError(
            f"[ranking] dimensions: none is called {', '.join(unknown)}; choose from {', '.join(known)}"
        )
    return compared_along([dimension for dimension in held if dimension.name in wanted])


def comparing(dimensions: Iterable[ReviewDimension]) -> tuple[ReviewDimension, ...]:
    """`dimensions` of one idea as questions about two: as they say themselves, else which has the better answer."""
    return tuple(
        replace(dimension, question=_question(dimension), scale=_scale(dimension))
        for dimension in dimensions
    )


def compared_along(dimensions: Sequence[ReviewDimension]) -> tuple[ReviewDimension, ...]:
    """`dimensions` and `overall`, which is always asked and comes last.

    Raises:
        ConfigurationError: two dimensions share a name.
    """
    own = tuple(dimension for dimension in dimensions if dimension.name != OVERALL.name)
    names = [dimension.name for dimension in own]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigurationError(
            f"two review dimensions are called {', '.join(repeated)}: rename or remove one"
        )
    last = next((dimension for dimension in dimensions if dimension.name == OVERALL.name), OVERALL)
    return (*own, last)


def _question(dimension: ReviewDimension) -> str:
    return (
        dimension.comparison
        or f"Which of the two ideas has the better answer to this? {dimension.question}"
    )


def _scale(dimension: ReviewDimension) -> str:
    return "" if dimension.comparison else dimension.scale


DIMENSIONS = comparing(load_roster(None).dimensions)
"""InnoEval's five."""
