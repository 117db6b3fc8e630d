"""Batch providers by model."""

from schemas.errors import ConfigurationError
from tasks.judging.batches.providers.anthropic_messages import AnthropicMessages
from tasks.judging.batches.providers.gemini_inline import GeminiInline
from tasks.judging.batches.providers.openai_files import OpenAIFiles
from tasks.judging.batches.providers.provider import Provider
from tasks.judging.batches.questions import Lane
from tasks.judging.models import model_info, provider_of

_PROVIDERS: dict[str, type[OpenAIFiles] | type[AnthropicMessages] | type[GeminiInline]] = {
    "openai": OpenAIFiles,
    "azure": OpenAIFiles,
    "anthropic": AnthropicMessages,
    "gemini": GeminiInline,
}


def open_provider(lane: Lane) -> Provider:
    return _PROVIDERS[provider_of(lane.model)](lane)


def check_takes_batches(model: str) -> None:
    """Raise ConfigurationError when questions to `model` cannot travel in batches."""
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
