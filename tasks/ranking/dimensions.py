"""Along what ideas are held against each other: InnoEval's five dimensions, those of the user, and
the whole.
"""

from collections.abc import Iterable, Sequence

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.committee import ReviewDimension
from schemas.profile import Criterion, Profile
from tasks.personas.roster import load_roster

OVERALL = ReviewDimension(
    name="overall",
    question="All in all, which idea deserves to be pursued first?",
    scale=(
        "Weigh what could be learnt, whatever the outcome, against the cost and the chance of"
        " failure. A fatal flaw outweighs small gains elsewhere; a flaw that a week's work mends"
        " does not."
    ),
)
AS_REVIEWERS = ReviewDimension(
    name=OVERALL.name,
    question=(
        "Which idea would expert reviewers of the field rank higher once it is worked out as "
        "planned?"
    ),
    scale=(
        "Think of several reviewers of a selective venue. What they reward most is a clear advance"
        " over the closest work that the planned test can show; sound evidence and use to others"
        " come next. They punish work that is incremental, and claims that the test cannot bear"
        " out."
    ),
)
OVERALL_BY_CRITERION = {
    Criterion.PURSUE_FIRST: OVERALL,
    Criterion.EXPERT_REVIEWERS: AS_REVIEWERS,
}


def dimensions_of(profile: Profile) -> tuple[ReviewDimension, ...]:
    """Return what matches are asked under this profile: the dimensions of its committee, or those
    of them that `[ranking]` names.

    Raises:
        ConfigurationError: a personas file with a mistake, or a name that no dimension bears.
    """
    held = comparing(load_roster(profile.committee.personas_file).dimensions)
    wanted, overall = profile.ranking.dimensions, OVERALL_BY_CRITERION[profile.ranking.criterion]
    if wanted is None:
        return compared_along((*held, overall))
    known = [dimension.name for dimension in held]
    if unknown := sorted(set(wanted) - {*known, OVERALL.name}):
        raise ConfigurationError(
            f"[ranking] dimensions: none is called {', '.join(unknown)}; choose from"
            f" {', '.join(known)}"
        )
    return compared_along((*(one for one in held if one.name in wanted), overall))


def comparing(dimensions: Iterable[ReviewDimension]) -> tuple[ReviewDimension, ...]:
    """`dimensions` of one idea as questions about two: as they say themselves, else which has the
    better answer.
    """
    return tuple(
        replace(dimension, question=_question(dimension), scale=_scale(dimension))
        for dimension in dimensions
    )


def compared_along(dimensions: Sequence[ReviewDimension]) -> tuple[ReviewDimension, ...]:
    """`dimensions` and `overall`, which is always asked and comes last: the first of that name,
    else ours.

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
