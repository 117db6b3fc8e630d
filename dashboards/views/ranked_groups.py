"""Ideas of a run by group, in ranking order."""

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.row_models import RankedIdea

NO_GROUP, ONE_GROUP = "Ideas without a group", "All ideas"


@dataclass(frozen=True, slots=True)
class GroupPart:
    """The ranking of one group."""

    name: str
    ideas: tuple[RankedIdea, ...]

    @property
    def scores(self) -> tuple[tuple[str, float], ...]:
        """Title and score of the scored ideas."""
        return tuple((idea.title, idea.score) for idea in self.ideas if idea.score is not None)

    @property
    def unscored_count(self) -> int:
        return len(self.ideas) - len(self.scores)


def ranked_groups(ranking: Iterable[RankedIdea]) -> tuple[GroupPart, ...]:
    """Return the groups in the order of their first ideas."""
    members: dict[str | None, list[RankedIdea]] = {}
    for idea in ranking:
        members.setdefault(idea.group, []).append(idea)
    default_name = ONE_GROUP if list(members) == [None] else NO_GROUP
    return tuple(
        GroupPart(default_name if name is None else name, tuple(ideas))
        for name, ideas in members.items()
    )
