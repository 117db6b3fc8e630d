"""Checks of models before a run: name, key, and reply format.

One small question is sent with exactly the parameters of the run and a schema that uses every
keyword of the steps' schemas. Parameters that the model refuses are remembered for all workers.
An image model gets no question: a picture would cost too much for a check.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.judging import AskingParameters, Effort, JudgingParameters, StepKind
from schemas.outcome import Unscored
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_backend import LiteLLMBackend
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.model_keys import check_keys
from tasks.judging.models import draws_pictures, price_of
from tasks.judging.opening import open_backend
from tasks.judging.panel import models_of_step
from tasks.judging.parameters import Sampling
from tasks.judging.step import Step, no_baseline
from tasks.judging.structured_output import OutputMode
from tasks.web.client import URL, InvalidURL, proxy_of, web_address
from tasks.web.exchange import connection_failure
from tasks.web.litellm_library import library
from warehouse.layout import Layout
from warehouse.scrubbing import without_secrets

_CONNECT_SECONDS = 5.0
_ATTEMPTS = 2
_MILLION = 1_000_000


class ModelUse(Noun):
    """A model and the parameters with which a run will call it."""

    model: str
    api_base: str | None
    efforts: tuple[Effort, ...]
    sampling_seed: int | None
    temperature: float | None
    draws: bool = False


class ModelProbe(Noun):
    """Parameters, limits and prices of a model that answered, or that draws."""

    model: str
    structured_output: str = Field(description="json_schema, json_object, text or picture.")
    parameters_dropped: str | None
    thinks: bool
    context_tokens: int
    prompt_usd_per_million_tokens: float | None = Field(description="None: no price is known.")
    completion_usd_per_million_tokens: float | None
    usd_per_picture: float = Field(default=0.0, description="Where that is how it is billed.")
    requests_per_minute: float | None = Field(description="From its headers; None: unknown.")
    tokens_per_minute: float | None

    @property
    def line(self) -> str:
        """Return a one-line summary for people."""
        outputs = {
            "json_schema": "JSON schema",
            "json_object": "JSON object",
            "text": "JSON in prose",
        }
        price = "price unknown"
        if self.usd_per_picture:
            price = f"${self.usd_per_picture:g} a picture"
        elif self.prompt_usd_per_million_tokens is not None:
            completion = self.completion_usd_per_million_tokens or 0.0
            price = (
                f"${self.prompt_usd_per_million_tokens:g} and ${completion:g} per million prompt"
                " and completion tokens"
            )
        limits = [
            f"{limit:,.0f} {name} a minute"
            for limit, name in (
                (self.requests_per_minute, "requests"),
                (self.tokens_per_minute, "tokens"),
            )
            if limit is not None
        ]
        if self.structured_output == OutputMode.PICTURE:
            return f"draws pictures, and was asked for none yet; {price}"
        parts = [
            "answers",
            outputs[self.structured_output],
            f"ignores {self.parameters_dropped}"
            if self.parameters_dropped
            else "accepts all parameters",
            "reasoning" if self.thinks else "no reasoning",
            f"{self.context_tokens:,} tokens of context",
            price,
            " and ".join(limits) if limits else "rate limits not reported",
        ]
        return "; ".join(parts)


class Greeting(Noun):
    greeting: str


class Number(Reply):
    value: int = Field(ge=0, le=10, description="A whole number.")


class GreetingReply(Reply):
    """Uses every keyword that schemas of steps use, so that what refuses one refuses this."""

    sentence: str
    mood: Literal["calm", "cheerful"]
    numbers: tuple[Number, ...] = Field(min_length=1, max_length=12)
    farewell: Literal["later", "never"] | None = Field(default=None, description="null: not yet.")


FIRST_CONTACT = Step(
    name="first_contact",
    version=2,
    package="tasks.judging",
    input_model=Greeting,
    output_model=GreetingReply,
    baseline=no_baseline("only a model can be probed"),
    kind=StepKind.READING,
)


async def probe_models(
    model_uses: Sequence[ModelUse],
    settings: LanguageModelSettings,
    warehouse: Path,
    *,
    needs_price: bool = False,
) -> tuple[ModelProbe, ...]:
    """Ask every model one small question for each effort, except image models.

    Refused parameters are stored for the run.

    Raises:
        ConfigurationError: as `check_model`; or a model does not answer as required, with the
            reason and the remedy.
    """
    for use in model_uses:
        await check_model(
            use.model, use.api_base, settings, needs_price=needs_price, draws=use.draws
        )
    brief = settings.model_copy(
        update={"maximum_attempts": min(settings.maximum_attempts, _ATTEMPTS)}
    )
    layout = Layout(warehouse)
    async with AsyncExitStack() as stack:  # closing one model closes all connections of the loop
        budget = SharedBudget(layout.budgets, RunId("first-contact"), Budget())
        stack.callback(budget.close)
        probes = []
        for use in model_uses:
            backend = open_backend(
                use.model,
                Sampling(seed=use.sampling_seed, temperature=use.temperature),
                brief,
                layout,
                api_base=use.api_base,
                budget=budget,
                stack=stack,
            )
            backend.cache = None  # a cached answer would not test the model
            parameters, price = backend.parameters, backend.price
            efforts = () if use.draws else tuple(dict.fromkeys(use.efforts)) or (Effort.LOW,)
            if not parameters.thinks:
                efforts = efforts[:1]  # without thinking, efforts make no difference
            dropped_parameters = [await _greet(backend, use, effort) for effort in efforts]
            dropped_names = dict.fromkeys(
                name for each in dropped_parameters if each for name in each.split(", ")
            )
            limits = backend.limits_told
            probes.append(
                ModelProbe(
                    model=backend.model,
                    structured_output=OutputMode.PICTURE if use.draws else parameters.mode,
                    parameters_dropped=", ".join(dropped_names) or None,
                    thinks=parameters.thinks,
                    context_tokens=parameters.context_tokens,
                    prompt_usd_per_million_tokens=price.prompt_usd * _MILLION if price else None,
                    completion_usd_per_million_tokens=(
                        price.completion_usd * _MILLION if price else None
                    ),
                    usd_per_picture=price.picture_usd if price else 0.0,
                    requests_per_minute=limits.requests_per_minute,
                    tokens_per_minute=limits.tokens_per_minute,
                )
            )
    return tuple(probes)


async def _greet(backend: LiteLLMBackend, use: ModelUse, effort: Effort) -> str | None:
    """Return the parameters dropped from one question.

    Raises:
        ConfigurationError: the model did not answer.
    """
    ledger = Ledger(IdeaId("first-contact"))
    judging = JudgingParameters(reading=AskingParameters(effort=effort))
    engine = LiteLLMEngine(backend, ledger, judging=judging)
    outcome = await engine.run(FIRST_CONTACT, Greeting(greeting="Good evening."))
    if isinstance(outcome, Unscored):
        location = f" at {without_secrets(use.api_base)}" if use.api_base else ""
        raise ConfigurationError(f"model {use.model}{location} does not answer: {outcome.detail}")
    return ledger.llm_calls[-1].parameters_dropped


def model_uses(
    model: str,
    api_bases: dict[str, str | None],
    judging: JudgingParameters,
    steps: Iterable[Step[Any, Any]],
    *,
    seed: int | None,
    temperature: float | None,
) -> tuple[ModelUse, ...]:
    """Return every model that `steps` will call, with the efforts.

    Args:
        model: answers steps without an assigned model, but draws nothing.
        api_bases: by model; a missing model is called at its provider's address.
    """
    efforts: dict[tuple[str, bool], dict[Effort, None]] = {}
    for step in steps:
        effort = judging.assignment(step.name, step.kind, step.answer_tokens).effort
        for each in models_of_step(step, judging) or (() if step.draws else (model,)):
            efforts.setdefault((each, step.draws), {})[effort] = None
    return tuple(
        ModelUse(
            model=each,
            api_base=api_bases.get(each),
            efforts=tuple(step_efforts),
            sampling_seed=seed,
            temperature=temperature,
            draws=draws,
        )
        for (each, draws), step_efforts in efforts.items()
    )


async def check_model(
    model: str,
    api_base: str | None,
    settings: LanguageModelSettings,
    *,
    needs_price: bool = False,
    draws: bool = False,
) -> None:
    """Check a model without calling it.

    Raises:
        ConfigurationError: LiteLLM has no provider for the model, its key is missing or malformed,
            nothing listens at `api_base`, `needs_price` without a known price, or `draws` for a
            model that is known to give no pictures.
    """
    check_keys(model)
    litellm = library()
    import openai  # takes a second, and commands without a model do not need it

    try:
        litellm.get_llm_provider(model=model, api_base=api_base)
    except openai.OpenAIError as error:
        raise ConfigurationError(
            f"no such model {model!r}: write provider/model, such as litellm:openai/gpt-4o-mini"
        ) from error
    if draws and not draws_pictures(model):
        raise ConfigurationError(
            f"{model} gives no pictures: name an image model, such as openai/gpt-image-1"
        )
    if needs_price and price_of(model, settings) is None:
        raise ConfigurationError(
            f"no price is known for {model}, so a bound on cost cannot be kept: set "
            "ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS and "
            "…__COMPLETION_PRICE_USD_PER_MILLION_TOKENS"
        )
    if api_base is not None:
        await _check_connection(api_base)
        return
    missing_variables = litellm.validate_environment(model=model)["missing_keys"]
    missing = [name for name in missing_variables if name.endswith("_API_KEY")]
    if missing:
        raise ConfigurationError(f"model {model} needs {' and '.join(missing)} in the environment")


async def _check_connection(api_base: str) -> None:
    address = without_secrets(api_base)
    try:
        url = web_address(api_base)
    except InvalidURL:
        url = URL()
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    if not url.host or port is None:
        raise ConfigurationError(f"API base {address} is no URL: write it as http://host:port/v1")
    if proxy_of(url):
        return  # only the proxy may know the host; a small call to the model follows
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(url.host, port)
    except (OSError, TimeoutError) as error:
        cause, _ = connection_failure(error) or ("no answer", False)
        raise ConfigurationError(
            f"nothing answers at the API base {address}: {cause}; start the server or correct"
            " --api-base"
        ) from error
    writer.close()
