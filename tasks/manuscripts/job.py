"""What a shard of manuscripts has to do."""

from pathlib import Path

from schemas.check_run import CheckRequest, ManuscriptSource
from tasks.shards.work import Shard


class CheckJob(Shard):
    """Some manuscripts of one check run, for one worker."""

    request: CheckRequest
    sources: tuple[ManuscriptSource, ...]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(source.manuscript_id for source in self.sources)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse
