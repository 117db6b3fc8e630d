"""Choices of engine and literature, written as one word."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from schemas.errors import ConfigurationError

_EXTRACTIVE, _LITELLM = "extractive", "litellm:"
_LIVE, _SNAPSHOT, _THEN_LIVE = "live", "snapshot:", "+live"
_WEB = ("http://", "https://")


class _Choice:
    """Base of choices; fields accept the text or the value and serialize to text."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """Return the text for the command line and columns."""
        return str(self)

    @classmethod
    def parse(cls, text: str) -> Self:
        raise NotImplementedError

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        parsing_schema = core_schema.no_info_after_validator_function(
            cls.parse, core_schema.str_schema()
        )
        return core_schema.json_or_python_schema(
            json_schema=parsing_schema,
            python_schema=core_schema.union_schema(
                [core_schema.is_instance_schema(cls), parsing_schema]
            ),
            serialization=core_schema.to_string_ser_schema(),
        )


@dataclass(frozen=True, slots=True)
class EngineChoice(_Choice):
    """Engine: `extractive`, whose `model` is None, or `litellm:MODEL` with LiteLLM's model name."""

    model: str | None = None

    @property
    def is_baseline(self) -> bool:
        """Return whether the engine uses no language model."""
        return self.model is None

    def __str__(self) -> str:
        return _EXTRACTIVE if self.model is None else f"{_LITELLM}{self.model}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `extractive` or `litellm:MODEL`.

        Raises:
            ConfigurationError: `text` is neither.
        """
        name = text.strip()
        if name == _EXTRACTIVE:
            return cls()
        model = name.removeprefix(_LITELLM).strip()
        if name.startswith(_LITELLM) and model and not any(map(str.isspace, model)):
            return cls(model)
        raise ConfigurationError(
            f"unknown engine {name[:80]!r}: write `{_EXTRACTIVE}`, or `{_LITELLM}MODEL` "
            f"such as {_LITELLM}openai/gpt-4o-mini"
        )

    @classmethod
    def named(cls, text: str) -> Self:
        """Parse a text in which `litellm:` is optional, such as `openai/gpt-5`."""
        is_full_name = text == _EXTRACTIVE or text.startswith(_LITELLM)
        return cls.parse(text if is_full_name else f"{_LITELLM}{text}")


@dataclass(frozen=True, slots=True)
class LiteratureChoice(_Choice):
    """Source of papers: the live API, a snapshot with or without the live API, or a gateway.

    Attributes:
        snapshot: a file of papers or the folder of an index.
        then_live: whether the live API is asked for papers missing from the snapshot.
        url: of a running gateway.
    """

    snapshot: Path | None = None
    then_live: bool = False
    url: str | None = None

    @property
    def asks_upstream(self) -> bool:
        """Return whether a gateway for this choice asks the live API."""
        return self.url is None and (self.snapshot is None or self.then_live)

    @property
    def unlimited(self) -> bool:
        """Return whether requests are unlimited: a snapshot without the live API."""
        return self.snapshot is not None and not self.then_live

    def at(self, snapshot: Path) -> Self:
        """Return the choice with another path of its snapshot."""
        return replace(self, snapshot=snapshot)

    def __str__(self) -> str:
        if self.snapshot is None:
            return self.url or _LIVE
        return f"{_SNAPSHOT}{self.snapshot}{_THEN_LIVE if self.then_live else ''}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse one of the text forms without looking anything up.

        Raises:
            ConfigurationError: `text` has none of the forms.
        """
        if text == _LIVE:
            return cls()
        if text.startswith(_WEB):
            return cls(url=text)
        place = text.removeprefix(_SNAPSHOT).removesuffix(_THEN_LIVE)
        if text.startswith(_SNAPSHOT) and place:
            return cls(Path(place), then_live=text.endswith(_THEN_LIVE))
        raise ConfigurationError(
            f"--literature {text!r:.200}: write {_SNAPSHOT}PATH, {_SNAPSHOT}PATH{_THEN_LIVE}, {_LIVE}, "
            "or a gateway's URL"
        )


EXTRACTIVE, LIVE = EngineChoice(), LiteratureChoice()
BUNDLED_SAMPLE = "the bundled sample of 248 papers"
BUNDLED_REMARK = "a demonstration: your own ideas need --literature (see docs/guides/literature.md)"


def stored_snapshot(literature: str) -> str | None:
    """Return the snapshot's path or fingerprint in a stored name such as `runs.literature`."""
    kind, _, place = literature.partition(":")
    return place if f"{kind}:" == _SNAPSHOT else None


def remote_model(embeddings: str) -> str | None:
    """Return LiteLLM's name of an embedding model; None for a local model."""
    return embeddings.removeprefix(_LITELLM) if embeddings.startswith(_LITELLM) else None
