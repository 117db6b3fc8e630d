"""A host with a name that only a proxy resolves, with TLS or without, and the proxies before it."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.support.loopback import Loopback, QuietHandler, serving

HOST = "literature.example"
_SIGN_IN = b"<!doctype html><html><body>Please sign in to the guest network</body></html>"


@dataclass
class Proxy(Loopback):
    """A proxy that leads every host to one server; `answer` signs_in and refuses lead nowhere."""

    plain_port: int
    tls_port: int
    behavior: str


class _ProxyHandler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        if self.told.behavior == "sign_in":
            self.send_whole(200, _SIGN_IN, Content_Type="text/html")
            return
        if self.told.behavior == "refuse":
            self.send_whole(407, b"", Proxy_Authenticate="Basic realm=guests")
            return
        address = urlsplit(self.path)
        target = f"http://127.0.0.1:{self.told.plain_port}{address.path}?{address.query}"
        headers = {"x-api-key": self.headers.get("x-api-key", ""), "accept-encoding": "identity"}
        reply = httpx.request(self.command, target, content=self.body(), headers=headers)
        self.send_whole(reply.status_code, reply.content, Content_Type="application/json")

    def do_CONNECT(self) -> None:  # noqa: N802 -- as http.server has it
        self.close_connection = True
        if self.told.behavior != "forward":
            self.answer()
            return
        with socket.create_connection(("127.0.0.1", self.told.tls_port)) as server:
            self.send_response(200)
            self.end_headers()
            splice(self.connection, server)


@contextmanager
def proxy(plain_port: int, tls_port: int, behavior: str = "forward") -> Iterator[Proxy]:
    """Run a proxy: it forwards, answers with a sign-in page, or asks for a password."""
    with serving(lambda port: Proxy(port, plain_port, tls_port, behavior), _ProxyHandler) as it:
        yield it


@contextmanager
def tls_before(port: int, certificate: Path, key: Path) -> Iterator[int]:
    """Serve over TLS what a server on `port` serves without; yields the port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def converse(plain: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(plain, server_side=True) as client,
            socket.create_connection(("127.0.0.1", port)) as server,
        ):
            splice(client, server)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=converse, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def splice(one: socket.socket, other: socket.socket) -> None:
    """Pass bytes both ways until either side closes."""

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                sink.sendall(piece)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    back = threading.Thread(target=pump, args=(other, one), daemon=True)
    back.start()
    pump(one, other)
    back.join()
