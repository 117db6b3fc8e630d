"""`assay jobs`: the job runner, and the list of jobs."""

import signal
from typing import TYPE_CHECKING, Any

from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.output import print_columns
from flows.cli.terminal import print_note
from schemas.options.commands import LakeOptions
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from warehouse.app.jobs import Job

application = Commands()


@application.command("run")
def run(lake: LakeOptions) -> int:
    """Run jobs of the warehouse as they are submitted, until Ctrl-C.

    `assay dashboard` does the same for its pages. One runner works in a warehouse at a time; a
    second one waits to take over.
    """
    from flows.jobs.runner import run_jobs

    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    print_note(f"takes up the jobs of {Warehouse(lake.warehouse).address} – stop it with Ctrl-C")
    try:
        run_jobs(Warehouse(lake.warehouse), is_over=lambda: bool(signals))
    except KeyboardInterrupt:
        return 0
    return 0


@application.command("list")
def list_jobs(lake: LakeOptions, json: Json = False) -> int:
    """List the jobs of the warehouse, newest first."""
    from warehouse.app.jobs import jobs

    listed_jobs = list(jobs(Warehouse(lake.warehouse).existing()))
    if json:
        print_answer("listed", [job_row(job) for job in listed_jobs])
        return 0
    print_columns(
        [job_row(job) for job in listed_jobs],
        {
            "job": lambda row: row["job_id"],
            "command": lambda row: row["command"],
            "state": lambda row: row["state"],
            "run": lambda row: row["run_id"],
            "last word, or name": lambda row: row["last_word"] or row["name"] or "",
        },
    )
    return 0


def job_row(job: "Job") -> dict[str, Any]:
    request = job.request
    return {
        "job_id": job.job_id,
        "command": request.command if request else None,
        "name": request.name if request else None,
        "created_at": request.created_at if request else None,
        **job.status.model_dump(mode="json"),
    }
