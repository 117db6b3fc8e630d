import numpy as np
import pytest

from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from warehouse.scrubbing import one_line, scrub, without_secrets


class NoEmbedder:
    async def embed(self, texts):
        return np.zeros((len(texts), 1), dtype=np.float32)


async def test_the_extractive_engine_answers_with_the_baseline_and_says_so(step, question) -> None:
    engine = ExtractiveEngine(BaselineTools(NoEmbedder()), seed=5)
    first, second = await engine.run(step, question), await engine.run(step, question)
    assert isinstance(first, Scored)
    assert isinstance(second, Scored)
    assert first.value == second.value
    assert (first.provenance.engine, first.provenance.model_requested, first.provenance.seed) == (
        "extractive",
        "extractive",
        5,
    )
    assert first.provenance.call_ids == ()


async def test_a_baseline_without_an_answer_is_unscored(step, question) -> None:
    outcome = await ExtractiveEngine(BaselineTools(NoEmbedder()), 1).run(
        step, type(question)(idea="x", paper="")
    )
    assert isinstance(outcome, Unscored)
    assert (outcome.reason, outcome.detail) == (Reason.NO_EVIDENCE, "no paper was found")


def test_secrets_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PROVIDER_API_KEY", "plain-value-123")
    line = one_line(
        "failed:\n plain-value-123 Bearer abc.def sk-proj-abcdefgh"
        " https://me:pw@host/x?api_key=zzz&q=1"
    )
    assert all(
        secret not in line
        for secret in ("plain-value-123", "abc.def", "sk-proj", "me:pw", "zzz", "\n")
    )
    assert "q=1" in line
    assert len(one_line("x" * 5000)) == 300
    assert scrub("nothing to hide") == "nothing to hide"
    assert without_secrets("https://me:pw@host:8000/v1/?key=abc") == "https://host:8000/v1"
