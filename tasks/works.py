"""The kinds of work by command; each is imported on first use."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line reads the names alone
    from tasks.work.declaration import Work
    from tasks.work.shard import WorkShard

WORKS = {
    "evaluate": "tasks.evaluation.work:EVALUATE",
    "rank": "tasks.ranking.work:RANK",
    "ask": "tasks.survey.work:ASK",
    "survey": "tasks.survey.work:SURVEY",
    "ideate": "tasks.ideation.work:IDEATE",
    "write": "tasks.writing.work:WRITE",
    "curate": "tasks.curation.work:CURATE",
    "check": "tasks.manuscripts.work:CHECK",
    "experiment": "tasks.experiments.work:EXPERIMENT",
    "benchmark": "tasks.benchmarks.work:BENCHMARK",
}
"""In the order of the help page."""


def work_named(name: str) -> "Work[Any, Any, Any]":
    """Return the declaration of a kind. Raises KeyError for an unknown name."""
    work: Work[Any, Any, Any] = resolve_name(WORKS[name])
    return work


def works() -> "Iterator[Work[Any, Any, Any]]":
    """Return every declaration."""
    return map(work_named, WORKS)


@dataclass(frozen=True, slots=True)
class WorkByName:
    """Work on a shard file, as `ShardWork`; travels to workers by the kind's name."""

    name: str

    @property
    def span_name(self) -> str:
        return f"{self.name} shard"

    @property
    def kind(self) -> "type[WorkShard[Any]]":
        """The type of the shard."""
        from tasks.work.shard import WorkShard

        kind: Any = WorkShard
        shard: type[WorkShard[Any]] = kind[work_named(self.name).request]
        return shard

    def __call__(self, content: str | bytes) -> int:
        from tasks.shards.work import ShardWork
        from tasks.work.shard import work_on

        work = work_named(self.name)
        do = partial(work_on, work)
        return ShardWork(self.kind, do, self.span_name, work.units_noun)(content)
