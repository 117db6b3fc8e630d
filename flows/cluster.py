"""A campaign on a cluster: a Prefect flow whose shards are tasks on Dask workers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic
from uuid import UUID

from prefect import flow
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect.futures import wait

from flows.campaign import Campaign, HeadT, PlanT, Summary, carry_out
from flows.dask_runner import dask_runner
from flows.progress import Report, Watched
from schemas.run import WorkRequest
from tasks.prefect_task import work_on_shard
from tasks.shards.work import ShardWork
from tasks.web.client import ConnectionFailure


class PrefectWorkers:
    """Implements `Workplace` on the task runner of the flow that is running."""

    def send(self, work: ShardWork[Any], paths: Sequence[Path]) -> Iterator[BaseException]:
        futures = [work_on_shard.submit(work, str(path)) for path in paths]
        wait(futures)
        for future in futures:
            if future.state.is_failed() or future.state.is_crashed():
                result = future.result(raise_on_failure=False)
                if isinstance(result, BaseException):
                    yield result

    def reporter(self, watched: Watched) -> Report | None:
        artifact_id = create_progress_artifact(
            progress=0.0, key=watched.artifact_key, description=watched.description
        )
        assert isinstance(artifact_id, UUID)  # outside an event loop

        def report(percent: float) -> bool:
            try:
                update_progress_artifact(artifact_id=artifact_id, progress=percent)
            except ConnectionFailure:  # the server is gone: the flow will find out, and say so
                return False
            return True

        return report

    def tell(self, markdown: str, key: str, description: str) -> None:
        create_markdown_artifact(markdown=markdown, key=key, description=description)


class _StaysHere(Generic[HeadT]):
    """What a flow does. Prefect sends the flow with every task, and all that it refers to: of this
    a worker gets an empty copy, since plan and gateway are none of its business.
    """

    def __init__(self, carried: Callable[[], Summary[HeadT]] | None) -> None:
        self._carried = carried

    def __call__(self) -> Summary[HeadT]:
        assert self._carried is not None, "a flow is carried out by the command that began it"
        return self._carried()

    def __reduce__(self) -> tuple[type["_StaysHere[HeadT]"], tuple[None]]:
        return _StaysHere, (None,)


def carry_out_on_cluster(campaign: Campaign[PlanT, HeadT], plan: PlanT) -> Summary[HeadT]:
    """Carry out a plan on the workers that its request names.

    A Prefect server must answer at the address that the environment names.
    """

    carried = _StaysHere(lambda: carry_out(campaign, plan, PrefectWorkers()))

    @flow(
        name=campaign.artifact_key,
        flow_run_name=f"{campaign.name} {campaign.run_id}",
        task_runner=dask_runner(campaign.where.worker_count, campaign.where.scheduler_address),
        validate_parameters=False,
    )
    def carry_out_request(request: WorkRequest) -> Summary[HeadT]:  # noqa: ARG001 -- shown by Prefect
        return carried()

    return carry_out_request(campaign.where)
