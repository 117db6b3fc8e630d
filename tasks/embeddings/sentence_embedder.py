"""Sentence embeddings, cached by text hash in memory and optionally on disk."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from schemas.choices import remote_model
from schemas.errors import ConfigurationError, RateLimitedError, RequestRejectedError, UpstreamError
from schemas.identifiers import content_hash
from schemas.settings import EmbeddingSettings
from tasks.embeddings import local_model, unit
from tasks.web.litellm_library import asked_to_wait_seconds, library
from tasks.web.retrying import RetryPolicy, Tried
from warehouse.scrubbing import one_line, without_secrets
from warehouse.stores.keyed_store import KeyedStore

# Embeddings from an API, through LiteLLM.

BATCH_SIZE = 16
"""Texts in one call of a model or an API."""
_TIMEOUT_SECONDS = 60.0
_POLICY = RetryPolicy(4, 300.0, first_pause_seconds=0.5, longest_pause_seconds=8.0)


async def embed_remotely(
    model: str, texts: Sequence[str], api_base: str | None
) -> NDArray[np.float32]:
    """Return unit vectors from LiteLLM's `model`, one row per text.

    Raises:
        ConfigurationError: wrong key or no such model.
        RateLimitedError, UpstreamError: no answer after four attempts.
        RequestRejectedError: the provider refused the texts.
    """
    vectors: list[list[float]] = []
    for start in range(0, len(texts), BATCH_SIZE):
        batch = list(texts[start : start + BATCH_SIZE])

        async def attempt(_: int, batch: list[str] = batch) -> Tried[list[list[float]]]:
            return Tried(await _request(model, batch, api_base))

        batch_vectors: list[list[float]] = await _POLICY.run(attempt)
        vectors += batch_vectors
    return unit(np.asarray(vectors, dtype=np.float32))


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
        rate_error = RateLimitedError(
            f"embedding model {model} asks to slow down: {one_line(error)}"
        )
        rate_error.wait_seconds = asked_to_wait_seconds(error) or 0.0
        raise rate_error from error
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
    ordered_items = sorted(answer.data, key=lambda item: item["index"])
    if len(ordered_items) != len(texts):
        raise UpstreamError(
            f"embedding model {model} answered {len(ordered_items)} vectors for {len(texts)} texts"
        )
    return [item["embedding"] for item in ordered_items]


# 30 MB at 384 dimensions.
_MAXIMUM_IN_MEMORY = 20_000
_TEXTS_PER_TURN = 64
_TEXTS_TOGETHER = 256
"""Texts of several callers in one batch; small batches take up to twice the time per text."""

Vector = NDArray[np.float32]


def bundled_settings(settings: EmbeddingSettings) -> EmbeddingSettings:
    """Return `settings` with the bundled model.

    Some figures were fitted on its vectors.
    """
    fields = EmbeddingSettings.model_fields
    fitted_with = {name: fields[name].default for name in ("model", "maximum_tokens")}
    return settings.model_copy(update=fitted_with)


class SentenceEmbedder:
    """Implements `Embedder` with a local model or an embedding API.

    The model is the bundled one, any sentence-transformers model, or `litellm:<model>`. Vectors are
    cached by model, maximum tokens and text. Equal texts are embedded once, also if several ideas
    need them at the same time. The local model runs in a thread, one batch at a time per process.
    Texts of waiting callers join the next batch of the bundled model, whose vectors do not depend
    on the other texts.

    Raises (from `embed`):
        ConfigurationError: the model is unavailable, or its key is wrong.
        TransientError, RequestRejectedError: an embedding API did not answer or refused.
    """

    def __init__(
        self, settings: EmbeddingSettings, store: KeyedStore | None, api_base: str | None = None
    ) -> None:
        self._settings = settings
        self._store = store
        self._api_base = api_base
        self._remote = remote_model(settings.model)
        self._memory: OrderedDict[str, Vector] = OrderedDict()
        self._memory_lock = threading.Lock()
        self._waiting: dict[str, str] = {}

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return unit rows in order, shape (len(texts), dimensions)."""
        if not texts:
            return await asyncio.to_thread(self._empty)
        keys = [self._key(text) for text in texts]
        vectors = self._recall(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            vectors.update(await self._load_or_compute(missing))
        return np.vstack([vectors[key] for key in keys])

    async def _load_or_compute(self, missing: dict[str, str]) -> dict[str, Vector]:
        stored_vectors: dict[str, Vector] = {}
        if self._store is not None:
            entries = await asyncio.to_thread(self._store.get_many, list(missing))
            entry_vectors = ((key, _vector_of(entry)) for key, entry in entries.items())
            stored_vectors = {key: vector for key, vector in entry_vectors if vector is not None}
        rest = sorted(
            (key for key in missing if key not in stored_vectors),
            key=lambda key: (len(missing[key]), key),
        )
        computed_vectors: dict[str, Vector] = {}
        for start in range(0, len(rest), _TEXTS_PER_TURN):
            turn = {key: missing[key] for key in rest[start : start + _TEXTS_PER_TURN]}
            computed_vectors.update(await self._compute(turn))
        self._remember(stored_vectors)
        if self._store is not None and computed_vectors:
            await asyncio.to_thread(
                self._store.put_many,
                {key: vector.tobytes() for key, vector in computed_vectors.items()},
            )
        return stored_vectors | computed_vectors

    async def _compute(self, texts: dict[str, str]) -> dict[str, Vector]:
        if self._remote is None:
            with self._memory_lock:
                self._waiting.update(texts)
            return await asyncio.to_thread(self._compute_locally, texts)
        vectors = await embed_remotely(self._remote, list(texts.values()), self._api_base)
        computed_vectors = dict(zip(texts, vectors, strict=True))
        self._remember(computed_vectors)
        return computed_vectors

    def _compute_locally(self, texts: dict[str, str]) -> dict[str, Vector]:
        with local_model.PROCESS_LOCK:
            remembered_vectors = self._recall(list(texts))
            rest = {key: text for key, text in texts.items() if key not in remembered_vectors}
            computed_vectors: dict[str, Vector] = {}
            if rest:
                batch = self._batch_with_waiting(rest)
                vectors = self._model().encode(list(batch.values()), BATCH_SIZE)
                computed_vectors = dict(zip(batch, vectors, strict=True))
            self._remember(computed_vectors)
        return remembered_vectors | {key: computed_vectors[key] for key in rest}

    def _batch_with_waiting(self, texts: dict[str, str]) -> dict[str, str]:
        """Add texts that other callers wait for.

        Their vectors are then in memory.
        """
        with self._memory_lock:
            for key in texts:
                self._waiting.pop(key, None)
            if self._settings.model != local_model.BUNDLED:
                return texts
            waiting_keys = [
                key
                for key in islice(self._waiting, max(_TEXTS_TOGETHER - len(texts), 0))
                if key not in self._memory
            ]
            return texts | {key: self._waiting.pop(key) for key in waiting_keys}

    def _empty(self) -> Vector:
        if self._remote is not None:
            return np.empty((0, 0), dtype=np.float32)
        with local_model.PROCESS_LOCK:
            return np.empty((0, self._model().dimensions), dtype=np.float32)

    def _model(self) -> local_model.LocalModel:
        return local_model.load(self._settings.model, self._settings.maximum_tokens)

    def _key(self, text: str) -> str:
        place = without_secrets(self._api_base) if self._api_base else ""
        return content_hash(
            "embedding",
            self._settings.model,
            place,
            "float32" if self._remote is None else "api",
            str(self._settings.maximum_tokens),
            text,
            length=40,
        )

    def _recall(self, keys: Sequence[str]) -> dict[str, Vector]:
        with self._memory_lock:
            vectors = {key: self._memory[key] for key in keys if key in self._memory}
            for key in vectors:
                self._memory.move_to_end(key)
        return vectors

    def _remember(self, vectors: dict[str, Vector]) -> None:
        with self._memory_lock:
            self._memory.update(vectors)
            while len(self._memory) > _MAXIMUM_IN_MEMORY:
                self._memory.popitem(last=False)


def _vector_of(entry: bytes) -> Vector | None:
    """Return a stored vector; None if the entry is invalid."""
    if not entry or len(entry) % 4:
        return None
    vector = np.frombuffer(entry, dtype=np.float32)
    return vector if np.isfinite(vector).all() else None
