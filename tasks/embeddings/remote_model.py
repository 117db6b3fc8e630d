"""Embeddings from an API, through LiteLLM."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError, RateLimitedError, RequestRejectedError, UpstreamError
from tasks.web.litellm_library import asked_to_wait_seconds, library
from tasks.web.retrying import RetryPolicy, Tried
from warehouse.scrubbing import one_line

_TIMEOUT_SECONDS = 60.0
_POLICY = RetryPolicy(4, 300.0, first_pause_seconds=0.5, longest_pause_seconds=8.0)


async def embed_remotely(
    model: str, texts: Sequence[str], batch_size: int, api_base: str | None
) -> NDArray[np.float32]:
    """Unit vectors from LiteLLM's `model`, one row per text, `batch_size` texts per request.

    Raises:
        ConfigurationError: wrong key or no such model.
        RateLimitedError, UpstreamError: no answer after four attempts.
        RequestRejectedError: the provider refused the texts.
    """
    starts = range(0, len(texts), batch_size)
    batches = [list(texts[start : start + batch_size]) for start in starts]
    parts = [await _embedded(model, batch, api_base) for batch in batches]
    vectors = np.asarray([vector for part in parts for vector in part], dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


async def _embedded(model: str, texts: list[str], api_base: str | None) -> list[list[float]]:
    async def attempt(_: int) -> Tried[list[list[float]]]:
        return Tried(await _request(model, texts, api_base))

    return await _POLICY.run(attempt)


async def _request(model: str, texts: list[str], api_base: str | None) -> list[list[float]]:
    litellm = library()
    exceptions = litellm.exceptions
    try:
        answer = await litellm.aembedding(
            model=model,
            input=texts,
            api_base=api_base,
            timeout=_TIMEOUT_SECONDS,
            max_retries=0,
        )
    except (
        exceptions.AuthenticationError,
        exceptions.PermissionDeniedError,
        exceptions.NotFoundError,
    ) as error:
        raise ConfigurationError(
            f"embedding model {model} was refused, check its name and key: {one_line(error)}"
        ) from error
    except exceptions.RateLimitError as error:
        limited = RateLimitedError(f"embedding model {model} asks to slow down: {one_line(error)}")
        limited.wait_seconds = asked_to_wait_seconds(error) or 0.0
        raise limited from error
    except (
        exceptions.APIConnectionError,
        exceptions.InternalServerError,
        exceptions.ServiceUnavailableError,
        exceptions.Timeout,
    ) as error:
        raise UpstreamError(f"embedding model {model} did not answer: {one_line(error)}") from error
    except (exceptions.BadRequestError, exceptions.APIError) as error:
        raise RequestRejectedError(
            f"embedding model {model} refused the request: {one_line(error)}"
        ) from error
    ordered = sorted(answer.data, key=lambda item: item["index"])
    if len(ordered) != len(texts):
        raise UpstreamError(
            f"embedding model {model} answered {len(ordered)} vectors for {len(texts)} texts"
        )
    return [item["embedding"] for item in ordered]
