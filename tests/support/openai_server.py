"""An OpenAI-shaped server on loopback whose behaviour tests choose request by request.

`start_openai_server(behaviour)` runs it in a thread; `python tests/support/openai_server.py --port
N` alone.
"""

import argparse
import asyncio
import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.drawn_pictures import TOKENS, drawn
from tests.support.loopback import Dropped
from tests.support.providers.base import Behaviour, Recorded, RecordingServer
from tests.support.schema_answers import Schema, answer_from_schema, find_schema

MODEL_ANSWERED = "loopback-2026-11"
EMBEDDING_DIMENSIONS = 16

Messages = list[dict[str, str]]
Answer = Callable[[Messages, Schema | None], Any]


@dataclass
class OpenAIServer(RecordingServer):
    """A running server, whose API base is `url`.

    Behaviours:

    good · late · together:<how many come before any is answered> · hangs · malformed · prose ·
    fenced · refusal · content_filter · empty · cut_off · rate_limited · retry_after:<seconds> ·
    no_quota · server_error · overloaded · dropped · not_json · wrong_key · forbidden ·
    no_such_model · rejects_response_format · rejects:<parameter, where it is sent> · too_long ·
    text:<reply> · content_policy · moderated · picture:<kind of `drawn`> · address ·
    untold (without usage) · no_choices · no_choices_untold · error_in_choice · miscounted ·
    one_token (claims to have read one) · billed_error (500 with usage) ·
    echoes:<status> (an error that repeats the key) · redirects (to an address with the key in it) ·
    echoes_key (a good answer that repeats it)
    """

    answer: Answer | None = None
    late_seconds: float = 0.5
    extra_headers: dict[str, str] = field(default_factory=dict)
    cached_tokens: int | Callable[[Messages], int] = 0
    in_flight: int = 0
    peak_concurrency: int = 0
    answered: list[int] = field(default_factory=list)
    complete: dict[int, asyncio.Event] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def routes(self) -> list[Route]:
        handlers = {
            "chat/completions": self._chat,
            "embeddings": self._embeddings,
            "images/generations": self._images,
        }
        return [
            Route(f"/v1/{path}", handler, methods=["POST"]) for path, handler in handlers.items()
        ]

    async def _images(self, request: Request) -> Response:
        """OpenAI's answer to the request for a picture; `malformed` is no Base64, `empty` none."""
        recorded = await self.recorded(request)
        name = self.next(recorded, recorded.number)
        if (other := await self._misbehave(name, recorded)) is not None:
            return other
        prompt, kind = recorded.body["prompt"], name.removeprefix("picture:")
        encoded = base64.b64encode(drawn(prompt, kind)).decode("ascii")
        given = {
            "malformed": [{"b64_json": "This is no picture."}],
            "address": [{"url": "http://127.0.0.1:9/drawn.png"}],
            "empty": [],
        }
        written = len(prompt) // 4
        usage = {
            "input_tokens": written,
            "input_tokens_details": {"text_tokens": written, "image_tokens": 0},
            "output_tokens": TOKENS,
            "total_tokens": written + TOKENS,
        }
        answer = {"created": 1_790_000_000, "data": given.get(name, [{"b64_json": encoded}])}
        told = {} if name == "untold" else {"usage": usage}
        return JSONResponse(answer | told, headers=self.extra_headers)

    async def _embeddings(self, request: Request) -> Response:
        recorded = await self.recorded(request)
        texts = recorded.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        data = [
            {"object": "embedding", "index": place, "embedding": _vector(text)}
            for place, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 4 * len(texts), "total_tokens": 4 * len(texts)}
        return (await self._misbehave(self.next(recorded, recorded.number))) or JSONResponse(
            {"object": "list", "model": recorded.body["model"], "data": data, "usage": usage}
        )

    async def _chat(self, request: Request) -> Response:
        recorded = await self.recorded(request)
        name = self.next(recorded, recorded.number)
        self.in_flight += 1
        self.peak_concurrency = max(self.peak_concurrency, self.in_flight)
        try:
            return (await self._misbehave(name, recorded)) or self._reply(name, recorded)
        finally:
            self.in_flight -= 1

    async def _misbehave(self, name: str, recorded: Recorded | None = None) -> Response | None:
        """The response of a behaviour that is no completion; None where a completion is due."""
        if name == "late":
            await asyncio.sleep(self.late_seconds)
        elif name.startswith("together:") and recorded is not None:
            await self._until_together(recorded, int(name.partition(":")[2]))
        elif name == "hangs":
            await asyncio.sleep(3600)
        elif name == "dropped":
            return Dropped()
        elif name == "not_json":
            return Response("<html>gateway</html>", 200, media_type="text/html")
        elif name.startswith("retry_after:"):
            return _error(
                429, "slow down", "rate_limit_exceeded", {"retry-after": name.partition(":")[2]}
            )
        elif name.startswith("rejects:"):
            refused = name.partition(":")[2]
            if recorded is None or (refused not in recorded.body and refused != "top_k"):
                return None
            return _error(400, f"Unsupported parameter: '{refused}'", "unsupported_parameter")
        elif recorded is not None and (repeating := _repeating(name, recorded)) is not None:
            return repeating
        elif name == "rejects_response_format" and (
            recorded is None or "response_format" not in recorded.body
        ):
            return None
        elif name in _ERRORS:
            return _error(*_ERRORS[name])
        return None

    async def _until_together(self, recorded: Recorded, size: int) -> None:
        """The requests of one group of `size` are answered only when all of them have come."""
        group, place = divmod(recorded.number - 1, size)
        complete = self.complete.setdefault(group, asyncio.Event())
        if place == size - 1:
            complete.set()
        await complete.wait()
        await asyncio.sleep(self.late_seconds)

    def _reply(self, name: str, recorded: Recorded) -> Response:
        finish_reason, message = "stop", {"role": "assistant", "content": ""}
        good = "" if name in ("refusal", "content_filter", "empty") else self._good(recorded)
        match name.partition(":")[0]:
            case "malformed":
                message["content"] = good.replace('"', "").replace(":", " =")
            case "prose":
                message["content"] = (
                    f"Gladly. I weighed [1] and {{2}} first.\n\n{good}\n\nLet me know whether"
                    " {this} helps."
                )
            case "fenced":
                message["content"] = f"```json\n{good}\n```"
            case "refusal":
                message["content"] = "I'm sorry, but I can't help with that request."
            case "content_filter":
                finish_reason = "content_filter"
            case "cut_off":
                finish_reason, message["content"] = "length", good[: len(good) // 2]
            case "text":
                message["content"] = name.partition(":")[2]
            case "echoes_key":
                message["content"] = (
                    json.dumps(_with_key(json.loads(good), recorded.key))
                    if good.startswith("{")
                    else good
                )
                return JSONResponse(
                    {
                        **self._completion(recorded, message, finish_reason),
                        "model": f"loopback-{recorded.key}",
                    }
                )
            case "empty":
                pass
            case _:
                message["content"] = good
        completion = _misreported(name, self._completion(recorded, message, finish_reason))
        status = 500 if name == "billed_error" else 200
        return JSONResponse(completion, status, headers=self.extra_headers)

    def _good(self, recorded: Recorded) -> str:
        schema = find_schema(recorded.body)
        if self.answer is not None:
            answer = self.answer(recorded.messages, schema)
            return answer if isinstance(answer, str) else json.dumps(answer)
        return (
            json.dumps(answer_from_schema(_worded(recorded.messages), schema)) if schema else "OK"
        )

    def _completion(
        self, recorded: Recorded, message: dict[str, Any], finish_reason: str
    ) -> dict[str, Any]:
        prompt = sum(len(part["content"]) for part in recorded.messages) // 4
        completion = len(message["content"] or "") // 4
        cached = (
            self.cached_tokens(recorded.messages)
            if callable(self.cached_tokens)
            else self.cached_tokens
        )
        self.answered.append(prompt + completion)
        return {
            "id": f"chatcmpl-{recorded.number}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": MODEL_ANSWERED,
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }


_ERRORS: dict[str, tuple[int, str, str]] = {
    "rate_limited": (429, "slow down", "rate_limit_exceeded"),
    "no_quota": (429, "You exceeded your current quota", "insufficient_quota"),
    "server_error": (500, "internal error", "server_error"),
    "overloaded": (503, "overloaded", "overloaded"),
    "wrong_key": (401, "Incorrect API key provided: sk-secret-1234567890", "invalid_api_key"),
    "forbidden": (403, "not allowed", "forbidden"),
    "no_such_model": (404, "The model does not exist", "model_not_found"),
    "rejects_response_format": (
        400,
        "response_format of type json_schema is not supported",
        "invalid_request_error",
    ),
    "content_policy": (
        400,
        "Your request was rejected as a result of our safety system.",
        "content_policy_violation",
    ),
    "moderated": (400, "Your request was rejected by the safety system.", "moderation_blocked"),
    "too_long": (
        400,
        "This model's maximum context length is 4096 tokens",
        "context_length_exceeded",
    ),
}


def _misreported(name: str, completion: dict[str, Any]) -> dict[str, Any]:
    """The completion as a server gives it that bills for what it did not deliver, or miscounts."""
    failed = {"message": "the upstream failed", "code": 502}
    match name:
        case "no_choices":
            return completion | {"choices": []}
        case "no_choices_untold":
            return {name: completion[name] for name in ("id", "object", "model")} | {"choices": []}
        case "error_in_choice":
            return completion | {"choices": [completion["choices"][0] | {"error": failed}]}
        case "miscounted":
            return completion | {"usage": completion["usage"] | {"prompt_tokens": 10**10}}
        case "one_token":
            return completion | {"usage": completion["usage"] | {"prompt_tokens": 1}}
        case "billed_error":
            return {"error": failed, "usage": completion["usage"]}
        case "untold":
            return {name: each for name, each in completion.items() if name != "usage"}
    return completion


def _error(status: int, message: str, code: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(
        {"error": {"message": message, "type": code, "code": code}}, status, headers
    )


def _repeating(name: str, recorded: Recorded) -> Response | None:
    """Refusals that repeat the key they were asked with."""
    if name == "redirects":
        query = f"api_key={quote(recorded.key, safe='')}&q={recorded.key}"
        return Response(status_code=307, headers={"location": f"http://127.0.0.1:9/?{query}"})
    if name.startswith("echoes:"):
        return _error(
            int(name.partition(":")[2]),
            f"cannot use {recorded.key} here: {recorded.headers}",
            recorded.key,
        )
    return None


def _with_key(value: Any, key: str) -> Any:
    """The answer with the key in every text of several words: names and citation keys stay what
    they are.
    """
    if isinstance(value, dict):
        return {name: _with_key(each, key) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_key(each, key) for each in value]
    return f"{value} {key}" if isinstance(value, str) and " " in value else value


def _vector(text: str) -> list[float]:
    counts = [1.0] * EMBEDDING_DIMENSIONS
    for word in text.lower().split():
        counts[sum(word.encode()) % EMBEDDING_DIMENSIONS] += 1.0
    return counts


def _worded(messages: Messages) -> Messages:
    """Messages of parts, such as an attached file before its question, as their words alone."""
    return [{**message, "content": _words(message["content"])} for message in messages]


def _words(content: Any) -> str:
    return (
        content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    )


def start_openai_server(
    behaviour: Behaviour = "good", answer: Answer | None = None, **options: Any
) -> OpenAIServer:
    """A running server on a free port of loopback.

    `answer(messages, schema)` replaces the generated answers.
    """
    return OpenAIServer(behaviour, answer=answer, **options).start()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--behaviour", default="good")
    options = parser.parse_args()
    server = start_openai_server(options.behaviour, port=options.port, record=False)
    print(server.url, flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        server.stop()


if __name__ == "__main__":
    main()
