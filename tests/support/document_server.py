"""A loopback web server for downloads, Unpaywall and GROBID: it answers from a table and remembers
what it was asked.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from schemas.calls import ApiCall
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tests.support.loopback import Loopback, QuietHandler, serving


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
class DocumentServer(Loopback):
    """`replies[path]` is a list of answers: each request takes the next, the last one stays."""

    replies: dict[str, list[Reply]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def next_reply(self, path: str) -> Reply:
        replies = self.replies.get(path, [Reply(404)])
        return replies.pop(0) if len(replies) > 1 else replies[0]


@dataclass
class Web:
    """A server, and the ledger and limits of who asks it."""

    server: DocumentServer
    ledger: Ledger
    settings: DocumentSettings

    def serve(self, path: str, *replies: Reply) -> str:
        """Answer a path by these replies in turn; returns its address."""
        self.server.replies[path] = list(replies)
        return f"{self.server.url}{path}"

    def calls(self, source: str | None = None) -> list[ApiCall]:
        return [call for call in self.ledger.api_calls if source in (None, call.source)]


def document_server() -> AbstractContextManager[DocumentServer]:
    """Run a server on a free port for the length of the block."""
    return serving(DocumentServer, _Handler)


class _Handler(QuietHandler):
    def answer(self) -> None:
        server: DocumentServer = self.told
        path = self.path.split("?", 1)[0]
        server.asked.append(Asked(self.command, self.path, dict(self.headers), self.body()))
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
