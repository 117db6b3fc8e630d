"""Along what ideas are held against each other: InnoEval's five dimensions, those of the user, and the whole."""

from collections.abc import Sequence

from schemas.committee import ReviewDimension
from schemas.errors import ConfigurationError

OVERALL = ReviewDimension(
    name="overall",
    question="All in all, which idea deserves to be pursued first?",
    scale="Weigh what the dimensions say against each other; a fatal flaw in one outweighs small gains in others.",
)
DIMENSIONS: tuple[ReviewDimension, ...] = (
    ReviewDimension(
        name="clarity", question="Which idea says more plainly what is to be done, why, and how one would know that it worked?"
    ),
    ReviewDimension(name="novelty", question="Which idea adds more to what the evidence shows to be known already?"),
    ReviewDimension(name="feasibility", question="Which idea could more surely be carried out with the means, data and time it asks for?"),
    ReviewDimension(name="validity", question="Which idea's methods and tests would more surely show what it sets out to show?"),
    ReviewDimension(name="significance", question="Which idea would change more, and for more people, if it worked?"),
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
        raise ConfigurationError(f"two review dimensions are called {', '.join(repeated)}: rename or remove one")
    last = next((dimension for dimension in dimensions if dimension.name == OVERALL.name), OVERALL)
    return (*own, last)
