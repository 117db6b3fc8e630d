from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from schemas.errors import ConfigurationError, RateLimitedError
from schemas.settings import EmbeddingSettings
from tasks.embeddings import sentence_embedder
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tests.support.loopback import renew
from tests.support.openai_server import EMBEDDING_DIMENSIONS, OpenAIServer, start_openai_server


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    hasty = replace(sentence_embedder._POLICY, first_pause_seconds=0.01)
    monkeypatch.setattr(sentence_embedder, "_POLICY", hasty)


@pytest.fixture(scope="module")
def started() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


@pytest.fixture
def server(started: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    return renew(started)


def embedder(server: OpenAIServer) -> SentenceEmbedder:
    return SentenceEmbedder(
        EmbeddingSettings(model="litellm:openai/embed"), None, api_base=server.url
    )


async def test_an_embedding_api_answers_in_batches_and_in_order(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.embeddings.sentence_embedder.BATCH_SIZE", 2)
    vectors = await embedder(server).embed(["a a a", "b", "c d e f", "b"])
    assert vectors.shape == (4, EMBEDDING_DIMENSIONS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors[1], vectors[3])
    assert [len(request.body["input"]) for request in server.requests] == [2, 1]


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        ("wrong_key", ConfigurationError),
        ("no_such_model", ConfigurationError),
        ("retry_after:0.01", RateLimitedError),
    ],
)
async def test_an_embedding_api_that_fails_raises_a_typed_error(
    server: OpenAIServer, behaviour: str, error: type[Exception]
) -> None:
    server.behaviour = behaviour
    with pytest.raises(error):
        await embedder(server).embed(["a"])


async def test_an_embedding_api_that_is_busy_for_a_moment_is_asked_again(
    server: OpenAIServer,
) -> None:
    server.behaviour = ["retry_after:0.01", "good"]
    assert (await embedder(server).embed(["a"])).shape == (1, EMBEDDING_DIMENSIONS)
    assert len(server.requests) == 2
