"""ASGI application: the sign-in and the pages behind it."""

from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboards.app.access import SIGN_IN_PATH, Access
from dashboards.app.data import open_lake
from dashboards.app.sign_in import OPEN_PATHS, SignIn, path_with_query
from dashboards.app.site import Site
from schemas.errors import AssayError
from schemas.people.web_origins import is_followed_link, is_of_another_site
from schemas.settings import Settings

# Style sheet, script and icon contain no data of the warehouse.
ASSETS = "/assets/"
POLICY = "; ".join((
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",  # alignment of table cells
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
))  # fmt: skip
_HEADERS = {
    "cache-control": "private, no-cache",
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class OwnPagesOnly:
    """Refusal of requests from other sites, and security headers.

    If access cannot be determined, the answer is the error message only.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        if is_of_another_site(headers) and not is_followed_link(headers):
            refusal = PlainTextResponse("Pages of other sites are not answered", status_code=403)
            await refusal(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except AssayError as error:  # from middleware or sign-in; pages handle their own
            await PlainTextResponse(str(error), 503)(scope, receive, send_with_headers)


class AdmittedOnly:
    """Redirection of readers who are not signed in to the sign-in form."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        is_open = path in OPEN_PATHS or path.startswith(ASSETS)
        is_admitted = is_open or await run_in_threadpool(self._access.admits, HTTPConnection(scope))
        await (self._app if is_admitted else _sign_in_response(scope))(scope, receive, send)


def _sign_in_response(scope: Scope) -> Response:
    headers = Headers(scope=scope)
    opens_a_page = scope["method"] in ("GET", "HEAD") and (
        is_followed_link(headers) or "sec-fetch-mode" not in headers
    )
    if not opens_a_page:
        return PlainTextResponse("Sign in first", 403)
    if is_of_another_site(headers):
        # Browsers send strict cookies only with a reload, not when following another site's link.
        reload_page = '<!doctype html><title>Assay</title><meta http-equiv="refresh" content="0">'
        return HTMLResponse(reload_page, headers={"cache-control": "no-store"})
    target = path_with_query(scope["path"], scope["query_string"].decode("latin-1"))
    return RedirectResponse(f"{SIGN_IN_PATH}?next={quote(target, safe='')}", 303)


def pages(settings: Settings) -> ASGIApp:
    """Build the application over the warehouse of the settings."""
    lake = open_lake(settings)
    access = Access(lake.warehouse, settings.dashboard)
    site = Site(lake, access)
    return Starlette(
        routes=[*SignIn(access).routes(), *site.routes()],
        exception_handlers={404: site.no_such_page},
        middleware=[Middleware(OwnPagesOnly), Middleware(AdmittedOnly, access=access)],
    )
