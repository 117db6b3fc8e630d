"""What a shard of manuscripts has to do: everything a worker needs, small enough to travel, without secrets."""

from schemas.base import Noun
from schemas.check_run import CheckRequest, ManuscriptSource
from schemas.identifiers import RunId


class CheckJob(Noun):
    """Some manuscripts of one check run, for one worker."""

    run_id: RunId
    request: CheckRequest
    sources: tuple[ManuscriptSource, ...]
