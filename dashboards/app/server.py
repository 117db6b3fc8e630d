"""`python -m dashboards.app.server HOST PORT`: the dashboard, for browsers that open it and no
other site's pages.
"""

import base64
import hashlib
import os
import sys
from importlib import resources
from pathlib import Path
from urllib.parse import quote

import streamlit
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette import App

from dashboards.app.access import SIGN_IN_PATH, Access
from dashboards.app.data import open_lake
from dashboards.app.registry import PAGES
from dashboards.app.sign_in import OPEN_PATHS, SignIn, place_of
from dashboards.app.site import Further, Site
from schemas.errors import AssayError
from schemas.people.web_origins import is_followed_link, is_of_another_site, names_of_server
from schemas.settings import Settings

POLICY_VIOLATION = 1008
_OF_STREAMLIT = "/_stcore/"
_NEEDED = frozenset({"health", "host-config", "stream", "upload_file", "bidi-components"})
"""What pages need below it. Metrics and script checks tell strangers of sessions."""
_HEALTH = "/_stcore/health"
_ASSETS = "/assets/"
"""Style, script and icon: nothing of the warehouse."""
_FOLDED = ("Ideas", "Work", "Operate")
OPTIONS: dict[str, bool | str] = {
    "server.headless": True,
    "server.fileWatcherType": "none",
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.enableStaticServing": False,
    "server.enableAgentApi": False,
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "viewer",
    "client.showErrorDetails": "none",
    "theme.light.primaryColor": "#005A9C",  # white is legible on both
    "theme.dark.primaryColor": "#1F6FB8",
    "logger.level": "error",
    "logger.hideWelcomeMessage": (
        True
    ),  # to say where it listens, Streamlit would ask a server outside for its address
}
"""No telemetry, no file watcher, no developer menu, no tracebacks for readers, no door beside the
pages.
"""


class OwnPagesOnly:
    """Turns away what pages of other sites send, and tells browsers what the pages may load:
    nothing from elsewhere.
    """

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "content-security-policy": policy,
            "x-frame-options": "DENY",
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # a page may have a stricter policy
            await send(message)

        headers = Headers(scope=scope)
        if is_of_another_site(headers) and not is_followed_link(headers):
            await PlainTextResponse("Pages of other sites are not answered", status_code=403)(
                scope, receive, send
            )
        else:
            await self._app(scope, receive, send_with_headers)


def content_security_policy() -> str:
    """What a page may load and run.

    Charts compile their expressions, hence `unsafe-eval`; styles are set by scripts.
    """
    return "; ".join((
        "default-src 'self'",
        f"script-src 'self' 'unsafe-eval' {' '.join(_inline_scripts())}".rstrip(),
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "frame-src 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ))  # fmt: skip


def _inline_scripts() -> list[str]:
    """Hashes of the scripts that stand in Streamlit's own page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    scripts = [part.partition("</script>")[0] for part in page.split("<script>")[1:]]
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    ]


class AdmittedOnly:
    """Sends who has not signed in to the form, and ends the stream of a page once the session ends
    that it was opened in.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        path = str(scope.get("path", ""))
        if not _is_needed(path):
            await PlainTextResponse("Not found", 404)(scope, receive, send)
            return
        try:
            is_open = path in OPEN_PATHS or path == _HEALTH or path.startswith(_ASSETS)
            admitted = is_open or await self._admits(scope)
        except AssayError as error:  # who reads this cannot be known, so nothing else is shown
            await PlainTextResponse(str(error), 503)(scope, receive, send)
            return
        if scope["type"] == "websocket":
            if not admitted:
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return
            receive = self._while_admitted(scope, receive, send)
        elif not admitted:
            await _way_in(scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _admits(self, scope: Scope) -> bool:
        return await run_in_threadpool(self._access.admits, HTTPConnection(scope))

    def _while_admitted(self, scope: Scope, receive: Receive, send: Send) -> Receive:
        async def next_message() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not await self._admits(scope):
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message

        return next_message


def _way_in(scope: Scope) -> Response:
    """The form for who opens a page; a refusal for whatever else asks."""
    headers = Headers(scope=scope)
    opens_a_page = scope["method"] in ("GET", "HEAD") and (
        is_followed_link(headers) or "sec-fetch-mode" not in headers
    )
    if not opens_a_page:
        return PlainTextResponse("Sign in first", 403)
    if is_of_another_site(headers):
        # Browsers send no cookie along a link of another site; along a reload of ours they do.
        again = '<!doctype html><title>Assay</title><meta http-equiv="refresh" content="0">'
        return HTMLResponse(again, headers={"cache-control": "no-store"})
    there = place_of(scope["path"], scope["query_string"].decode("latin-1"))
    return RedirectResponse(f"{SIGN_IN_PATH}?next={quote(there, safe='')}", 303)


def _is_needed(path: str) -> bool:
    """Whether pages need what is asked for; all but Streamlit's own doors are pages and files."""
    if not path.startswith(_OF_STREAMLIT):
        return True
    return path.removeprefix(_OF_STREAMLIT).partition("/")[0] in _NEEDED


def application(host: str, settings: Settings) -> App:
    """The dashboard as it listens on `host`."""
    names = names_of_server(host, settings.dashboard.allowed_hosts)
    lake = open_lake(settings)
    access = Access(lake.warehouse, settings.dashboard)
    further = [
        Further(f"/{page.name}", page.title, page.needs, page.section in _FOLDED) for page in PAGES
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False),
        Middleware(OwnPagesOnly, policy=content_security_policy()),
        Middleware(AdmittedOnly, access=access),
    ]
    return App(
        str(resources.files("dashboards.app").joinpath("app.py")),
        middleware=middleware,
        routes=[*SignIn(access).routes(), *Site(lake, access, further).routes()],
    )


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    host, port = sys.argv[1], int(sys.argv[2])
    served = application(host, Settings())
    # Streamlit reads `.streamlit/` of the current folder, which may be anybody's.
    os.chdir(Path(__file__).parent)
    # Else uvicorn believes what any program of this machine says of the address it asks for.
    os.environ.setdefault("FORWARDED_ALLOW_IPS", "")
    served.run(config={**OPTIONS, "server.address": host, "server.port": port})


if __name__ == "__main__":
    main()
