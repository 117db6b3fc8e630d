"""ASGI application of the HTTP API.

Every reply has the shape of `--json` output.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from enum import Enum
from functools import cache, partial
from importlib import resources
from typing import Annotated, Any, Literal

import orjson
from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from fastapi.sse import EventSourceResponse, ServerSentEvent
from jinja2 import Environment, StrictUndefined, Template
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as StarletteScope

from dashboards.render.formats.report_format import ReportFormat
from flows.api.bodies import body_of, input_fields, options_of
from flows.api.gate import Gate
from flows.api.mcp_server import mcp_server
from flows.api.service import JobView, Service
from flows.cli.answer import Answer, error_answer
from schemas.errors import (
    AssayError,
    BudgetExhaustedError,
    ConfigurationError,
    ConflictError,
    IdeaFileError,
    NotAllowedError,
    RateLimitedError,
    SnapshotError,
    TransientError,
    UnknownNameError,
)
from schemas.identifiers import content_hash
from schemas.options.commands import DeclaredOptions, SearchOptions
from schemas.people.decisions import GivenAnswer
from schemas.people.job import OfIdeas, PlanJob
from schemas.people.role import Token
from schemas.people.work_job import WorkJob
from schemas.text.patterns import bounded
from tasks.works import works
from warehouse.app.accounts import still_valid
from warehouse.app.jobs import Job, log_part

MCP_PATH = "/mcp"
_STATUS = (
    (NotAllowedError, 403),
    (UnknownNameError, 404),
    (ConflictError, 409),
    (RateLimitedError, 429),
    (BudgetExhaustedError, 402),
    (ConfigurationError, 422),
    (IdeaFileError, 422),
    (SnapshotError, 503),
    (TransientError, 503),
)
IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=200, description="The same key again names the same job."),
]


def _caller(request: Request) -> Token:
    token: Token = request.state.token
    return token


class _StrictRequest(Request):
    async def json(self) -> Any:
        """Return the body as JSON, without lone surrogates and NaN.

        Python's own reader accepts both, and no writer behind it does.
        """
        return orjson.loads(await self.body())


class _StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return strict


Caller = Annotated[Token, Depends(_caller)]


def application(
    service: Service,
) -> tuple[ASGIApp, Callable[[], AbstractAsyncContextManager[None]]]:
    """Build the API with its gate and MCP over HTTP.

    Returns: the application, and the lifespan context that the MCP sessions need.
    """
    programs = mcp_server(service, _token_over_http)
    over_http = programs.streamable_http_app(
        stateless_http=True,
        max_request_body_size=service.warehouse.settings.api.maximum_body_bytes,
        # The server checks names and origins itself (`tasks/web/serving.py`).
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    api = FastAPI(
        title="Assay",
        summary="Evaluates research ideas against the scientific literature.",
        description="Send `Authorization: Bearer TOKEN`, of `assay tokens create`.",
        version="1",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.router.route_class = _StrictRoute
    _add_uploads(api, service)
    _add_jobs(api, service)
    for job in _jobs():
        _add_work(api, service, job)
    _add_decisions(api, service)
    _add_results(api, service)
    _add_literature(api, service)
    _add_public_pages(api)
    api.exception_handler(AssayError)(_error_response)
    api.exception_handler(HTTPException)(_http_error_response)
    api.exception_handler(RequestValidationError)(_validation_error_response)

    async def either(scope: StarletteScope, receive: Receive, send: Send) -> None:
        await (over_http if scope.get("path") == MCP_PATH else api)(scope, receive, send)

    gate = Gate(either, service.database, service.warehouse.settings.api)
    return gate, programs.session_manager.run


def _token_over_http(context: Context[Any, Any]) -> Token:
    request = context.request_context.request
    assert request is not None
    token: Token = request.state.token
    return token


def _add_uploads(api: FastAPI, service: Service) -> None:
    idea_jobs = {job.name_of_command(): job for job in _jobs() if issubclass(job, OfIdeas)}

    @api.post("/v1/jobs/{command}/file", status_code=202, response_model=Answer, tags=["jobs"])
    async def upload(
        command: Literal[tuple(idea_jobs)],  # type: ignore[valid-type]
        request: Request,
        filename: Annotated[str, Query(max_length=200, description="Its ending says the format.")],
        token: Caller,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Submit an idea file as the request body, with the options in the query."""
        job: Any = idea_jobs[command]
        options = options_of(job.model_fields["options"].annotation, request.query_params)
        inputs, name = job.of_file(filename or ".", await request.body()), filename or "ideas"
        submit = partial(_submit_job, service, name=name, key=idempotency_key)
        return await run_in_threadpool(submit, token, job, inputs, options)


def _jobs() -> Iterator[type[WorkJob]]:
    yield from (work.job for work in works())
    yield PlanJob


def _submit_job(
    service: Service,
    token: Token,
    job: type[WorkJob],
    inputs: Mapping[str, Any],
    options: DeclaredOptions,
    *,
    name: str,
    key: str | None,
) -> Response:
    job_id = service.work(token, job, inputs, options, name=name, idempotency_key=key)
    return _json_response(service.job_answer(service.job(token, job_id)), 202)


def _add_jobs(api: FastAPI, service: Service) -> None:
    @api.get("/v1/jobs", response_model=Answer, tags=["jobs"])
    def jobs(token: Caller) -> Response:
        """List your jobs, newest first; an owner's token lists all jobs."""
        return _json_response(service.jobs(token))

    def job_view(job_id: str, token: Caller) -> JobView:
        return service.job(token, job_id)

    @api.get("/v1/jobs/{job_id}", response_model=Answer, tags=["jobs"])
    def job(view: Annotated[JobView, Depends(job_view)]) -> Response:
        """Return the state of a job; when it is done, `run_id` names the published run."""
        return _json_response(service.job_answer(view))

    @api.delete("/v1/jobs/{job_id}", response_model=Answer, tags=["jobs"])
    def stop(job_id: str, token: Caller) -> Response:
        """Stop a job in order; the same request resumes it without paying again."""
        return _json_response(service.job_answer(service.stop(token, job_id)))

    @api.get("/v1/jobs/{job_id}/events", response_class=EventSourceResponse, tags=["jobs"])
    async def events(
        view: Annotated[JobView, Depends(job_view)],
        token: Caller,
        last_event_id: Annotated[str | None, Header(max_length=64)] = None,
    ) -> AsyncIterator[ServerSentEvent]:
        """Stream the events `progress` and `log`, and `end` as the last one."""
        async for event in job_events(service, token, view.job.job_id, last_event_id):
            yield event


def _add_work(api: FastAPI, service: Service, job: type[WorkJob]) -> None:
    command = job.name_of_command()

    def submit(body: Any, token: Caller, idempotency_key: IdempotencyKey = None) -> Response:
        inputs = {name: getattr(body, name) for name in input_fields(job)}
        return _submit_job(
            service, token, job, inputs, body.options, name=body.name, key=idempotency_key
        )

    submit.__annotations__["body"] = body_of(job)
    description = f"{job.__doc__} The options are those of `assay {command}`."
    add = api.post(
        f"/v1/jobs/{command}",
        status_code=202,
        response_model=Answer,
        tags=["jobs"],
        name=command,
        description=" ".join(description.split()),
    )
    add(submit)


def _add_decisions(api: FastAPI, service: Service) -> None:
    @api.get("/v1/inbox", response_model=Answer, tags=["decisions"])
    def inbox(token: Caller) -> Response:
        """List the requests that wait for your answer, oldest first."""
        return _json_response(service.inbox(token))

    @api.post("/v1/inbox/{request_id}", response_model=Answer, tags=["decisions"])
    def decide(request_id: str, body: GivenAnswer, token: Caller) -> Response:
        """Answer a request once; 409 if it was answered or its subject has changed."""
        return _json_response(service.decide(token, request_id, body))


def _add_results(api: FastAPI, service: Service) -> None:
    tags: list[str | Enum] = ["results"]

    @api.get("/v1/runs", response_model=Answer, tags=tags)
    def runs() -> Response:
        """List the published runs of every kind, newest first."""
        return _json_response(service.runs())

    @api.get("/v1/runs/{run_id}", response_model=Answer, tags=tags)
    def run(run_id: str) -> Response:
        """Return a run with its ideas in rank order, or published work of another kind."""
        return _json_response(service.run(run_id))

    @api.get("/v1/runs/{run_id}/ranking", response_model=Answer, tags=tags)
    def ranking(run_id: str) -> Response:
        """Return the ranking of a run by pairwise matches (option `rank`)."""
        return _json_response(service.run(run_id, ranking=True))

    @api.get("/v1/runs/{run_id}/report", response_class=Response, tags=tags)
    def report(
        run_id: str,
        output_format: Annotated[ReportFormat, Query(alias="format")] = ReportFormat.MD,
        idea: str | None = None,
        ranking: bool = False,
        full: Annotated[
            bool, Query(description="With `idea`: the full report, not the first page alone.")
        ] = False,
    ) -> Response:
        """Return the report of a run, an idea or a ranking in the given format."""
        content = service.report(run_id, idea, output_format, ranking=ranking, full=full)
        headers = {"content-disposition": f'attachment; filename="report.{output_format}"'}
        return Response(content, headers=headers, media_type=output_format.media_type)

    @api.get("/v1/runs/{run_id}/review", response_model=Answer, tags=tags)
    def review(run_id: str, idea: str) -> Response:
        """Return the complete evaluation of one idea."""
        return _json_response(service.run(run_id, idea))

    @api.get("/v1/runs/{run_id}/closest", response_model=Answer, tags=tags)
    def closest(run_id: str, idea: str) -> Response:
        """Return the closest prior work of an idea: the overlap, and what remains new."""
        return _json_response(service.closest(run_id, idea))


def _add_literature(api: FastAPI, service: Service) -> None:
    @api.get("/v1/literature", response_model=Answer, tags=["literature"])
    async def search(
        query: Annotated[str, Query(min_length=1, max_length=1000)],
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
        cutoff: str | None = None,
    ) -> Response:
        """Search papers as an evaluation does; 503 if a source could not be reached."""
        options = SearchOptions(limit=limit, cutoff=cutoff)
        answer = await service.search(query, options)
        return _json_response(answer, 200 if answer.state == "complete" else 503)


def _add_public_pages(api: FastAPI) -> None:
    @api.get("/", include_in_schema=False)
    @api.get("/v1", include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse(page_of(api.openapi()))


def _json_response(answer: Answer | bytes, status: int = 200) -> Response:
    document = answer if isinstance(answer, bytes) else answer.document()
    return Response(document, status, media_type="application/json")


def _error_response(_: Request, error: Exception) -> Response:
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
    return _json_response(error_answer(" ".join(str(error).splitlines())), status)


def _http_error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json_response(error_answer(str(error.detail)), error.status_code)


def _validation_error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])[:200]
    return _json_response(error_answer(f"{place}: {first['msg']}"), 422)


LOOK_EVERY_SECONDS = 0.5
_MOST_BYTES = 65_536
_EVENT_ID = bounded(r"(\d{1,15})-([0-9a-f]{16})")


async def job_events(
    service: Service, token: Token, job_id: str, last_event_id: str | None
) -> AsyncIterator[ServerSentEvent]:
    """Yield the events `log`, `progress`, and `end` as the last one.

    The event id `<log offset>-<hash of the progress row>` lets a client resume after
    `last_event_id`.
    """
    event_id = _EVENT_ID.fullmatch(last_event_id or "")
    offset, sent_hash = (int(event_id[1]), event_id[2]) if event_id else (0, "0" * 16)
    while True:
        view = await run_in_threadpool(service.job, token, job_id)
        text, offset = await run_in_threadpool(_read_log, view.job, offset)
        row = view.row()
        current_hash = content_hash(orjson.dumps(row, default=str).decode(), length=16)
        if text:
            yield ServerSentEvent(data={"text": text}, event="log", id=f"{offset}-{sent_hash}")
        if current_hash != sent_hash:
            sent_hash = current_hash
            yield ServerSentEvent(data=row, event="progress", id=f"{offset}-{sent_hash}")
        if not view.job.at_work and not text:
            yield ServerSentEvent(data=row, event="end", id=f"{offset}-{sent_hash}")
            return
        if not await run_in_threadpool(still_valid, service.database, token.token_id):
            return
        await asyncio.sleep(LOOK_EVERY_SECONDS)


def _read_log(job: Job, offset: int) -> tuple[str, int]:
    part = log_part(job, offset, _MOST_BYTES)
    length = part.rfind(b"\n") + 1 or (len(part) if len(part) == _MOST_BYTES else 0)
    return part[:length].decode("utf-8", "replace"), offset + length


def page_of(schema: dict[str, Any]) -> str:
    return _template().render(info=schema["info"], paths=schema["paths"], parts=_parts(schema))


def _parts(schema: dict[str, Any]) -> dict[str, Any]:
    schemas: dict[str, Any] = schema.get("components", {}).get("schemas", {})
    return {name: part for name, part in schemas.items() if "properties" in part}


@cache
def _template() -> Template:
    text = resources.files("flows.api").joinpath("page.html.jinja").read_text("utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(text)
