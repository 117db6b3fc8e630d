"""What a shard of groups has to do."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.committee import ReviewDimension
from schemas.ranking import Match, RankRequest
from tasks.ranking.dossier import Dossier
from tasks.shards.work import Shard


class GroupJob(Noun):
    """One group to be ranked."""

    group: str
    dossiers: tuple[Dossier, ...]
    votes: tuple[Match, ...] = Field(default=(), description="Human votes about its ideas.")


class RankJob(Shard):
    """Some groups of one ranking, for one worker."""

    ranking_id: str
    request: RankRequest
    dimensions: tuple[ReviewDimension, ...]
    groups: tuple[GroupJob, ...]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(group.group for group in self.groups)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse
