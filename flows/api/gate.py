"""Access control of the HTTP API: tokens, concurrency, and limits on request bodies."""

import asyncio
from collections import Counter
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flows.cli.answer import error_answer
from schemas.people.role import Action
from schemas.settings import ApiSettings
from warehouse.app.accounts import token_of
from warehouse.app.database import ServiceDatabase

OPEN_PATHS = frozenset({"/", "/v1", "/openapi.json"})
"""Served without a token: descriptions of the service, nothing of the warehouse."""

_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
        " frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


_REQUESTS_AT_ONCE = 32  # of one token; a watched job holds one for as long as it runs
_TOO_LARGE = 413
_DISCARDED_BODIES = 10
"""Multiples of the largest body that are read and discarded after a body that is too large."""


class _RejectionError(Exception):
    def __init__(self, status: int, line: str) -> None:
        self.status, self.line = status, line


class Gate:
    """Authenticates a request and reads its whole body before the application runs.

    The request carries the token in `state.token`.
    """

    def __init__(self, app: ASGIApp, database: ServiceDatabase, limits: ApiSettings) -> None:
        self._app, self._database, self._limits = app, database, limits
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":  # web sockets are not served
            await self._answer(scope, receive, _with_headers(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in OPEN_PATHS and scope["method"] == "GET":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        credentials = headers.getlist("authorization")
        kind, _, text = credentials[0].partition(" ") if len(credentials) == 1 else ("", "", "")
        token = token_of(self._database, text) if kind.lower() == "bearer" else None
        if token is None:
            line = "no valid token: send `Authorization: Bearer TOKEN`, of `assay tokens create`"
            await _refusal(401, line, {"www-authenticate": "Bearer"})(scope, receive, send)
            return
        if not token.scope.may(Action.READ):
            line = f"a {token.scope} may not {Action.READ}: votes are cast on the dashboard"
            await _refusal(403, line, {})(scope, receive, send)
            return
        if self._at_once[token.token_id] >= _REQUESTS_AT_ONCE:
            line = f"this token may ask {_REQUESTS_AT_ONCE} requests at once: wait"
            await _refusal(429, line, {"retry-after": "1"})(scope, receive, send)
            return
        self._at_once[token.token_id] += 1
        try:
            body = await self._body(headers, receive)
            scope.setdefault("state", {})["token"] = token
            await self._app(scope, _replay_body(body, receive), send)
        except _RejectionError as rejection:
            close_header = {"connection": "close"}
            refusal = _refusal(rejection.status, rejection.line, close_header)
            if rejection.status == _TOO_LARGE and "expect" not in headers:
                send = self._send_after_body(receive, send)
            await refusal(scope, receive, send)
        finally:
            self._at_once[token.token_id] -= 1
            if not self._at_once[token.token_id]:
                del self._at_once[token.token_id]

    def _send_after_body(self, receive: Receive, send: Send) -> Send:
        """Return a `send` that ends the reply once the client has sent its body, up to a bound.

        Closing a connection with unread bytes resets it, and the client loses the reply.
        """

        async def send_later(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
                return
            await send({**message, "more_body": True})
            remaining_bytes = _DISCARDED_BODIES * self._limits.maximum_body_bytes
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.timeout_seconds):
                    while remaining_bytes > 0 and (part := await receive()).get("more_body", False):
                        remaining_bytes -= len(part["body"])
            await send({"type": "http.response.body"})

        return send_later

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        """Return the whole body. Raises _RejectionError if it is too large or too slow."""
        limit, body = self._limits.maximum_body_bytes, bytearray()
        too_large = _RejectionError(
            _TOO_LARGE, f"the body has more than {limit:,} bytes: send less at once"
        )
        content_length = headers.get("content-length", "0")
        # The server has refused non-numbers; `int` is slow on very long ones.
        if len(content_length) > 18 or int(content_length) > limit:
            raise too_large
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":  # the body is incomplete
                        raise _RejectionError(400, "the body ended before its announced end")
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise too_large
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise _RejectionError(
                408, f"the body took longer than {self._limits.timeout_seconds:g} s to arrive"
            ) from None


def _replay_body(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return send_with_headers


def _refusal(status: int, line: str, headers: dict[str, str]) -> Response:
    return Response(error_answer(line).document(), status, headers, media_type="application/json")
