"""What a shard of groups has to do: everything a worker needs, small enough to travel, without secrets."""

from pydantic import Field

from schemas.base import Noun
from schemas.committee import ReviewDimension
from schemas.ranking import Match, RankRequest
from tasks.ranking.dossier import Dossier


class GroupJob(Noun):
    """One group to be ranked."""

    group: str
    dossiers: tuple[Dossier, ...]
    votes: tuple[Match, ...] = Field(default=(), description="Human votes about its ideas.")


class RankJob(Noun):
    """Some groups of one ranking, for one worker."""

    ranking_id: str
    request: RankRequest
    dimensions: tuple[ReviewDimension, ...]
    groups: tuple[GroupJob, ...]
    trace_parent: str | None = Field(
        default=None,
        description="The ranking's span, for the shard's to hang below (W3C Trace Context).",
    )
