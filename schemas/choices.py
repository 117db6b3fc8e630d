"""Choices written as one word and read once: which engine judges, where papers come from."""

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
    """A field of such a type takes the text or the value, and is serialised as the text."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """As it is written on a command line and in a column."""
        return str(self)

    @classmethod
    def parse(cls, text: str) -> Self:
        raise NotImplementedError

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        parsed = core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())
        return core_schema.json_or_python_schema(
            json_schema=parsed,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), parsed]),
            serialization=core_schema.to_string_ser_schema(),
        )


@dataclass(frozen=True, slots=True)
class EngineChoice(_Choice):
    """`extractive`, whose `model` is None, or `litellm:MODEL` with LiteLLM's name of the model."""

    model: str | None = None

    @property
    def is_baseline(self) -> bool:
        """Return whether no language model is asked."""
        return self.model is None

    def __str__(self) -> str:
        return _EXTRACTIVE if self.model is None else f"{_LITELLM}{self.model}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ConfigurationError when `text` is neither `extractive` nor `litellm:MODEL`."""
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
        """As `parse`, where `litellm:` may be left out: `openai/gpt-5`."""
        whole = text == _EXTRACTIVE or text.startswith(_LITELLM)
        return cls.parse(text if whole else f"{_LITELLM}{text}")


@dataclass(frozen=True, slots=True)
class LiteratureChoice(_Choice):
    """The live API; a snapshot, alone or with the live API for what it lacks; or a gateway's URL.

    Attributes:
        snapshot: a file of papers or the folder of an index.
        then_live: whether the live API is asked for what the snapshot lacks.
        url: of a gateway that runs already.
    """

    snapshot: Path | None = None
    then_live: bool = False
    url: str | None = None

    @property
    def asks_upstream(self) -> bool:
        """Return whether the gateway started for it asks the live API."""
        return self.url is None and (self.snapshot is None or self.then_live)

    @property
    def unlimited(self) -> bool:
        """Return whether it is a snapshot alone, which has no allowance to protect."""
        return self.snapshot is not None and not self.then_live

    def at(self, snapshot: Path) -> Self:
        """The same with its snapshot elsewhere."""
        return replace(self, snapshot=snapshot)

    def __str__(self) -> str:
        if self.snapshot is None:
            return self.url or _LIVE
        return f"{_SNAPSHOT}{self.snapshot}{_THEN_LIVE if self.then_live else ''}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ConfigurationError when `text` is none of the forms; nothing is looked up."""
        if text == _LIVE:
            return cls()
        if text.startswith(_WEB):
            return cls(url=text)
        place = text.removeprefix(_SNAPSHOT).removesuffix(_THEN_LIVE)
        if text.startswith(_SNAPSHOT) and place:
            return cls(Path(place), then_live=text.endswith(_THEN_LIVE))
        raise ConfigurationError(
            f"--literature {text!r}: write {_SNAPSHOT}PATH, {_SNAPSHOT}PATH{_THEN_LIVE}, {_LIVE}, "
            "or a gateway's URL"
        )


EXTRACTIVE, LIVE = EngineChoice(), LiteratureChoice()
BUNDLED_SAMPLE = "the bundled sample of 248 papers"
BUNDLED_REMARK = "a demonstration: your own ideas need --literature (see docs/guides/literature.md)"


def stored_snapshot(literature: str) -> str | None:
    """The path or fingerprint in a stored name such as `runs.literature`; None: no snapshot."""
    kind, _, place = literature.partition(":")
    return place if f"{kind}:" == _SNAPSHOT else None


def remote_model(embeddings: str) -> str | None:
    """LiteLLM's name of the model in `litellm:MODEL`; None: the embeddings are made here."""
    return embeddings.removeprefix(_LITELLM) if embeddings.startswith(_LITELLM) else None
