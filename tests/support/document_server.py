"""A loopback web server for downloads, Unpaywall and GROBID: it answers from a table and remembers
what it was asked.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Reply:
    """One answer; `trickle_seconds` is waited between the pieces of the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    trickle_seconds: float = 0.0
    endless: bool = False


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class DocumentServer:
    """`replies[path]` is a list of answers: each request takes the next, the last one stays."""

    port: int
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next_reply(self, path: str) -> Reply:
        replies = self.replies.get(path, [Reply(404)])
        return replies.pop(0) if len(replies) > 1 else replies[0]


@contextmanager
def document_server() -> Iterator[DocumentServer]:
    """Run a server on a free port for the length of the block."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler())
    http.daemon_threads = True
    server = DocumentServer(port=http.server_address[1])
    http.document_server = server  # type: ignore[attr-defined]
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        http.shutdown()
        http.server_close()
        thread.join()


def _handler() -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _answer(self, body: bytes) -> None:
            server: DocumentServer = self.server.document_server  # type: ignore[attr-defined]
            path = self.path.split("?", 1)[0]
            server.asked.append(Asked(self.command, self.path, dict(self.headers), body))
            reply = server.next_reply(path)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Connection", "close")
                if not reply.endless and reply.status != 204:
                    self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
                while reply.endless and not server.closing.wait(reply.trickle_seconds):
                    self.wfile.write(reply.body)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Handler
