"""The MCP server: `flows/api/service.py` as tools for agents.

`python -m flows.api.mcp_server WAREHOUSE GATEWAY MAX_COST_USD` serves standard input and output.
"""

import asyncio
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import orjson
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field, WithJsonSchema
from starlette.concurrency import run_in_threadpool

from dashboards.render.formats.report_format import ReportFormat
from flows.api.bodies import input_fields, schema_of
from flows.api.service import JobView, Service, open_service
from flows.cli.answer import Answer
from flows.cli.command_line import log_to_stderr, run_command
from flows.run.environment import prepare_environment
from schemas.errors import AssayError, NotAllowedError
from schemas.options.commands import SearchOptions
from schemas.people.job import JobState
from schemas.people.role import Role, Token
from schemas.people.work_job import WorkJob
from tasks.works import works
from warehouse.app.accounts import still_valid
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

LOOK_EVERY_SECONDS = 0.5
MOST_OPEN_JOBS = 1_000
LOCAL = "local"
"""Token id of the user who starts the server on standard input and output."""

_INSTRUCTIONS = (
    "Assay evaluates research ideas against the scientific literature. Submit ideas with"
    " evaluate_ideas, follow the job with job_progress until it is done, then read ranking,"
    " read_review and closest_prior_work of the run it names. What could not be looked up or judged"
    " is said with a reason: it is never evidence that nothing exists. ask_literature answers a"
    " question about the literature, every sentence cited; survey_literature surveys it."
    " curate_papers makes papers with their reviews into rated ideas. check_manuscripts looks for"
    " critical problems in manuscripts; try_programs tries programs on tasks in a sandbox;"
    " write_draft puts together a draft of an idea; make_ideas makes ideas of seeds, in rounds."
)


WaitSeconds = Annotated[float, Field(ge=0, le=3600)]
RunName = Annotated[str, Field(description="The run_id that a finished job names.")]
IdeaName = Annotated[str, Field(description="The idea_id, as ranking lists it.")]
CallerOf = Callable[[Context[Any, Any]], Token]


def mcp_server(service: Service, caller_of: CallerOf) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer(
        "assay", instructions=_INSTRUCTIONS, log_level="WARNING", subscriptions=False
    )
    _add_job_tools(server, service, caller_of)
    _add_work_tools(server, service, caller_of)
    _add_reading_tools(server, service)
    return server


def _add_job_tools(server: MCPServer[Any], service: Service, caller_of: CallerOf) -> None:
    @server.tool()
    async def job_progress(
        ctx: Context[Any, Any],
        job_id: str,
        wait_seconds: WaitSeconds = 0.0,
    ) -> dict[str, Any]:
        """Return the state of a job: queued, running, done, failed or stopped. Waits up to
        wait_seconds for its end, and reports progress in between. A job that is done names its run
        in run_id.
        """
        with _tool_errors():
            view = await _follow_job(service, caller_of(ctx), ctx, job_id, wait_seconds)
            return _as_json(await run_in_threadpool(service.job_answer, view))

    @server.tool()
    def stop_job(ctx: Context[Any, Any], job_id: str) -> dict[str, Any]:
        """Stop a job in order; the same request resumes it without paying again."""
        with _tool_errors():
            return _as_json(service.job_answer(service.stop(caller_of(ctx), job_id)))


def _add_work_tools(server: MCPServer[Any], service: Service, caller_of: CallerOf) -> None:
    """Add one tool per declared kind of work, and the tools that read its results."""
    for work in works():
        _add_work_tool(server, service, caller_of, work.job)

    @server.tool()
    def read_answer(run_id: RunName) -> str:
        """Return the report of an answer, a survey or another published run as Markdown."""
        with _tool_errors():
            return _markdown_of(service, run_id)

    @server.tool()
    def rated_ideas(run_id: RunName) -> dict[str, Any]:
        """Return all units of a published run: of curate_papers each paper with its idea, its
        statements and their sentences, and what was left out, with reasons.
        """
        with _tool_errors():
            return _as_json(service.run(run_id))


def _add_work_tool(
    server: MCPServer[Any], service: Service, caller_of: CallerOf, job: type[WorkJob]
) -> None:
    kind: Any = job.model_fields["options"].annotation

    async def tool(
        ctx: Context[Any, Any],
        options: dict[str, Any] | None = None,
        wait_seconds: WaitSeconds = 0.0,
        idempotency_key: str | None = None,
        **inputs: Any,
    ) -> dict[str, Any]:
        with _tool_errors():
            caller = caller_of(ctx)
            submit = partial(service.work, name="", idempotency_key=idempotency_key)
            job_id = await run_in_threadpool(submit, caller, job, inputs, kind(**(options or {})))
            view = await _follow_job(service, caller, ctx, job_id, wait_seconds)
            answer = _as_json(await run_in_threadpool(service.job_answer, view))
            status = view.job.status
            if status.state is JobState.FAILED:
                raise ToolError(status.last_word)
            if status.run_id is not None:
                answer["answer"] = await run_in_threadpool(_markdown_of, service, status.run_id)
            return answer

    schema = Annotated[dict[str, Any], WithJsonSchema(schema_of(kind, without=job.not_offered))]
    job_parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[each, field])
        for name, (each, field) in input_fields(job).items()
    ]
    context, options, wait, key, _ = inspect.signature(tool).parameters.values()
    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            context,
            options.replace(annotation=schema | None),
            wait.replace(default=job.wait_seconds),
            key,
            *job_parameters,
        ],
        return_annotation=dict[str, Any],
    )
    ending = (
        "What takes longer than wait_seconds is a job: follow it with job_progress, then read its"
        " run with read_answer. A source that could not be asked is an error."
    )
    description = " ".join(f"{job.__doc__} {ending}".split())
    server.tool(name=job.tool, description=description)(tool)


async def _follow_job(
    service: Service, caller: Token, ctx: Context[Any, Any], job_id: str, wait_seconds: float
) -> JobView:
    deadline = time.monotonic() + wait_seconds
    last_progress: tuple[float, float | None, str] | None = None
    while True:
        view = await run_in_threadpool(service.job, caller, job_id)
        if not view.job.at_work or time.monotonic() >= deadline:
            return view
        if (progress := _progress(view)) != last_progress:
            last_progress = progress
            await ctx.report_progress(*progress)
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        token_id = caller.token_id
        if token_id != LOCAL and not await run_in_threadpool(
            still_valid, service.database, token_id
        ):
            raise NotAllowedError("this token has expired or was revoked meanwhile")


def _markdown_of(service: Service, run_id: str) -> str:
    return service.report(run_id, None, ReportFormat.MD).decode()


def _add_reading_tools(server: MCPServer[Any], service: Service) -> None:
    @server.tool()
    def list_runs() -> dict[str, Any]:
        """List the published runs of every kind, newest first."""
        with _tool_errors():
            return _as_json(service.runs())

    @server.tool()
    def ranking(
        run_id: RunName,
        by_matches: Annotated[
            bool, Field(description="By pairwise matches, where the run was ranked so.")
        ] = False,
    ) -> dict[str, Any]:
        """List the ideas of a run by group and rank, with scores, or the reason why there is no
        score.
        """
        with _tool_errors():
            return _as_json(service.run(run_id, ranking=by_matches))

    @server.tool()
    def read_review(
        run_id: RunName,
        idea_id: IdeaName,
        full: Annotated[
            bool,
            Field(description="Further concerns, cited evidence, comparisons and cost too."),
        ] = False,
    ) -> str:
        """Return the first page of an idea's review as Markdown: verdict, what decides it, closest
        prior work, the most important concerns, and what was not judged.
        """
        with _tool_errors():
            return service.report(run_id, idea_id, ReportFormat.MD, full=full).decode()

    @server.tool()
    def closest_prior_work(run_id: RunName, idea_id: IdeaName) -> dict[str, Any]:
        """Return the closest papers: where they overlap with the idea, quotes, and what remains
        new. An incomplete answer names in warnings what could not be searched or judged.
        """
        with _tool_errors():
            return _as_json(service.closest(run_id, idea_id))

    @server.tool()
    async def search_literature(
        query: Annotated[str, Field(min_length=1, max_length=1000)],
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
        cutoff: Annotated[
            str | None, Field(description="Nothing published after it: YYYY-MM-DD or YYYY-MM.")
        ] = None,
    ) -> dict[str, Any]:
        """Search papers. An empty list means that the source was searched and has none; a source
        that could not be reached is an error.
        """
        with _tool_errors():
            answer = await service.search(query, SearchOptions(limit=limit, cutoff=cutoff))
        if answer.state != "complete":
            raise ToolError("; ".join(answer.warnings))
        return _as_json(answer)


@contextmanager
def _tool_errors() -> Iterator[None]:
    try:
        yield
    except AssayError as error:
        raise ToolError(" ".join(str(error).splitlines())) from error


def _progress(view: JobView) -> tuple[float, float | None, str]:
    progress, state = view.progress, view.job.status.state
    if progress is None:
        return 0.0, None, state.value
    count, total = progress.landed_count, progress.planned.idea_count
    return float(count), float(total), f"{state}: {count} of {total} ideas"


def _as_json(answer: Answer | bytes) -> dict[str, Any]:
    document = answer if isinstance(answer, bytes) else answer.document()
    content: dict[str, Any] = orjson.loads(document)
    return content


def serve_standard_input(warehouse: Warehouse, gateway_url: str, maximum_cost_usd: float) -> None:
    """Serve MCP on standard input and output until input ends.

    The user who started the process has the rights of an owner.
    """
    prepare_environment(warehouse.settings.home)
    owner = Token(
        token_id=LOCAL,
        name="MCP on this machine",
        scope=Role.OWNER,
        created_at=datetime.now(UTC),
        expires_at=None,
        maximum_cost_usd=maximum_cost_usd,
        maximum_open_jobs=MOST_OPEN_JOBS,
    )
    with ServiceDatabase(warehouse) as database:
        service = open_service(warehouse, database, gateway_url)
        mcp_server(service, lambda _: owner).run("stdio")


if __name__ == "__main__":
    log_to_stderr()
    place, gateway, most_usd = sys.argv[1:]
    sys.exit(
        run_command(lambda: serve_standard_input(Warehouse(Path(place)), gateway, float(most_usd)))
    )
