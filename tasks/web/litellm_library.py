"""LiteLLM, imported on first use (it takes two seconds) and configured.

Telemetry, network look-ups and its own retries are disabled. `relayed` answers its requests by a
function instead of a provider.
"""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import httpx
import orjson

from tasks.web.headers import retry_after_seconds, seconds_until
from warehouse.scrubbing import strip_secrets


@lru_cache(maxsize=1)
def library() -> Any:
    """Return the configured `litellm` module."""
    strip_secrets()  # LiteLLM does not strip the keys it reads from the environment
    # Otherwise the import downloads prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    import litellm

    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    litellm.num_retries = 0
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(
            logging.CRITICAL if name.startswith("LiteLLM") else logging.WARNING
        )
    return litellm


def asked_to_wait_seconds(error: Any) -> float | None:
    """Return the seconds that a provider's error asks to wait.

    Returns None if it names none.
    """
    for link in causes(error):
        response = getattr(link, "response", None)
        own_headers = getattr(link, "litellm_response_headers", None)
        for headers in (getattr(response, "headers", None), own_headers):
            if headers and (value := headers.get("retry-after")) is not None:
                return retry_after_seconds(str(value))
            if headers and (value := headers.get("x-ratelimit-reset")) is not None:
                return seconds_until(str(value))  # OpenRouter's
    # Gemini names its wait in the message: `"retryDelay": "21s"` (google.rpc.RetryInfo).
    delay = str(error).partition('"retryDelay"')[2][:40].partition('"')[2].partition('"')[0]
    return seconds_until(delay) if delay else None


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes.

    LiteLLM keeps the provider's error at the end.
    """
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


# LiteLLM formats requests and parses answers as in a call, so batches have the same content.

NOWHERE = "https://relayed.invalid"
_NO_KEY = "relayed"
_TRIALS = "anthropic-beta"


@dataclass(frozen=True, slots=True)
class RelayedRequest:
    """A request to a provider, with the headers that affect the meaning of its body."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class RelayedAnswer:
    """An answer of a provider."""

    status: int
    body: dict[str, Any]


Relay = Callable[[RelayedRequest], RelayedAnswer]


class _RelayTransport(httpx.AsyncBaseTransport):
    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await request.aread()
        headers = {_TRIALS: request.headers[_TRIALS]} if _TRIALS in request.headers else {}
        relayed_request = RelayedRequest(request.url.path, orjson.loads(content), headers)
        answer = self._relay(relayed_request)
        return httpx.Response(answer.status, json=answer.body, request=request)


async def relayed(provider: str, relay: Relay) -> dict[str, Any]:
    """Return LiteLLM parameters that send requests of a provider to `relay`.

    `provider` is openai, azure, anthropic or gemini.
    """
    client = httpx.AsyncClient(transport=_RelayTransport(relay))
    parameters: dict[str, Any] = {"api_base": NOWHERE, "api_key": _NO_KEY}
    if provider == "openai":
        from openai import AsyncOpenAI

        base_url = f"{NOWHERE}/v1"
        parameters["client"] = AsyncOpenAI(
            api_key=_NO_KEY, base_url=base_url, http_client=client, max_retries=0
        )
    elif provider == "azure":
        from openai import AsyncAzureOpenAI

        version = os.environ.get("AZURE_API_VERSION") or library().AZURE_DEFAULT_API_VERSION
        parameters["api_version"] = version
        parameters["client"] = AsyncAzureOpenAI(
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
        parameters["client"] = handler
    return parameters
