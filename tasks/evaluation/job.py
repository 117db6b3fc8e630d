"""What a shard of ideas has to do: everything a worker needs, small enough to travel, without secrets."""

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, RunId
from schemas.run import RunRequest


class PlannedIdea(Noun):
    """An idea and the key of the evaluation it needs."""

    idea: Idea
    evaluation_key: EvaluationKey


class ShardJob(Noun):
    """Some ideas of one run, for one worker."""

    run_id: RunId
    request: RunRequest
    gateway_url: str = Field(description="Where the gateway answers.")
    literature: str = Field(description="Identity of the literature behind the gateway.")
    ideas: tuple[PlannedIdea, ...]
    trace_parent: str | None = Field(
        default=None,
        description="The run's span, for the shard's to hang below (W3C Trace Context).",
    )
