"""Looking before paying: is there such a model, a key for it, and somebody who answers?"""

import asyncio
from urllib.parse import urlsplit

from schemas.errors import ConfigurationError
from schemas.settings import LanguageModelSettings
from tasks.judging.litellm_library import library
from tasks.judging.model_access import access
from tasks.judging.prices import price_of
from tasks.judging.provider_call import CallFailure, call_provider
from tasks.judging.scrubbing import without_secrets

_CONNECT_SECONDS = 5.0
_TINY_REPLY_TOKENS = 16


async def check_model(model: str, api_base: str | None, settings: LanguageModelSettings, *, needs_price: bool = False) -> None:
    """Check what can be checked without a call.

    Raises:
        ConfigurationError: LiteLLM knows no provider for the model, its key is not set, nothing listens at
            `api_base`, or `needs_price` and no price is known.
    """
    litellm = library()
    import openai

    try:
        litellm.get_llm_provider(model=model, api_base=api_base)
    except openai.OpenAIError as error:
        raise ConfigurationError(f"no such model {model!r}: write provider/model, such as litellm:openai/gpt-4o-mini") from error
    if needs_price and price_of(model, settings) is None:
        raise ConfigurationError(
            f"no price is known for {model}, so a bound on cost cannot be kept: set "
            "ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS and …__COMPLETION_PRICE_USD_PER_MILLION_TOKENS"
        )
    if api_base is not None:
        await _check_connection(api_base)
        return
    missing = [name for name in litellm.validate_environment(model=model)["missing_keys"] if name.endswith("_API_KEY")]
    if missing:
        raise ConfigurationError(f"model {model} needs {' and '.join(missing)} in the environment")


async def check_model_answers(model: str, api_base: str | None, settings: LanguageModelSettings) -> None:
    """`check_model`, then one tiny real call, at most 16 tokens of reply.

    Raises:
        ConfigurationError: as `check_model`; or the call failed, with the reason and how to mend it.
    """
    await check_model(model, api_base, settings)
    messages = [{"role": "user", "content": "Reply with the word OK."}]
    parameters = {"max_tokens": _TINY_REPLY_TOKENS, **access(model, api_base)}
    answer = await call_provider(model, messages, parameters, min(settings.timeout_seconds, 60.0))
    if isinstance(answer, CallFailure):
        where = f" at {without_secrets(api_base)}" if api_base else ""
        raise ConfigurationError(f"model {model}{where} does not answer: {answer.detail}")


async def _check_connection(api_base: str) -> None:
    shown = without_secrets(api_base)
    try:
        parts = urlsplit(api_base)
        host, port = parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError as error:
        raise ConfigurationError(f"API base {shown} is no URL: write it as http://host:port/v1") from error
    if host is None or port is None:
        raise ConfigurationError(f"API base {shown} is no URL: write it as http://host:port/v1")
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as error:
        raise ConfigurationError(f"nothing answers at the API base {shown}: start the server or correct --api-base") from error
    writer.close()
