"""Choice between batches and calls, and batch providers of models."""

from typing import TYPE_CHECKING

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.profile import Profile

if TYPE_CHECKING:  # most runs use no batches
    from tasks.judging.batches.providers.provider import Provider
    from tasks.judging.batches.questions import Lane

_PROVIDERS = ("openai", "azure", "anthropic", "gemini")


def open_provider(lane: "Lane") -> "Provider":
    """Open the provider of a lane whose model `check_takes_batches` accepts."""
    from tasks.judging.batches.providers.anthropic_messages import AnthropicMessages
    from tasks.judging.batches.providers.gemini_inline import GeminiInline
    from tasks.judging.batches.providers.openai_files import OpenAIFiles
    from tasks.judging.models import provider_of

    match provider_of(lane.model):
        case "anthropic":
            return AnthropicMessages(lane)
        case "gemini":
            return GeminiInline(lane)
        case _:
            return OpenAIFiles(lane)


def check_takes_batches(model: str) -> None:
    """Raise ConfigurationError if `model` takes no batches."""
    from tasks.judging.models import model_info, provider_of  # slow import

    if provider_of(model) not in _PROVIDERS:
        raise ConfigurationError(
            f"--batch: the provider of {model} has no batches; name a model of"
            f" {', '.join(_PROVIDERS)}, or leave --batch out"
        )
    if model_info(model).get("mode") == "responses":
        raise ConfigurationError(
            f"--batch: {model} is reached through OpenAI's Responses API only, whose batches Assay"
            " does not write; name another model, or leave --batch out"
        )


def wants_batches(batch_option: bool | None, profile: Profile, engine: EngineChoice) -> bool:
    """Return whether questions are sent in batches.

    The option decides, else the profile; an engine without a model uses none.

    Raises:
        ConfigurationError: a model that takes no batches.
    """
    if engine.model is None:
        if batch_option:
            raise ConfigurationError(
                f"--batch: the {engine} engine asks no model; add --engine litellm:MODEL"
            )
        return False
    use_batches = profile.batch if batch_option is None else batch_option
    if use_batches:
        for model in dict.fromkeys((engine.model, *profile.judging.models)):
            check_takes_batches(model)
    return use_batches
