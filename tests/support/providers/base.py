"""What the servers of all providers share: a thread, a record of requests, answers cut at a cap.

A server behaves as its provider does of itself: what a model does not take is refused, a prompt
longer than the context is refused, a reply longer than the cap is cut. What does not follow from
the request is a behaviour the test names:

good · late · hangs · dropped · not_json · cut_off · refusal · content_filter · empty · malformed ·
text:<reply> · rate_limited:<seconds> · no_quota · server_error · overloaded
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.loopback import Dropped, ServedApplication, renew
from tests.support.schema_answers import Schema, answer_from_schema, schema_in_prompt

CHARACTERS_PER_TOKEN = 4
THINKING_TOKENS = {"none": 0, "minimal": 16, "low": 200, "medium": 600, "high": 1800}
"""How long the models of all servers think, by effort, unless the test says otherwise."""

Body = dict[str, Any]
Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    number: int
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Body
    at: float

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


Behaviour = str | Sequence[str] | Callable[[Recorded], str]
"""A name for every question; names used up one by one, the last one staying; or a function."""


@dataclass
class RecordingServer:
    """A server in a thread of its own; usable as a context manager.

    Attributes:
        requests: all that came, unless `record` is off.
    """

    behaviour: Behaviour = "good"
    port: int = 0
    requests: list[Recorded] = field(default_factory=list)
    record: bool = True
    count: int = 0

    def routes(self) -> list[Route]:
        raise NotImplementedError

    def start(self) -> Self:
        self._served = ServedApplication(Starlette(routes=self.routes()), self.port)
        self.port = self._served.port
        return self

    def stop(self) -> None:
        self._served.stop()

    def __enter__(self) -> Self:
        return self if hasattr(self, "_served") else self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def renew(self) -> Self:
        """As it was when it started: well-behaved, and with nothing recorded."""
        return renew(self, "key")

    async def recorded(self, request: Request) -> Recorded:
        self.count += 1
        recorded = Recorded(
            self.count,
            request.url.path,
            dict(request.query_params),
            dict(request.headers),
            json.loads(await request.body()),
            time.monotonic(),
        )
        if self.record:
            self.requests.append(recorded)
        return recorded

    def next(self, recorded: Recorded, number: int) -> str:
        """The behaviour of the answer with this number."""
        if isinstance(self.behaviour, str):
            return self.behaviour
        if callable(self.behaviour):
            return self.behaviour(recorded)
        return self.behaviour[min(number, len(self.behaviour)) - 1]


class Refusal(Exception):  # noqa: N818 -- the providers' word for it, and no failure of the server
    """What the provider answers instead of a completion."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


@dataclass(frozen=True)
class Question:
    """What a request asks, read out of the provider's own form."""

    model: str
    messages: Messages
    schema: Schema | None = None
    cap: int | None = None
    effort: str = "none"
    context_tokens: int = 128_000

    @property
    def prompt_tokens(self) -> int:
        """Four characters a token."""
        return sum(count_tokens(message["content"]) for message in self.messages)


@dataclass(frozen=True)
class Reply:
    """What the model says, before it takes the provider's form."""

    text: str
    ended: str
    thinking_tokens: int
    answer_tokens: int

    @property
    def completion_tokens(self) -> int:
        return self.thinking_tokens + self.answer_tokens


@dataclass
class ProviderServer(RecordingServer):
    """A running server of one provider.

    Attributes:
        api_base_path: what follows the address in the API base that LiteLLM is given.
        answer: replaces the answers made from the schema.
        context_tokens: of every model, instead of each model's own.
        thinking_tokens: by effort.
        cached_tokens: how many of a prompt's tokens the provider found in its cache.
        questions: the requests that the provider took.
    """

    answer: Callable[[Messages, Schema | None], Any] | None = None
    context_tokens: int | None = None
    thinking_tokens: dict[str, int] = field(default_factory=lambda: dict(THINKING_TOKENS))
    cached_tokens: int = 0
    key: str = "loopback-key"
    late_seconds: float = 0.3
    questions: list[Question] = field(default_factory=list)

    api_base_path: ClassVar[str] = ""
    paths: ClassVar[tuple[str, ...]] = ()
    other_paths: ClassVar[tuple[str, ...]] = ()

    def question(self, recorded: Recorded) -> Question:
        """Read a request.

        Raises:
            Refusal: the provider does not take it.
        """
        raise NotImplementedError

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        """The reply in the provider's form."""
        raise NotImplementedError

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        raise NotImplementedError

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        """The refusal of a named behaviour; None where a completion is due."""
        raise NotImplementedError

    def headers(self) -> dict[str, str]:
        """What the provider sends with every completion."""
        return {}

    def served(self, recorded: Recorded) -> Body | None:
        """The answer of one of the `other_paths`, which complete nothing; else None."""
        return None

    def routes(self) -> list[Route]:
        """What it serves."""
        paths = (*self.paths, *self.other_paths)
        return [Route(path, self._handle, methods=["POST"]) for path in paths]

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.api_base_path}"

    @property
    def asked(self) -> list[Recorded]:
        """The requests for completions."""
        return [recorded for recorded in self.requests if recorded.path not in self.other_paths]

    async def _handle(self, request: Request) -> Response:
        recorded = await self.recorded(request)
        try:
            self.authorise(recorded)
            if (other := self.served(recorded)) is not None:
                return JSONResponse(other)
            question = self.question(recorded)
            self.questions.append(question)
            behaviour = self.next(recorded, len(self.questions))
            return await self._answered(behaviour, question, recorded)
        except Refusal as refusal:
            return JSONResponse(refusal.body, refusal.status, refusal.headers)

    async def _answered(self, behaviour: str, question: Question, recorded: Recorded) -> Response:
        name, _, argument = behaviour.partition(":")
        if name in ("late", "hangs"):
            await asyncio.sleep(self.late_seconds if name == "late" else 3600)
        elif name == "dropped":
            return Dropped()
        elif name == "not_json":
            return Response("<html>gateway</html>", 200, media_type="text/html")
        elif failure := self.failure(name, argument, recorded):
            raise failure
        reply = self._reply(name, argument, question)
        return JSONResponse(self.completion(question, reply, recorded), headers=self.headers())

    def _reply(self, name: str, argument: str, question: Question) -> Reply:
        thought = self.thinking_tokens[question.effort]
        if name in ("refusal", "content_filter", "empty"):
            said = "I can't help with that." if name == "refusal" else ""
            return Reply(said, name, thought, count_tokens(said))
        text = argument if name == "text" else self._good(question)
        if name == "malformed":
            text = text.replace('"', "").replace(":", " =")
        cap = question.cap
        if name == "cut_off":
            thought = (cap or 0) if question.effort != "none" else 0
            cap = thought + (0 if thought else count_tokens(text) // 2)
        return cut(text, thought, cap)

    def _good(self, question: Question) -> str:
        schema = question.schema or schema_in_prompt(question.messages)
        if self.answer is not None:
            answer = self.answer(question.messages, schema)
            return answer if isinstance(answer, str) else json.dumps(answer)
        return json.dumps(answer_from_schema(question.messages, schema)) if schema else "OK"


def count_tokens(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def cut(text: str, thinking_tokens: int, cap: int | None) -> Reply:
    """The reply as far as `cap` lets it come: thinking counts first, then the text."""
    tokens = count_tokens(text)
    if cap is None or thinking_tokens + tokens <= cap:
        return Reply(text, "stop", thinking_tokens, tokens)
    thought = min(thinking_tokens, cap)
    left = cap - thought
    return Reply(text[: left * CHARACTERS_PER_TOKEN], "length", thought, left)


def words(content: Any) -> str:
    """A message's content, of parts or of one string, as its words alone."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])
