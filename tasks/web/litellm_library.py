"""LiteLLM, imported on first use (two seconds) and kept quiet and at home: no telemetry, no
look-ups, no retries of its own.
"""

import logging
import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tasks.web.headers import retry_after_seconds, seconds_until
from warehouse.scrubbing import strip_secrets


@lru_cache(maxsize=1)
def library() -> Any:
    """The configured `litellm` module."""
    strip_secrets()  # LiteLLM reads keys from the environment as they are
    os.environ.setdefault(
        "LITELLM_LOCAL_MODEL_COST_MAP", "True"
    )  # without it the import asks the network for prices
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
    """How long a provider's error asks to wait, in seconds; None when it does not say."""
    for link in causes(error):
        response = getattr(link, "response", None)
        kept = (getattr(response, "headers", None), getattr(link, "litellm_response_headers", None))
        for headers in kept:
            if headers and (value := headers.get("retry-after")) is not None:
                return retry_after_seconds(str(value))
            if headers and (value := headers.get("x-ratelimit-reset")) is not None:
                return seconds_until(str(value))  # OpenRouter's
    return _told_in_words(str(error))


def _told_in_words(text: str) -> float | None:
    """Gemini's wait, which no header tells: `"retryDelay": "21s"` (google.rpc.RetryInfo)."""
    _, found, rest = text.partition('"retryDelay"')
    delay = rest[:40].partition('"')[2].partition('"')[0]
    return seconds_until(delay) if found and delay else None


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what caused it; LiteLLM keeps the provider's own words at the far end."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__
