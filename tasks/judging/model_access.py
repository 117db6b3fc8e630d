"""Where a model is reached and with which key.

Keys come from the environment, as LiteLLM reads them.
"""

import os


def provider_of(model: str) -> str:
    """The provider in LiteLLM's name of a model; a bare name is OpenAI's."""
    provider, slash, _ = model.partition("/")
    return provider if slash else "openai"


def shared_api_base(model: str, named: str, api_base: str | None) -> str | None:
    """Where `model` is asked when `api_base` is given for the model `named`: there too if both have
    one provider, else at its provider's own address (None), so that no key goes to another's
    server.
    """
    return api_base if provider_of(model) == provider_of(named) else None


def access(model: str, api_base: str | None) -> dict[str, str]:
    """LiteLLM's parameters for reaching `model`.

    A server of one's own often takes no key, but the OpenAI protocol needs one to be sent.
    """
    if api_base is None:
        return {}
    needs_key = provider_of(model) in ("openai", "text-completion-openai")
    return {
        "api_base": api_base,
        **({"api_key": "none"} if needs_key and not os.environ.get("OPENAI_API_KEY") else {}),
    }
