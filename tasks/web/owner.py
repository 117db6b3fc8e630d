"""The command that sent a worker its shard, asked over HTTP for what the two share."""

import math
import os
import platform
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx
import orjson

from schemas.errors import (
    BudgetExhaustedError,
    CommandGoneError,
    ConfigurationError,
    PublicationError,
)
from tasks.shards.elsewhere import FileThere
from warehouse.owner import Value

HOLDER_HEADER, QUESTION_HEADER = "x-assay-worker", "x-assay-question"
ERRORS = {
    kind.__name__: kind for kind in (BudgetExhaustedError, ConfigurationError, PublicationError)
}
"""What an answer of the command may be instead of a value."""
ALIVE_EVERY_SECONDS = 5.0
_PATIENCE_SECONDS = 60.0
"""A busy command answers within it; one that does not is gone."""
_TIMEOUT_SECONDS = 30.0
_FIRST_WAIT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Reach:
    """How workers reach the command.

    Attributes:
        url: base address, without a path.
        token: that only its workers know; made anew by every command.
        warehouse: its folder.
        mark: name of a file in its `state/`: who sees it, sees the folder.
        folder: of the work in landing, within the warehouse folder.
    """

    url: str
    token: str = field(repr=False)
    warehouse: Path
    mark: str
    folder: str

    @property
    def is_seen_here(self) -> bool:
        """Whether this machine sees the command's folder."""
        return (self.warehouse / "state" / self.mark).is_file()


class RemoteOwner:
    """Implements `Owner` and `FileSender` for one shard; use it as a context manager, inside which
    the command hears from time to time that the worker is alive.

    Questions are asked again while the command does not answer, each under a name of its own: what
    changes something is done once.

    Args:
        tls: with the certificates of the cluster; None: it has none.
        patience_seconds: how long the command may be silent, to all questions together.

    Raises:
        CommandGoneError: as `Owner`.
    """

    def __init__(
        self,
        reach: Reach,
        tls: ssl.SSLContext | None,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        self._patience_seconds = patience_seconds
        self._silent_since: float | None = None
        self.address = f"{reach.url}/units/"
        self.has_landing = not reach.is_seen_here
        self._reach = reach
        self._client = httpx.Client(
            base_url=reach.url,
            timeout=_TIMEOUT_SECONDS,
            verify=tls if tls is not None else True,
            trust_env=False,
            headers={
                "authorization": f"Bearer {reach.token}",
                HOLDER_HEADER: f"{platform.node()}:{os.getpid()}:{uuid4().hex[:8]}",
            },
        )
        self._ended = threading.Event()
        self._heart = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._heart.join()
        self._client.close()

    def greet(self) -> None:
        """Say that this worker is there."""
        self._sent("POST", "/alive")

    def ask(
        self, kind: str, names: Mapping[str, Value], method: str, arguments: Sequence[Value]
    ) -> Any:
        asked = {"kind": kind, "names": names, "method": method, "arguments": arguments}
        answer = self._sent("POST", "/ask", content=orjson.dumps(asked))
        return orjson.loads(answer.content)["value"]

    def tag(self, name: str) -> str | None:
        answer = self._sent("HEAD", f"/units/{name}")
        return None if answer.status_code == httpx.codes.NO_CONTENT else answer.headers["etag"]

    def get(self, name: str) -> tuple[bytes, str] | None:
        answer = self._sent("GET", f"/units/{name}")
        if answer.status_code == httpx.codes.NO_CONTENT:
            return None
        return answer.content, answer.headers["etag"]

    def put(self, name: str, content: bytes, *, replaced: str | None) -> bool:
        headers = {"if-match": replaced} if replaced is not None else {"if-none-match": "*"}
        answer = self._sent("PUT", f"/units/{name}", content=content, headers=headers)
        return answer.status_code != httpx.codes.PRECONDITION_FAILED

    def remove(self, name: str) -> None:
        raise ConfigurationError(f"a worker removes nothing, not {name} either")

    def listing(self, path: str) -> list[FileThere]:
        answer = self._sent("GET", "/files", params={"path": path})
        return [FileThere(*file) for file in orjson.loads(answer.content)]

    def download(self, path: str, inside: str, target: Path) -> None:
        building = target.with_name(f".{uuid4().hex}.part")
        where = {"path": path, "inside": inside}

        def fetch() -> httpx.Response:
            with (
                self._client.stream("GET", "/file", params=where) as answer,
                building.open("wb") as file,
            ):
                if answer.status_code != httpx.codes.OK:
                    answer.read()
                    return answer
                for piece in answer.iter_bytes():
                    file.write(piece)
            return answer

        try:
            self._tried(fetch)
            building.replace(target)
        finally:
            building.unlink(missing_ok=True)

    def _sent(self, method: str, path: str, **parts: Any) -> httpx.Response:
        headers = {**parts.pop("headers", {}), QUESTION_HEADER: uuid4().hex}
        return self._tried(lambda: self._client.request(method, path, headers=headers, **parts))

    def _tried(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        wait = _FIRST_WAIT_SECONDS
        while True:
            began = time.monotonic()
            try:
                answer = send()
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    self._silent_since = None
                    return _read(answer, self._reach.url)
                why = str(orjson.loads(answer.content)["error"])
            except httpx.TransportError as error:
                why = f"{type(error).__name__}: it has ended, or the network is down"
            if self._silent_since is None:
                self._silent_since = began
            if time.monotonic() + wait > self._silent_since + self._patience_seconds:
                self._silent_since = -math.inf  # it was waited for: the next question does not
                raise CommandGoneError(
                    f"the command at {self._reach.url} that sent this work gives no answer ({why})"
                )
            time.sleep(wait)
            wait *= 2

    def _beat(self) -> None:
        while not self._ended.wait(ALIVE_EVERY_SECONDS):
            with _unheard():
                self._client.post("/alive")


@contextmanager
def _unheard() -> Iterator[None]:
    """A sign of life that does not arrive is made up for by the next."""
    try:
        yield
    except httpx.HTTPError:
        return


def _read(answer: httpx.Response, url: str) -> httpx.Response:
    """`answer`, unless it is a refusal."""
    if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
        told = orjson.loads(answer.content)
        raise ERRORS[told["error"]](told["detail"])
    if answer.is_success or answer.status_code == httpx.codes.PRECONDITION_FAILED:
        return answer
    # Another command by now has that port, or the token of this one is another.
    raise CommandGoneError(f"what answers at {url} is not the command that sent this work")
