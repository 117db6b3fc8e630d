"""Environment variables from which LiteLLM reads keys and addresses of models."""

import os

from schemas.errors import ConfigurationError
from schemas.secrets import key_fault
from warehouse.scrubbing import is_secret, strip_secrets

_ENTRA = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
_OF_PROVIDER = {
    "azure": ("AZURE_API_KEY", "AZURE_API_BASE", "AZURE_API_VERSION", "AZURE_AD_TOKEN", *_ENTRA),
    "bedrock": (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_REGION_NAME",
    ),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_BASE"),
    "ollama_chat": ("OLLAMA_API_KEY", "OLLAMA_API_BASE"),
    "openai": ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "text-completion-openai": (
        "OPENAI_API_KEY",
        "OPENAI_API_BASE",
        "OPENAI_BASE_URL",
        "OPENAI_ORGANIZATION",
    ),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_API_KEY"),
    "vertex_ai": (
        "GOOGLE_APPLICATION_CREDENTIALS",
        "VERTEXAI_PROJECT",
        "VERTEXAI_LOCATION",
        "VERTEXAI_CREDENTIALS",
    ),
}


def model_variables(model: str) -> frozenset[str]:
    """Return the variables with key and address of `model`.

    `model` is a name such as `openai/gpt-4.1-mini`.

    Source: the providers' pages of LiteLLM's documentation; most are named after the provider.
    """
    provider = model.partition("/")[0]
    name = provider.upper()
    return frozenset(_OF_PROVIDER.get(provider, (f"{name}_API_KEY", f"{name}_API_BASE")))


def check_keys(model: str) -> None:
    """Validate the keys of the model's provider.

    Raises:
        ConfigurationError: the variable, what is wrong with its value, and the remedy.
    """
    strip_secrets()
    for name in sorted(filter(is_secret, model_variables(model))):
        if name.endswith("CREDENTIALS"):
            continue  # a path or JSON, not sent in a header
        fault = key_fault(os.environ.get(name, ""))
        if fault is not None:
            raise ConfigurationError(f"{name} {fault}")
