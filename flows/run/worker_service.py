"""What workers on other machines ask of the command that sent them their shards: its budget and
rates, the files that shards name, and where their units land.

All of it lies in the command's own files, so a command that is killed and started again goes on
with what is there. Nobody without the command's token is answered.
"""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from schemas.errors import AssayError, ConfigurationError
from schemas.identifiers import RunId
from schemas.people.web_origins import names_of_server
from schemas.run import Budget
from schemas.settings import Settings
from schemas.text.plain_files import files_below, open_file
from tasks.evaluation.evaluate_shard import AttemptFiles
from tasks.web.owner import (
    ALIVE_EVERY_SECONDS,
    ERRORS,
    HOLDER_HEADER,
    QUESTION_HEADER,
    Reach,
)
from tasks.web.serving import answering, listen
from tasks.web.shared_limits import RateFile
from warehouse.layout import Layout
from warehouse.stores.budget_file import BudgetFile, is_process, process_is_alive
from warehouse.units.kind import Kind
from warehouse.units.receiving import ReceivedUnits

_DEAD_AFTER_SECONDS = 4 * ALIVE_EVERY_SECONDS
_MOST_ANSWERS = 10_000
_PIECE_BYTES = 1 << 20
_METHODS = {
    "budget": frozenset({"admit", "send", "settle", "count_request", "spent"}),
    "journal": frozenset({"journalled", "landed"}),
    "rate": frozenset({"slot", "seconds_until", "settle", "space", "penalise", "learn"}),
    "attempts": frozenset({"begin", "end", "count"}),
}
"""What may be asked of each kind of thing."""


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


class WorkerService:
    """The command's side, for one piece of work.

    Args:
        folder: of the work in landing.
    """

    def __init__(
        self,
        settings: Settings,
        layout: Layout,
        run_id: RunId,
        kind: Kind[Any, Any],
        folder: Path,
    ) -> None:
        self._settings, self._layout, self._run_id = settings, layout, run_id
        self._units = ReceivedUnits(layout, kind, folder)
        self._folder = folder
        self._files: frozenset[Path] = frozenset()
        self._things: dict[bytes, Any] = {}
        self._answers: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._started, self._heard = time.monotonic(), dict[str, float]()
        self._token = secrets.token_urlsafe(32)
        self._mark = f".seen-by-workers-{uuid4().hex}"

    @contextmanager
    def open(
        self, host: str, name: str, certificates: Mapping[str, Any] | None = None
    ) -> Iterator[Reach]:
        """How workers reach it, which they can inside the block.

        Args:
            host: the address to listen on.
            name: under which workers reach that.
            certificates: see `answering`.
        """
        listener = listen(host, 0)
        port = listener.getsockname()[1]
        mark = self._layout.state / self._mark
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        names = [*names_of_server(host, ()), name]
        scheme = "http" if certificates is None else "https"
        shown = f"[{name}]" if ":" in name else name
        try:
            with answering(self._application(), listener, names, certificates):
                yield Reach(
                    url=f"{scheme}://{shown}:{port}",
                    token=self._token,
                    warehouse=self._layout.root.absolute(),
                    mark=self._mark,
                    folder=self._folder.relative_to(self._layout.landing).as_posix(),
                )
        finally:
            mark.unlink(missing_ok=True)

    def hand_out(self, files: frozenset[Path]) -> None:
        """Let workers have these files and folders, which shards name."""
        self._files |= files

    def _application(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/alive", self._answer(lambda *_: Response()), methods=["POST"]),
                Route("/ask", self._answer(self._asked), methods=["POST"]),
                Route("/units/{name:path}", self._answer(self._unit), methods=["GET", "PUT"]),
                Route("/files", self._answer(self._listing)),
                Route("/file", self._answer(self._file)),
            ]
        )

    def _answer(self, work: Callable[[Request, bytes], Response]) -> Callable[[Request], Any]:
        async def answer(web: Request) -> Response:
            told = web.headers.get("authorization", "")
            if not secrets.compare_digest(told.encode(), f"Bearer {self._token}".encode()):
                return JSONResponse({"error": "this command did not send you work"}, 401)
            holder = web.headers.get(HOLDER_HEADER, "")
            self._heard[holder] = time.monotonic()
            body = await web.body()
            try:
                return await run_in_threadpool(work, web, body)
            except tuple(ERRORS.values()) as error:
                kind = next(name for name, each in ERRORS.items() if isinstance(error, each))
                return JSONResponse({"error": kind, "detail": str(error)}, 422)
            except AssayError as error:  # such as object storage out of reach: asked again later
                return JSONResponse({"error": str(error)}, 503)

        return answer

    def _asked(self, web: Request, body: bytes) -> Response:
        question = web.headers.get(QUESTION_HEADER, "")
        with self._lock:
            if question in self._answers:  # asked again, as the answer was lost
                return JSONResponse({"value": self._answers[question]})
            asked = orjson.loads(body)
            kind, method = asked["kind"], asked["method"]
            if method not in _METHODS.get(kind, ()):
                raise ConfigurationError(f"{kind}.{method} is nothing that workers may ask")
            arguments = asked["arguments"]
            if method in ("admit", "send"):
                arguments = [*arguments, web.headers.get(HOLDER_HEADER, "")]
            value = getattr(self._thing(kind, asked["names"]), method)(*arguments)
            self._answers[question] = value
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        return JSONResponse({"value": value})

    def _thing(self, kind: str, names: Mapping[str, Any]) -> Any:
        key = orjson.dumps([kind, names], option=orjson.OPT_SORT_KEYS)
        if key not in self._things:
            self._things[key] = self._made(kind, dict(names))
        return self._things[key]

    def _made(self, kind: str, names: dict[str, Any]) -> Any:
        match kind:
            case "budget":
                scope = RunId(names.pop("run_id"))
                return BudgetFile(self._layout.budgets, scope, Budget(**names), self._is_alive)
            case "journal":
                return BudgetFile(self._layout.budgets, RunId(""), Budget(), self._is_alive)
            case "rate":
                home = self._settings.home / "limits"
                folder = home if names["of_machine"] else self._layout.state / "limits"
                return RateFile(folder, names["name"], names["per_minute"])
            case _:
                return AttemptFiles(self._layout.work(self._run_id) / "attempts")

    def _is_alive(self, holder: str) -> bool:
        """A worker that this command never heard gets the time of one that fell silent."""
        if is_process(holder):
            return process_is_alive(holder)
        last = self._heard.get(holder, self._started)
        return time.monotonic() - last < _DEAD_AFTER_SECONDS

    def _unit(self, web: Request, body: bytes) -> Response:
        name = web.path_params["name"]
        if web.method == "PUT":
            replaced = web.headers.get("if-match")
            landed = self._units.put(name, body, replaced=replaced)
            return Response(status_code=200 if landed else 412)
        if web.method == "HEAD":
            tag = self._units.tag(name)
            return Response(status_code=204) if tag is None else Response(headers={"etag": tag})
        there = self._units.get(name)
        if there is None:
            return Response(status_code=204)
        return Response(there[0], headers={"etag": there[1]})

    def _listing(self, web: Request, _: bytes) -> Response:
        path = self._handed_out(web)
        if not path.exists():
            raise ConfigurationError(f"{path} was removed while it was worked on")
        is_folder = path.is_dir() and not path.is_symlink()
        listed = sorted(files_below(path)) if is_folder else [path]
        # What is a link or pipe here is not there for workers either.
        files = [file for file in listed if file.is_file() and not file.is_symlink()]
        return JSONResponse(
            [
                (
                    "" if file == path else file.relative_to(path).as_posix(),
                    file.stat().st_size,
                    file.stat().st_mtime_ns,
                )
                for file in files
            ]
        )

    def _file(self, web: Request, _: bytes) -> Response:
        path, inside = self._handed_out(web), web.query_params.get("inside", "")
        file = (path / inside) if inside else path
        if not file.is_relative_to(path):
            raise ConfigurationError(f"{file} is no file of this work")
        try:
            content = open_file(file)
        except FileNotFoundError as error:
            raise ConfigurationError(f"{file} was removed while it was worked on") from error
        return StreamingResponse(_pieces(content))

    def _handed_out(self, web: Request) -> Path:
        path = Path(web.query_params.get("path", ""))
        if path not in self._files:
            raise ConfigurationError(f"{path} is no file of this work")
        return path
