"""Servers on loopback, each in a thread of its own."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


@dataclass
class Loopback:
    """What a server does and remembers. `closing` is set once its block ends."""

    port: int
    closing: threading.Event = field(default_factory=threading.Event, kw_only=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


LoopbackT = TypeVar("LoopbackT", bound=Loopback)
ServerT = TypeVar("ServerT")


class QuietHandler(BaseHTTPRequestHandler):
    """Writes no log, and has every request end in `answer`; `told` is the `Loopback` that it
    answers for.
    """

    def do_GET(self) -> None:
        self.answer()

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 -- as http.server has it

    def answer(self) -> None:
        raise NotImplementedError

    @property
    def told(self) -> Any:
        return self.server.told  # type: ignore[attr-defined]

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def send_whole(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Send an answer; headers as `Content_Type="text/html"`."""
        self.send_response(status)
        for name, value in (headers | {"Content_Length": str(len(body))}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def serving(make: Callable[[int], LoopbackT], handler: type[QuietHandler]) -> Iterator[LoopbackT]:
    """Run a server on a free port, which `make` is told, for the length of the block."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    told = http.told = make(http.server_address[1])  # type: ignore[attr-defined]
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield told
    finally:
        told.closing.set()
        http.shutdown()
        http.server_close()
        thread.join()


class QuickServer(uvicorn.Server):
    """Stops within milliseconds; uvicorn's own looks ten times a second, and waits as long."""

    beside: Callable[[], Coroutine[Any, Any, None]] | None = None

    async def main_loop(self) -> None:
        await self.on_tick(0)
        watching = asyncio.create_task(self.beside()) if self.beside is not None else None
        while not self.should_exit:  # noqa: ASYNC110 -- another thread sets it
            await asyncio.sleep(0.01)
        if watching is not None:
            watching.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0.01)


class ServedApplication:
    """An ASGI application served by uvicorn; 0: on any free port. `beside` runs in its loop."""

    def __init__(
        self,
        application: Any,
        port: int = 0,
        beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        config = uvicorn.Config(
            application,
            interface="asgi3",
            log_level="critical",
            lifespan="off",
            access_log=False,
            # A busy client that reuses a connection closed meanwhile needs another attempt.
            timeout_keep_alive=600,
        )
        self._server = QuickServer(config)
        self._server.beside = beside
        listener = socket.create_server(("127.0.0.1", port))
        self.port: int = listener.getsockname()[1]
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)


def renew(server: ServerT, *keep: str) -> ServerT:
    """As it was when it started, at its port: to stop a server takes longer than a test."""
    for each in fields(server):  # type: ignore[arg-type]
        if each.name not in ("port", *keep):
            made = each.default_factory is not MISSING
            setattr(server, each.name, each.default_factory() if made else each.default)
    return server


class Dropped(Response):
    """Promises a body and closes the connection instead."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id": ', "more_body": False})
