"""What a shard of manuscripts has to do: everything a worker needs, small enough to travel, without secrets."""

from pydantic import Field

from schemas.base import Noun
from schemas.check_run import CheckRequest, ManuscriptSource
from schemas.identifiers import RunId


class CheckJob(Noun):
    """Some manuscripts of one check run, for one worker."""

    run_id: RunId
    request: CheckRequest
    sources: tuple[ManuscriptSource, ...]
    trace_parent: str | None = Field(
        default=None,
        description="The check's span, for the shard's to hang below (W3C Trace Context).",
    )
