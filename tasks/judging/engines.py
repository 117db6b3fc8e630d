"""Names of engines: `extractive`, or `litellm:<model>`."""

from dataclasses import dataclass

from schemas.errors import ConfigurationError

EXTRACTIVE = "extractive"
LITELLM_PREFIX = "litellm:"


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """A parsed engine name; `model` is LiteLLM's name of the model, None for the extractive engine."""

    model: str | None

    @property
    def name(self) -> str:
        return EXTRACTIVE if self.model is None else f"{LITELLM_PREFIX}{self.model}"


def parse_engine_name(text: str) -> EngineChoice:
    """Read an engine's name.

    Raises:
        ConfigurationError: neither `extractive` nor `litellm:<model>`.
    """
    name = text.strip()
    if name == EXTRACTIVE:
        return EngineChoice(None)
    model = name.removeprefix(LITELLM_PREFIX).strip()
    if (
        name.startswith(LITELLM_PREFIX)
        and model
        and not any(character.isspace() for character in model)
    ):
        return EngineChoice(model)
    raise ConfigurationError(
        f"unknown engine {name[:80]!r}: write `extractive`, or `litellm:MODEL` such as litellm:openai/gpt-4o-mini"
    )
