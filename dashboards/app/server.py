"""`python -m dashboards.app.server HOST PORT`: the dashboard, for browsers that open it and no
other site's pages.
"""

import base64
import hashlib
import os
import secrets
import sys
from importlib import resources
from pathlib import Path

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette import App

from dashboards.app.sign_in import OpenPages, SignIn
from schemas.people.web_origins import is_followed_link, is_of_another_site, names_of_server
from schemas.settings import ProviderSettings, Settings
from warehouse.warehouse import Warehouse

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
                MutableHeaders(scope=message).update(self._headers)
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


def application(host: str, settings: Settings) -> App:
    """The dashboard as it listens on `host`."""
    names = names_of_server(host, settings.dashboard.allowed_hosts)
    warehouse = Warehouse(settings.dashboard.warehouse, settings)
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False),
        Middleware(OwnPagesOnly, policy=content_security_policy()),
        Middleware(OpenPages, warehouse=warehouse, settings=settings.dashboard),
    ]
    provider = settings.dashboard.provider
    return App(
        str(resources.files("dashboards.app").joinpath("app.py")),
        middleware=middleware,
        routes=[SignIn(warehouse, settings.dashboard).route()],
        secrets=_secrets(provider) if provider else None,
    )


def _secrets(provider: ProviderSettings) -> dict[str, dict[str, str]]:
    """What Streamlit's login reads. Who signs in by the provider does so anew after a restart."""
    return {
        "auth": {
            "redirect_uri": provider.redirect_uri,
            "cookie_secret": secrets.token_urlsafe(32),
            "client_id": provider.client_id,
            "client_secret": provider.client_secret.get_secret_value(),
            "server_metadata_url": provider.server_metadata_url,
        }
    }


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
