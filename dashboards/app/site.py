"""The site: routes, layout, errors, caching and compression."""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import import_module, resources
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from dashboards.app.access import Access, SignInBy, services_of
from dashboards.app.changes import Changes
from dashboards.app.data import Lake
from dashboards.app.forms import read_form
from dashboards.app.sign_in import SIGN_OUT_PATH
from dashboards.render import page as pg
from dashboards.render import wording
from dashboards.render.formats.html import html_body, templates
from dashboards.render.formats.report_format import ReportFormat
from schemas.errors import (
    AssayError,
    ConfigurationError,
    ConflictError,
    NotAllowedError,
    RateLimitedError,
    TransientError,
    UnknownNameError,
)
from schemas.literature.naming import unturned
from schemas.people.role import Action, Person
from warehouse.app.people import pseudonym_of

_STATUS = (
    (UnknownNameError, 404),
    (NotAllowedError, 403),
    (ConflictError, 409),
    (ConfigurationError, 400),
    (RateLimitedError, 429),
    (TransientError, 503),
)
_SLOW_OF_A_READER, _SLOW_AT_ONCE = 3, 12
"""Limits of slow pages that are being made; other pages need the rest of the 40 threads."""
_SMALLEST_COMPRESSED_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class PageContent:
    """Title and content of a page.

    Attributes:
        title: of the document and, without `heading`, of the page.
        controls: markup above the blocks, such as a form; made by `controls` only.
        address: maps the place of a report link to its URL on the site.
        live: whether browsers reload the page after a change (`Changes`).
    """

    title: str
    blocks: Sequence[pg.Block]
    controls: Markup = field(default_factory=Markup)
    address: Callable[[str], str] = str
    heading: pg.Line = ()
    live: bool = False


@dataclass(frozen=True)
class Visit:
    """One request of an admitted reader.

    Attributes:
        form: fields and files of a submitted form; None: a GET request.
    """

    request: Request
    lake: Lake
    access: Access
    form: FormData | None = None

    @cached_property
    def person(self) -> Person | None:
        return self.access.person(self.request)

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def path(self) -> Mapping[str, str]:
        return self.request.path_params

    @cached_property
    def actions(self) -> frozenset[Action]:
        return self.access.actions(self.person)

    def may(self, action: Action) -> bool:
        return action in self.actions

    @property
    def pseudonym(self) -> str:
        """The reader's pseudonym for votes and edits.

        Raises:
            NotAllowedError: nobody is signed in.
        """
        if self.person is None:
            raise NotAllowedError("sign in first: what you do here bears a name")
        return pseudonym_of(services_of(self.lake.warehouse), self.person.name)

    def form_text(self, name: str) -> str:
        """Return a field of the submitted form; empty if it is missing."""
        value = None if self.form is None else self.form.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site.

    Attributes:
        module: module in `dashboards.app.site_pages`.
        label: label in the menu; empty: not in the menu.
        function: function of `module` that makes the page.
        needs: permissions, one of which the reader must have.
        method: POST: handles a form; redirects, or shows what is wrong.
        counter: function of `module` that counts the reader's open items, for the menu.
        is_slow: whether it can take a minute, so that few are made at once.
    """

    path: str
    module: str
    label: str = ""
    function: str = "show"
    needs: tuple[Action, ...] = (Action.READ,)
    method: str = "GET"
    counter: str = ""
    is_slow: bool = False

    @property
    def is_post(self) -> bool:
        return self.method == "POST"

    def call(self, function: str, visit: Visit) -> Any:
        """Call a function of the page's module, which is imported at first use."""
        module = import_module(f"dashboards.app.site_pages.{self.module}")
        return getattr(module, function)(visit)


PAGES = (
    Page("/", "today", "Today"),
    Page("/ideas", "ideas", "Ideas"),
    Page("/why", "why"),
    Page("/sure", "why", function="show_certainty"),
    Page("/work", "work", "Work"),
    Page("/runs/{run_id}", "work", function="show_run"),
    Page("/runs/{run_id}/ranking", "work", function="show_ranking"),
    Page("/runs/{run_id}/file", "work", function="send_file", is_slow=True),
    Page("/submit", "submit", "Submit", needs=(Action.SUBMIT,)),
    Page("/submit", "submit", function="take", needs=(Action.SUBMIT,), method="POST"),
    Page("/submit/{job_id}", "submit", function="show_draft", needs=(Action.SUBMIT,)),
    Page("/submit/{job_id}", "submit", function="begin", needs=(Action.SUBMIT,), method="POST"),
    Page("/jobs/{job_id}", "jobs", needs=(Action.SUBMIT,)),
    Page("/jobs/{job_id}/stop", "jobs", function="stop", needs=(Action.SUBMIT,), method="POST"),
    Page("/idea", "idea"),
    Page("/paper", "idea", function="show_paper"),
    Page(
        "/decide", "decide", "Decide", needs=(Action.DECIDE, Action.VOTE), counter="count_waiting"
    ),
    Page("/decide", "decide", function="answer", needs=(Action.DECIDE,), method="POST"),
    Page("/decide/votes", "votes", needs=(Action.VOTE,)),
    Page("/decide/votes", "votes", function="vote", needs=(Action.VOTE,), method="POST"),
    Page("/decide/standings", "votes", function="show_standings", needs=(Action.READ, Action.VOTE)),
    Page("/decide/ask", "ask", needs=(Action.VOTE,)),
    Page("/decide/ask", "ask", function="act", needs=(Action.VOTE,), method="POST", is_slow=True),
    Page("/operate", "operate", "Operate"),
    Page("/operate/cost", "cost"),
    Page("/operate/sources", "operate", function="show_sources"),
    Page("/operate/quality", "quality"),
    Page("/operate/quality/data-docs", "quality", function="send_data_docs", is_slow=True),
    Page("/operate/sql", "sql", is_slow=True),
    Page("/operate/sql/file", "sql", function="send_file", is_slow=True),
    Page("/operate/benchmarks", "benchmarks"),
    Page("/operate/rated", "rated_ideas"),
    Page("/operate/rated", "rated_ideas", function="save", needs=(Action.DECIDE,), method="POST"),
)


@dataclass(frozen=True)
class Site:
    """All pages over one lake."""

    lake: Lake
    access: Access
    _pages: tuple[Page, ...] = field(default=PAGES)
    _slow: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def routes(self) -> list[Route]:
        compression = [Middleware(GZipMiddleware, minimum_size=_SMALLEST_COMPRESSED_BYTES)]
        get_handlers = {
            page.path: partial(self._respond, page) for page in self._pages if not page.is_post
        }
        get_handlers |= {f"/assets/{name}": partial(_asset, name) for name in _MEDIA_TYPES}
        return [
            *(Route(path, answer, middleware=compression) for path, answer in get_handlers.items()),
            *(
                Route(page.path, partial(self._respond_to_form, page), methods=["POST"])
                for page in self._pages
                if page.is_post
            ),
            Route("/changes", self._changes),
        ]

    async def no_such_page(self, request: Request, _error: Exception) -> Response:
        """Answer an unknown path with an error page."""
        nothing = PageContent(
            "There is no such page", (pg.note(f"nothing is at {request.url.path[:200]}"),)
        )
        visit = Visit(request, self.lake, self.access)
        return await run_in_threadpool(self._render, nothing, visit, Page("", ""), 404)

    async def _respond_to_form(self, page: Page, request: Request) -> Response:
        try:
            # Before the form is read: it may take much room on the disk.
            await run_in_threadpool(_check_allowed, page, Visit(request, self.lake, self.access))
            form = await read_form(request, self.lake.warehouse.settings.api.maximum_body_bytes)
        except AssayError as error:
            return await run_in_threadpool(self._error_response, page, request, error)
        try:
            return await run_in_threadpool(self._respond, page, request, form)
        finally:
            await form.close()

    async def _changes(self, request: Request) -> Response:
        """Send change events to an open page until its reader is signed out."""

        async def events() -> AsyncIterator[ServerSentEvent]:
            with suppress(AssayError):  # the reloaded page shows the error
                async for version in self._change_feed.versions():
                    if not await run_in_threadpool(self.access.admits, request):
                        return
                    yield ServerSentEvent(version, event="change")

        return EventSourceResponse(events(), ping=15)

    @cached_property
    def _change_feed(self) -> Changes:
        return Changes(self.lake)

    def _error_response(self, page: Page, request: Request, error: AssayError) -> Response:
        visit = Visit(request, self.lake, self.access)
        return self._render(_error_content(error), visit, page, _status(error))

    def _respond(self, page: Page, request: Request, form: FormData | None = None) -> Response:
        visit, status = Visit(request, self.lake, self.access, form), 200
        try:
            visit = replace(visit, lake=self.lake.at_current_snapshot())
            if page.path == "/" and not visit.may(Action.READ) and (ways := self._menu(visit)):
                return RedirectResponse(ways[0][0], 303)
            _check_allowed(page, visit)
            with self._place(page, visit):
                content: PageContent | Response = page.call(page.function, visit)
        except AssayError as error:
            content, status = _error_content(error), _status(error)
        if isinstance(content, Response):
            return content
        return self._render(content, visit, page, status)

    @contextmanager
    def _place(self, page: Page, visit: Visit) -> Iterator[None]:
        """Hold a place for a slow page. Raises RateLimitedError if there is none."""
        client = visit.request.client
        reader = visit.person.name if visit.person else client.host if client else ""
        with self._lock:
            if page.is_slow and (
                self._slow[reader] >= _SLOW_OF_A_READER or self._slow.total() >= _SLOW_AT_ONCE
            ):
                raise RateLimitedError("other long answers are being made: try again in a minute")
            self._slow[reader] += page.is_slow
        try:
            yield
        finally:
            with self._lock:
                self._slow[reader] -= page.is_slow
                if not self._slow[reader]:
                    del self._slow[reader]

    def _render(self, content: PageContent, visit: Visit, page: Page, status: int) -> Response:
        sections, body = html_body(content.blocks, content.address)
        _, heading = html_body((pg.Heading(content.heading or pg.line(content.title), 1),), str)
        document = (
            templates("dashboards.app")
            .get_template("layout.html.jinja")
            .render(
                title=unturned(content.title),
                heading=Markup(heading),  # noqa: S704 escaped by its writer, as the body is
                sections=sections,
                controls=content.controls,
                body=Markup(body),  # noqa: S704
                menu=self._menu(visit),
                live=content.live,
                here=page.path,
                person=visit.person,
                sign_out=SIGN_OUT_PATH if self.access.sign_in_by is not SignInBy.NOTHING else "",
                assets=_assets_version(),
            )
        )
        headers = {"etag": f'W/"{hashlib.sha256(document.encode()).hexdigest()[:32]}"'}
        if status == 200 and visit.request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return HTMLResponse(document, status, headers=headers)

    def _menu(self, visit: Visit) -> list[tuple[str, str, int]]:
        return [
            (page.path, page.label, _waiting_count(page, visit))
            for page in self._pages
            if page.label and any(visit.may(action) for action in page.needs)
        ]


def _check_allowed(page: Page, visit: Visit) -> None:
    """Raise NotAllowedError unless the reader has one of the permissions that a page needs."""
    if any(visit.may(action) for action in page.needs):
        return
    action, person = page.needs[0], visit.person
    raise NotAllowedError(
        f"to {action}, sign in with an account: `assay accounts add NAME` makes one"
        if person is None
        else f"the role {person.role} may not {action}: ask whoever runs this dashboard"
    )


def _waiting_count(page: Page, visit: Visit) -> int:
    with suppress(AssayError):  # the page itself shows the error
        return int(page.call(page.counter, visit)) if page.counter else 0
    return 0


def _error_content(error: AssayError) -> PageContent:
    return PageContent("This page cannot be shown", (pg.note(str(error)),))


def _status(error: AssayError) -> int:
    return next((code for kind, code in _STATUS if isinstance(error, kind)), 500)


def run_path(run_id: str) -> str:
    return f"/runs/{quote(run_id, safe='')}"


def job_path(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"


def idea_path(run_id: str, idea_id: str) -> str:
    return with_query("/idea", run=run_id, idea=idea_id)


def idea_link(run_id: str, idea_id: str, title: str | None) -> pg.Part:
    return pg.report(wording.title_or_name(title, idea_id), idea_path(run_id, idea_id))


def report_files(run_id: str, idea_id: str = "", *without: ReportFormat) -> pg.Line:
    """Link to the report on a run, or the full report on an idea, in each format."""
    return pg.line("as a file:", *(
        pg.line(" ", pg.report(each.value, with_query(
            f"{run_path(run_id)}/file", format=each.value, idea=idea_id, full=1 if idea_id else "")))
        for each in ReportFormat
        if each not in without
    ))  # fmt: skip


def paper_path(run_id: str, paper_id: str) -> str:
    return with_query("/paper", run=run_id, paper=paper_id)


def with_query(path: str, /, **values: object) -> str:
    """Return a path with the values that are neither None nor empty."""
    parameters = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def markup(blocks: Iterable[pg.Block]) -> Markup:
    """Render blocks for a template."""
    return Markup(html_body(blocks, str)[1])  # noqa: S704 escaped by its writer


def controls(name: str, **values: Any) -> Markup:
    """Render a template; every value is escaped."""
    template = templates("dashboards.app").get_template(f"{name}.html.jinja")
    return Markup(template.render(**values))  # noqa: S704 the template escapes


def attachment(content: bytes | str, name: str, ending: str, media_type: str) -> Response:
    """Return a file download with a portable name."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
    disposition = f'attachment; filename="{safe[:120]}.{ending}"'
    return Response(content, media_type=media_type, headers={"content-disposition": disposition})


_MEDIA_TYPES = {"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}


@cache
def _content(name: str) -> bytes:
    app = resources.files("dashboards.app")
    if name != "app.css":
        return app.joinpath(name).read_bytes()
    style = templates("dashboards.render").get_template("page.css").render()
    return (style + app.joinpath(name).read_text("utf-8")).encode()


@cache
def _assets_version() -> str:
    """Return a hash of the assets, so that browsers may cache them forever."""
    return hashlib.sha256(b"".join(map(_content, _MEDIA_TYPES))).hexdigest()[:12]


def _asset(name: str, request: Request) -> Response:
    is_current = request.query_params.get("v") == _assets_version()
    caching = "public, max-age=31536000, immutable" if is_current else "no-cache"
    return Response(
        _content(name), media_type=_MEDIA_TYPES[name], headers={"cache-control": caching}
    )
