"""LiteLLM's requests, answered by a function of ours instead of a provider.

LiteLLM words the request as it would send it, and reads the answer as if the provider had sent it:
so what travels in a batch is what a call would have said.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from tasks.web.litellm_library import library

NOWHERE = "https://relayed.invalid"
_NO_KEY = "relayed"
_TRIALS = "anthropic-beta"


@dataclass(frozen=True, slots=True)
class RelayedRequest:
    """What a provider would have been sent. `headers`: those that change what the body means."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class RelayedAnswer:
    """What a provider has answered."""

    status: int
    body: dict[str, Any]


Relay = Callable[[RelayedRequest], RelayedAnswer]


class _RelayTransport(httpx.AsyncBaseTransport):
    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await request.aread()
        headers = {_TRIALS: request.headers[_TRIALS]} if _TRIALS in request.headers else {}
        asked = RelayedRequest(request.url.path, orjson.loads(content), headers)
        answer = self._relay(asked)
        return httpx.Response(answer.status, json=answer.body, request=request)


async def relayed(provider: str, relay: Relay) -> dict[str, Any]:
    """LiteLLM's parameters for asking `relay` where a model of `provider` is meant: one of openai,
    azure, anthropic and gemini.
    """
    client = httpx.AsyncClient(transport=_RelayTransport(relay))
    given: dict[str, Any] = {"api_base": NOWHERE, "api_key": _NO_KEY}
    if provider == "openai":
        from openai import AsyncOpenAI

        base_url = f"{NOWHERE}/v1"
        given["client"] = AsyncOpenAI(
            api_key=_NO_KEY, base_url=base_url, http_client=client, max_retries=0
        )
    elif provider == "azure":
        from openai import AsyncAzureOpenAI

        version = os.environ.get("AZURE_API_VERSION") or library().AZURE_DEFAULT_API_VERSION
        given["api_version"] = version
        given["client"] = AsyncAzureOpenAI(
            api_key=_NO_KEY,
            azure_endpoint=NOWHERE,
            api_version=version,
            http_client=client,
            max_retries=0,
        )
    else:
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        handler = AsyncHTTPHandler()
        await handler.client.aclose()
        handler.client = client
        given["client"] = handler
    return given
