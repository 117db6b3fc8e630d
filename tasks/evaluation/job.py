"""What a shard of ideas has to do."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey
from schemas.run import RunRequest
from tasks.shards.work import Shard


class PlannedIdea(Noun):
    """An idea and the key of the evaluation it needs."""

    idea: Idea
    evaluation_key: EvaluationKey


class ShardJob(Shard):
    """Some ideas of one run, for one worker."""

    request: RunRequest
    gateway_url: str = Field(description="Where the gateway answers.")
    literature: str = Field(description="Identity of the literature behind the gateway.")
    ideas: tuple[PlannedIdea, ...]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(planned.evaluation_key for planned in self.ideas)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse
