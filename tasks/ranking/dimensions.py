"""Dimensions of a comparison: InnoEval's five, those of the user, and `overall`."""

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
    """Return the dimensions of this profile: those of its committee, or the subset in `[ranking]`.

    Raises:
        ConfigurationError: the personas file is invalid, or a name is unknown.
    """
    available = as_comparisons(load_roster(profile.committee.personas_file).dimensions)
    selection, overall = profile.ranking.dimensions, OVERALL_BY_CRITERION[profile.ranking.criterion]
    if selection is None:
        return with_overall((*available, overall))
    names = [dimension.name for dimension in available]
    if unknown_names := sorted(set(selection) - {*names, OVERALL.name}):
        raise ConfigurationError(
            f"[ranking] dimensions: none is called {', '.join(unknown_names)}; choose from"
            f" {', '.join(names)}"
        )
    return with_overall((*(one for one in available if one.name in selection), overall))


def as_comparisons(dimensions: Iterable[ReviewDimension]) -> tuple[ReviewDimension, ...]:
    """Return dimensions of one idea as questions about two ideas.

    A dimension without a `comparison` asks which idea has the better answer.
    """
    return tuple(
        replace(one, question=one.comparison, scale="")
        if one.comparison
        else replace(
            one, question=f"Which of the two ideas has the better answer to this? {one.question}"
        )
        for one in dimensions
    )


def with_overall(dimensions: Sequence[ReviewDimension]) -> tuple[ReviewDimension, ...]:
    """Return `dimensions` with `overall` last: the first of that name, else the default.

    Raises:
        ConfigurationError: two dimensions share a name.
    """
    other_dimensions = tuple(
        dimension for dimension in dimensions if dimension.name != OVERALL.name
    )
    names = [dimension.name for dimension in other_dimensions]
    repeated_names = sorted({name for name in names if names.count(name) > 1})
    if repeated_names:
        raise ConfigurationError(
            f"two review dimensions are called {', '.join(repeated_names)}: rename or remove one"
        )
    last = next((dimension for dimension in dimensions if dimension.name == OVERALL.name), OVERALL)
    return (*other_dimensions, last)


DIMENSIONS = as_comparisons(load_roster(None).dimensions)
"""InnoEval's five dimensions."""
