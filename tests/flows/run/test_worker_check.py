"""Whether a worker can do the work: said in one line that tells how to mend it."""

from importlib import metadata

import pytest

from flows.run.worker_check import WorkerNeeds, code_hash, compared, python_version, refusal_of
from schemas.settings import EmbeddingSettings, Settings

NEEDS = WorkerNeeds(
    assay_version=metadata.version("assay"),
    python_version=python_version(),
    code=code_hash(),
    settings=compared(Settings()),
    variables=("OPENAI_API_KEY",),
    embeds=False,
)


def test_a_worker_without_the_key_is_told_where_to_export_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = "it has no OPENAI_API_KEY: export it where the worker starts"
    assert refusal_of(NEEDS, Settings()) == told
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert refusal_of(NEEDS, Settings()) is None


def test_a_worker_with_another_setting_is_told_both_values() -> None:
    otherwise = Settings(embeddings=EmbeddingSettings(maximum_tokens=64))
    told = refusal_of(NEEDS, otherwise)
    assert told == "ASSAY_EMBEDDINGS__MAXIMUM_TOKENS is 64 there and 128 here: set it alike"
