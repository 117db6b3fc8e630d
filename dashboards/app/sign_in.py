"""Signing in by password: a route beside the pages, since these cannot set a cookie that scripts
do not see; and the end of open pages when who reads them has signed out.
"""

import asyncio
import math
from datetime import timedelta
from functools import cache
from importlib import resources
from urllib.parse import parse_qs, quote

from jinja2 import Environment, StrictUndefined, Template
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboards.app.access import SIGN_IN_PATH, by_password, cookie_name, services_of
from dashboards.app.attempts import Attempts
from schemas.people.web_origins import is_followed_link, is_of_another_site
from schemas.settings import DashboardSettings
from schemas.text.patterns import bounded
from warehouse.app.accounts import person_of, sign_in, sign_out
from warehouse.warehouse import Warehouse

FREE_GUESSES_OF_AN_ADDRESS = 10
MOST_BYTES, MOST_SECONDS = 8_192, 10.0
POLICY_VIOLATION = 1008
_FILES = ("/media/", "/_stcore/upload_file")
_OF_STREAMLIT = "/_stcore/"
_NEEDED = frozenset({"health", "host-config", "stream", "upload_file", "bidi-components"})
"""What pages need below it. Metrics and script checks tell strangers of sessions."""

_PLACE = bounded(r"/(?:[A-Za-z0-9_.~%?=&-][A-Za-z0-9_.~%?=&/:+,-]{0,1500})?")
"""A path of this site: `//` and `/\\` would lead to another."""

_WRONG = "No account has this name and password."


class SignIn:
    """The form, and what it sends."""

    def __init__(self, warehouse: Warehouse, settings: DashboardSettings) -> None:
        self._warehouse = warehouse
        self._lifetime = timedelta(hours=settings.session_hours)
        self._by_name, self._by_address = Attempts(), Attempts(free=FREE_GUESSES_OF_AN_ADDRESS)
        self._one_at_a_time = asyncio.Lock()

    def route(self) -> Route:
        return Route(SIGN_IN_PATH, self._answer, methods=["GET", "POST"])

    async def _answer(self, request: Request) -> Response:
        if not await run_in_threadpool(by_password, self._warehouse):
            return RedirectResponse("/", 303)
        if request.method != "POST":
            return _form(_place(request.query_params.get("next", "/")))
        if is_of_another_site(request.headers):  # also where it is a followed link
            return _form("/", "Pages of other sites cannot sign you in.", 403)
        told = await _told(request)
        if told is None:
            return _form("/", "The form did not arrive whole: try again.", 400)
        place = _place(told.get("next", "/"))
        secret, line = await self._check(request, told.get("name", ""), told.get("password", ""))
        if secret is None:
            return _form(place, line, 429 if line != _WRONG else 403)
        response = RedirectResponse(place, 303)
        response.set_cookie(
            cookie_name(self._warehouse),
            secret,
            max_age=int(self._lifetime.total_seconds()),
            httponly=True,
            samesite="strict",
            secure=_over_tls(request),
        )
        return response

    async def _check(self, request: Request, name: str, password: str) -> tuple[str | None, str]:
        """The new session; else None, and why not.

        One at a time, since a check takes 64 MB; who has to wait is refused without one.
        """
        address = request.client.host if request.client else ""
        name = name.strip().casefold()[:80]
        async with self._one_at_a_time:
            wait_seconds = max(
                self._by_name.wait_seconds(name), self._by_address.wait_seconds(address)
            )
            if wait_seconds > 0:
                return None, f"Too many wrong passwords: wait {math.ceil(wait_seconds)} s."
            database = services_of(self._warehouse)
            secret = await run_in_threadpool(sign_in, database, name, password, self._lifetime)
            self._by_name.hear(name, right=secret is not None)
            self._by_address.hear(address, right=secret is not None)
            if secret is None:
                return None, _WRONG
            before = request.cookies.get(cookie_name(self._warehouse))
            if before:  # a browser has one session, and never one that somebody else began
                await run_in_threadpool(sign_out, database, before)
        return secret, ""


class OpenPages:
    """Sends who has not signed in to the form, and ends the stream of a page once the session ends
    that it was opened in.
    """

    def __init__(self, app: ASGIApp, warehouse: Warehouse, settings: DashboardSettings) -> None:
        self._app, self._warehouse = app, warehouse
        self._by_provider = settings.provider is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            receive = await self._while_signed_in(scope, receive, send)
        elif not _is_needed(scope):
            await PlainTextResponse("Not found", 404)(scope, receive, send)
            return
        elif scope["type"] == "http" and await self._has_to_sign_in(scope):
            asked = scope["path"] + ("?" + scope["query_string"].decode("latin-1")).rstrip("?")
            there = f"{SIGN_IN_PATH}?next={quote(_place(asked), safe='')}"
            await RedirectResponse(there, 303)(scope, receive, send)
            return
        elif scope["type"] == "http" and await self._is_anothers_file(scope):
            await PlainTextResponse("Sign in first", 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _has_to_sign_in(self, scope: Scope) -> bool:
        """Whether this opens a page in a browser that says it is not signed in.

        Of a link on another site it says nothing: then the page itself shows the way.
        """
        headers = Headers(scope=scope)
        return (
            scope["method"] == "GET"
            and scope["path"] != SIGN_IN_PATH
            and not self._by_provider
            and is_followed_link(headers)
            and not is_of_another_site(headers)
            and await run_in_threadpool(by_password, self._warehouse)
            and not await run_in_threadpool(self._signed_in, scope)
        )

    async def _is_anothers_file(self, scope: Scope) -> bool:
        """Whether this fetches or sends a file of a page without being signed in. Of a provider's
        sign-in Streamlit alone knows; the addresses of such files cannot be guessed.
        """
        return (
            scope["path"].startswith(_FILES)
            and not self._by_provider
            and await run_in_threadpool(by_password, self._warehouse)
            and not await run_in_threadpool(self._signed_in, scope)
        )

    async def _while_signed_in(self, scope: Scope, receive: Receive, send: Send) -> Receive:
        if not await run_in_threadpool(self._signed_in, scope):
            return receive  # the page shows how to sign in, and nothing else

        async def next_message() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not await run_in_threadpool(
                self._signed_in, scope
            ):
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message

        return next_message

    def _signed_in(self, scope: Scope) -> bool:
        secret = HTTPConnection(scope).cookies.get(cookie_name(self._warehouse))
        return (
            secret is not None
            and by_password(self._warehouse)
            and person_of(services_of(self._warehouse), secret) is not None
        )


def _is_needed(scope: Scope) -> bool:
    """Whether pages need what is asked for; all but Streamlit's own doors are pages and files."""
    path = str(scope.get("path", ""))
    if not path.startswith(_OF_STREAMLIT):
        return True
    return path.removeprefix(_OF_STREAMLIT).partition("/")[0] in _NEEDED


async def _told(request: Request) -> dict[str, str] | None:
    """The fields of the form; None when it is too long, too slow or none."""
    body = bytearray()
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return None
        found = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=5)
    except (TimeoutError, ValueError):
        return None
    return {name: values[0] for name, values in found.items()}


def _place(text: str) -> str:
    return text if _PLACE.fullmatch(text) else "/"


def _over_tls(request: Request) -> bool:
    """Whether the browser speaks TLS, to this server or to a proxy before it, which says so."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))


def _form(place: str, line: str = "", status: int = 200) -> Response:
    page = _template().render(action=SIGN_IN_PATH, next=place, line=line)
    return HTMLResponse(page, status, headers={"cache-control": "no-store"})


@cache
def _template() -> Template:
    text = resources.files("dashboards.app").joinpath("sign_in.html.jinja").read_text("utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(text)
