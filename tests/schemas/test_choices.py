"""Engine and literature are read once; what is stored and hashed is their text."""

import pickle
from pathlib import Path

import pytest

from schemas.base import Noun
from schemas.choices import (
    EXTRACTIVE,
    LIVE,
    EngineChoice,
    LiteratureChoice,
    remote_model,
    stored_snapshot,
)
from schemas.errors import ConfigurationError

ENGINES = {
    "extractive": EXTRACTIVE,
    "litellm:openai/gpt-4o-mini": EngineChoice("openai/gpt-4o-mini"),
    "litellm:ollama/llama3:8b": EngineChoice("ollama/llama3:8b"),
}
LITERATURES = {
    "live": LIVE,
    "snapshot:/data/papers.parquet": LiteratureChoice(Path("/data/papers.parquet")),
    "snapshot:/data/c:d+live": LiteratureChoice(Path("/data/c:d"), then_live=True),
    "https://gateway.example:8765": LiteratureChoice(url="https://gateway.example:8765"),
}


class Asked(Noun):
    engine: EngineChoice
    literature: LiteratureChoice | None = None


@pytest.mark.parametrize("text", ENGINES)
def test_an_engine_is_read_and_written_as_the_same_text(text: str) -> None:
    choice = EngineChoice.parse(text)
    assert choice == ENGINES[text]
    assert (choice.text, f"{choice}") == (text, text)
    assert choice.is_baseline is (text == "extractive")
    assert pickle.loads(pickle.dumps(choice)) == choice


@pytest.mark.parametrize("text", LITERATURES)
def test_a_literature_is_read_and_written_as_the_same_text(text: str) -> None:
    choice = LiteratureChoice.parse(text)
    assert choice == LITERATURES[text]
    assert (choice.text, f"{choice}") == (text, text)
    assert choice.asks_upstream is text.endswith("live")
    assert pickle.loads(pickle.dumps(choice)) == choice


@pytest.mark.parametrize(
    "text", ["", "gpt-4o", "litellm:", "litellm: ", "Extractive!", "litellm:a b"]
)
def test_an_unknown_engine_is_one_line_that_says_what_to_write(text: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"unknown engine .*: write `extractive`"
    ) as caught:
        EngineChoice.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "papers.parquet", "snapshot:", "snapshot:+live", "Live", "ftp://host"]
)
def test_an_unknown_literature_is_one_line_that_says_what_to_write(text: str) -> None:
    with pytest.raises(ConfigurationError, match="write snapshot:PATH") as caught:
        LiteratureChoice.parse(text)
    assert "\n" not in str(caught.value)


def test_a_noun_takes_text_or_value_and_gives_the_text() -> None:
    by_text = Asked(engine="litellm:openai/x", literature="snapshot:/data+live")  # type: ignore[arg-type]
    by_value = Asked(
        engine=EngineChoice("openai/x"),
        literature=LiteratureChoice(Path("/data"), then_live=True),
    )
    written = '{"engine":"litellm:openai/x","literature":"snapshot:/data+live"}'
    assert by_text == by_value == Asked.model_validate_json(written)
    assert by_text.model_dump_json() == written
    assert Asked.model_json_schema()["properties"]["engine"]["type"] == "string"


def test_stored_names_of_literature_tell_their_snapshot() -> None:
    names = ("snapshot:1a2b", "snapshot:/d:e+live", "snapshot", "live:api.example.org", "live", "")
    assert [stored_snapshot(name) for name in names] == [
        "1a2b",
        "/d:e+live",
        "",
        None,
        None,
        None,
    ]


def test_embeddings_of_a_provider_are_named_like_its_models() -> None:
    assert remote_model("litellm:openai/text-embedding-3-small") == "openai/text-embedding-3-small"
    assert remote_model("all-MiniLM-L6-v2") is None
