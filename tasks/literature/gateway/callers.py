"""Who may ask the gateway: programs, which say so by saying nothing, and no web page."""

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from schemas.web_origins import is_of_another_site


class ProgramsOnly:
    """Turns away what pages of other sites send: each request may cost a request of the key's allowance."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_of_another_site(Headers(scope=scope)):
            await JSONResponse(
                {"error": "web pages of other sites are not answered"}, status_code=403
            )(scope, receive, send)
        else:
            await self._app(scope, receive, send)
