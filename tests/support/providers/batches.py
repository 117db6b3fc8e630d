"""The batch APIs of OpenAI, Azure, Anthropic and Gemini, over servers that answer as the models do.

Sources: https://platform.openai.com/docs/api-reference/batch and …/files,
https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch,
https://docs.claude.com/en/api/creating-message-batches and …/retrieving-message-batch-results,
https://ai.google.dev/gemini-api/docs/batch-api (states and fields as google-genai reads them).
"""

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.providers.anthropic_messages import AnthropicServer
from tests.support.providers.azure_openai import AzureOpenAIServer
from tests.support.providers.base import Body, ProviderServer, Recorded, Refusal
from tests.support.providers.gemini import GeminiServer
from tests.support.providers.openai_chat import OpenAIChatServer

ANSWERED, REFUSED, EXPIRED = "answered", "refused", "expired"


@dataclass
class Entry:
    """One request of a batch, and how it ended."""

    custom_id: str
    body: Body
    path: str = ""
    ended: str = ANSWERED
    status: int = 200
    answer: Any = None


@dataclass
class Submitted:
    """A batch as the provider holds it."""

    remote_id: str
    entries: list[Entry]
    name: str = ""
    file_id: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    created_at: float = field(default_factory=time.time)
    looks: int = 0
    failed: tuple[str, str] | None = None


@dataclass
class BatchServer(ProviderServer):
    """What the batches of all providers share.

    Attributes:
        looks_until_ended: a batch goes on for so many looks at it.
        holds_from: once so many were taken none goes on, until this is None again.
        expires: of a custom_id, whether its request is not reached in time.
        most_queued: requests under way beyond which a batch is turned away.
        troubles: (part of a path, status) of requests that fail, each once, in order; status 0:
            the batch is taken and the connection lost.
        batches: all that were taken.
    """

    looks_until_ended: int = 1
    holds_from: int | None = None
    expires: Callable[[str], bool] = field(default=lambda _: False)
    most_queued: int = 1_000_000
    troubles: list[tuple[str, int]] = field(default_factory=list)
    batches: list[Submitted] = field(default_factory=list)

    @property
    def submitted_bodies(self) -> list[str]:
        """Every request of every batch that was worked on, as text."""
        return [
            json.dumps(entry.body, sort_keys=True)
            for batch in self.batches
            if batch.failed is None
            for entry in batch.entries
        ]

    def take(self, batch: Submitted) -> Submitted:
        under_way = sum(
            len(each.entries)
            for each in self.batches
            if each.failed is None and each.looks < self.looks_until_ended
        )
        if under_way + len(batch.entries) > self.most_queued:
            batch.failed = ("token_limit_exceeded", "Enqueued token limit reached")
        self.batches.append(batch)
        return batch

    def batch_of(self, remote_id: str) -> Submitted:
        """Raises: Refusal."""
        for batch in self.batches:
            if batch.remote_id == remote_id:
                return batch
        raise Refusal(404, {"error": {"message": "no such batch", "type": "not_found_error"}})

    async def look_at(self, batch: Submitted) -> bool:
        """Whether it has ended by now."""
        held = self.holds_from is not None and len(self.batches) >= self.holds_from
        batch.looks += not held
        if batch.looks == self.looks_until_ended and not held:
            for entry in batch.entries:
                await self._end(entry, batch)
        return batch.looks >= self.looks_until_ended

    def shuffled(self, batch: Submitted) -> list[Entry]:
        """Results come in no order."""
        entries = list(batch.entries)
        random.Random(7).shuffle(entries)
        return entries

    async def _end(self, entry: Entry, batch: Submitted) -> None:
        if self.expires(entry.custom_id):
            entry.ended = EXPIRED
            return
        recorded = Recorded(
            len(self.requests) + 1, entry.path, self.query(), batch.headers, entry.body, 0.0
        )
        self.requests.append(recorded)
        try:
            question = self.question(recorded)
            self.questions.append(question)
            behaviour = self.next(recorded, len(self.questions))
            response = await self._answered(behaviour, question, recorded)
            entry.status, entry.answer = response.status_code, json.loads(response.body)
        except Refusal as refusal:
            entry.ended, entry.status, entry.answer = REFUSED, refusal.status, refusal.body

    def query(self) -> dict[str, str]:
        """The parameters of an address at which a question would be asked by itself."""
        return {}

    def handled(self, handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
        """`handler` behind the key and the troubles."""

        async def handle(request: Request) -> Response:
            path = f"{request.method} {request.url.path}"
            trouble = self.troubles[0] if self.troubles else ("", -1)
            lost = False
            if trouble[0] and trouble[0] in path:
                self.troubles.pop(0)
                if trouble[1]:
                    said = {"type": "error", "error": {"message": "trouble", "type": "trouble"}}
                    return JSONResponse(said, trouble[1])
                lost = True
            try:
                self.authorise(Recorded(0, path, {}, dict(request.headers), {}, 0.0))
                answer = await handler(request)
            except Refusal as refusal:
                return JSONResponse(refusal.body, refusal.status, refusal.headers)
            if lost:
                return Response("gateway", 502)
            return answer if isinstance(answer, Response) else JSONResponse(answer)

        return handle


@dataclass
class OpenAIBatchServer(BatchServer, OpenAIChatServer):
    """Files in, files out."""

    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    root: str = "/v1"

    def routes(self) -> list[Route]:
        root, handled = self.root, self.handled
        return [
            *super().routes(),
            Route(f"{root}/files", handled(self._upload), methods=["POST"]),
            Route(f"{root}/files", handled(self._files), methods=["GET"]),
            Route(f"{root}/files/{{file_id}}/content", handled(self._content), methods=["GET"]),
            Route(f"{root}/batches", handled(self._create), methods=["POST"]),
            Route(f"{root}/batches", handled(self._list), methods=["GET"]),
            Route(f"{root}/batches/{{remote_id}}", handled(self._retrieve), methods=["GET"]),
        ]

    def entry_path(self, line: Body) -> str:
        return line["url"]

    async def _upload(self, request: Request) -> Any:
        form = await request.form()
        assert form["purpose"] == "batch"
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = (form["file"].filename, await form["file"].read())
        return self._file(file_id)

    def _file(self, file_id: str) -> Body:
        name, content = self.files[file_id]
        purpose = "batch" if name.endswith(".jsonl") else "batch_output"
        told = {"bytes": len(content), "created_at": 1, "filename": name, "purpose": purpose}
        return {"id": file_id, "object": "file", "status": "processed", **told}

    async def _files(self, request: Request) -> Any:
        data = [self._file(file_id) for file_id in self.files]
        return {"object": "list", "data": data, "has_more": False}

    async def _content(self, request: Request) -> Any:
        return Response(self.files[request.path_params["file_id"]][1])

    async def _create(self, request: Request) -> Any:
        body = await request.json()
        lines = [json.loads(line) for line in self.files[body["input_file_id"]][1].splitlines()]
        entries = [Entry(line["custom_id"], line["body"], self.entry_path(line)) for line in lines]
        number = len(self.batches) + 1
        batch = Submitted(
            f"batch_{number}",
            entries,
            file_id=body["input_file_id"],
            headers=dict(request.headers),
        )
        return self._told(self.take(batch))

    async def _list(self, request: Request) -> Any:
        data = [self._told(batch) for batch in reversed(self.batches)]
        return {"object": "list", "data": data, "has_more": False}

    async def _retrieve(self, request: Request) -> Any:
        batch = self.batch_of(request.path_params["remote_id"])
        if batch.failed is None and await self.look_at(batch):
            self._write_results(batch)
        return self._told(batch)

    def _write_results(self, batch: Submitted) -> None:
        output, errors = [], []
        for entry in self.shuffled(batch):
            row: Body = {"id": f"r-{entry.custom_id}", "custom_id": entry.custom_id}
            if entry.ended == EXPIRED:
                error = {
                    "code": "batch_expired",
                    "message": "This request could not be executed before the completion window "
                    "expired.",
                }
                errors.append({**row, "response": None, "error": error})
                continue
            told = {"status_code": entry.status, "request_id": "r", "body": entry.answer}
            rows = output if entry.ended == ANSWERED else errors
            rows.append({**row, "response": told, "error": None})
        for kind, rows in (("output", output), ("error", errors)):
            if rows:
                text = "".join(json.dumps(row) + "\n" for row in rows).encode()
                self.files[f"{batch.remote_id}-{kind}"] = (f"{batch.remote_id}_{kind}", text)

    def _told(self, batch: Submitted) -> Body:
        ended = batch.looks >= self.looks_until_ended
        expired = any(entry.ended == EXPIRED for entry in batch.entries)
        status = "completed" if ended and not expired else "expired" if ended else "in_progress"
        errors = None
        if batch.failed:
            code, message = batch.failed
            status, errors = (
                "failed",
                {"object": "list", "data": [{"code": code, "message": message}]},
            )
        done = len(batch.entries) if ended else 0
        return {
            "id": batch.remote_id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": batch.file_id,
            "completion_window": "24h",
            "status": status,
            "errors": errors,
            "created_at": int(batch.created_at),
            "request_counts": {"total": len(batch.entries), "completed": done, "failed": 0},
            **{
                f"{kind}_file_id": f"{batch.remote_id}-{kind}"
                if f"{batch.remote_id}-{kind}" in self.files
                else None
                for kind in ("output", "error")
            },
        }


@dataclass
class AzureBatchServer(OpenAIBatchServer, AzureOpenAIServer):
    """As OpenAI's, at other addresses; the deployment stands in each request."""

    root: str = "/openai"

    def query(self) -> dict[str, str]:
        return {"api-version": "2025-04-01-preview"}

    def entry_path(self, line: Body) -> str:
        assert line["url"] == "/chat/completions"
        return f"/openai/deployments/{line['body']['model']}/chat/completions"


@dataclass
class AnthropicBatchServer(BatchServer, AnthropicServer):
    """Requests inside, results as JSON Lines; batches have no names."""

    def routes(self) -> list[Route]:
        root, handled = "/v1/messages/batches", self.handled
        return [
            *super().routes(),
            Route(root, handled(self._create), methods=["POST"]),
            Route(root, handled(self._list), methods=["GET"]),
            Route(f"{root}/{{remote_id}}", handled(self._retrieve), methods=["GET"]),
            Route(f"{root}/{{remote_id}}/results", handled(self._results), methods=["GET"]),
        ]

    async def _create(self, request: Request) -> Any:
        body = await request.json()
        entries = [
            Entry(one["custom_id"], one["params"], "/v1/messages") for one in body["requests"]
        ]
        assert all(0 < len(entry.custom_id) <= 64 for entry in entries)
        remote_id = f"msgbatch_{len(self.batches) + 1}"
        return self._told(self.take(Submitted(remote_id, entries, headers=dict(request.headers))))

    async def _list(self, request: Request) -> Any:
        for batch in self.batches:  # time goes on while somebody lists them
            if batch.looks < self.looks_until_ended:
                await self.look_at(batch)
        data = [self._told(batch) for batch in reversed(self.batches)]
        return {"data": data, "has_more": False, "first_id": None, "last_id": None}

    async def _retrieve(self, request: Request) -> Any:
        batch = self.batch_of(request.path_params["remote_id"])
        await self.look_at(batch)
        return self._told(batch)

    async def _results(self, request: Request) -> Any:
        rows = []
        for entry in self.shuffled(self.batch_of(request.path_params["remote_id"])):
            result: Body = {"type": "succeeded", "message": entry.answer}
            if entry.ended == EXPIRED:
                result = {"type": "expired"}
            elif entry.ended == REFUSED:
                result = {"type": "errored", "error": entry.answer}
            rows.append(json.dumps({"custom_id": entry.custom_id, "result": result}))
        return Response("\n".join(rows), media_type="application/x-jsonl")

    def _told(self, batch: Submitted) -> Body:
        ended = batch.looks >= self.looks_until_ended
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if ended else "processing"] = len(batch.entries)
        created = datetime.fromtimestamp(batch.created_at, UTC)
        return {
            "id": batch.remote_id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": created.isoformat(),
            "expires_at": (created + timedelta(days=1)).isoformat(),
            "ended_at": created.isoformat() if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": (
                f"http://127.0.0.1:{self.port}/v1/messages/batches/{batch.remote_id}/results"
                if ended
                else None
            ),
        }


@dataclass
class GeminiBatchServer(BatchServer, GeminiServer):
    """Requests and responses inside one operation."""

    def routes(self) -> list[Route]:
        handled = self.handled
        return [
            Route(
                "/v1beta/models/{model}:batchGenerateContent",
                handled(self._create),
                methods=["POST"],
            ),
            Route("/v1beta/batches", handled(self._list), methods=["GET"]),
            Route("/v1beta/batches/{remote_id}", handled(self._retrieve), methods=["GET"]),
            *super().routes(),
        ]

    async def _create(self, request: Request) -> Any:
        batch = (await request.json())["batch"]
        path = f"/v1beta/models/{request.path_params['model']}:generateContent"
        entries = [
            Entry(one["metadata"]["key"], one["request"], path)
            for one in batch["inputConfig"]["requests"]["requests"]
        ]
        remote_id = f"batches/{len(self.batches) + 1}"
        taken = Submitted(remote_id, entries, batch["displayName"], headers=dict(request.headers))
        return self._told(self.take(taken))

    async def _list(self, request: Request) -> Any:
        return {"operations": [self._told(batch) for batch in reversed(self.batches)]}

    async def _retrieve(self, request: Request) -> Any:
        batch = self.batch_of(f"batches/{request.path_params['remote_id']}")
        await self.look_at(batch)
        return self._told(batch)

    def _told(self, batch: Submitted) -> Body:
        ended = batch.looks >= self.looks_until_ended
        metadata: Body = {
            "displayName": batch.name,
            "state": "BATCH_STATE_SUCCEEDED" if ended else "BATCH_STATE_RUNNING",
            "batchStats": {"requestCount": str(len(batch.entries))},
        }
        operation: Body = {"name": batch.remote_id, "metadata": metadata}
        if ended:
            rows = [self._row(entry) for entry in self.shuffled(batch)]
            metadata["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
            operation["done"] = True
        else:
            metadata["batchStats"]["pendingRequestCount"] = str(len(batch.entries))
        return operation

    def _row(self, entry: Entry) -> Body:
        row: Body = {"metadata": {"key": entry.custom_id}}
        if entry.ended == EXPIRED:
            return {**row, "error": {"code": 4, "message": "Deadline expired"}}
        if entry.ended == REFUSED:
            return {**row, "error": {"code": 3, "message": entry.answer["error"]["message"]}}
        return {**row, "response": entry.answer}
