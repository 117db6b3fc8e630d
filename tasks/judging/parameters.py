"""Parameters that a model accepts, by LiteLLM's tables and its provider's refusals."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from schemas.judging import Effort
from schemas.settings import LanguageModelSettings
from tasks.judging.models import is_claude, model_info
from tasks.judging.structured_output import OutputMode, output_mode
from tasks.web.litellm_library import library
from warehouse.scrubbing import without_secrets
from warehouse.stores.keyed_store import KeyedStore, json_entry

_ASSUMED_CONTEXT_TOKENS = 32_768
_REMEMBERED_SECONDS = 86_400.0
"""Longer than a run, so that refused parameters are retried on the next day."""

THINKING_ROOM_TOKENS = {
    Effort.NONE: 2_048,  # some models cannot stop thinking altogether
    Effort.LOW: 8_192,
    Effort.MEDIUM: 16_384,
    Effort.HIGH: 32_768,
}
"""Tokens for thinking, in addition to the answer. The 95th percentiles over 245 manuscripts, at
default effort, are 7,808 (o3), 8,365 (o4-mini), 17,450 (Gemini 2.5 Flash) and 22,370 (Pro).
"""

_NEAREST_EFFORTS = {
    Effort.NONE: ("none", "minimal", "low", "medium", "high"),
    Effort.LOW: ("low", "minimal", "medium", "high"),
    Effort.MEDIUM: ("medium", "high", "low"),
    Effort.HIGH: ("high", "medium", "low"),
}
_LOWER_MODES = {
    OutputMode.JSON_SCHEMA: OutputMode.JSON_OBJECT,
    OutputMode.JSON_OBJECT: OutputMode.TEXT,
}
_OLLAMA = ("ollama/", "ollama_chat/")
_REPLY_LIMIT_PREFIX = "reply_tokens="
_THINKING = "thinking"
_LEAST_REPLY_TOKENS = 1_024


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters, sent to models that take them."""

    seed: int | None = None
    temperature: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of one call, without messages, format and address.

    Attributes:
        values: by LiteLLM's names.
        dropped: requested parameters that are omitted or changed; None: none.
    """

    values: dict[str, Any]
    dropped: str | None


class ModelParameters:
    """Parameters that one model at one address accepts.

    Refusals are remembered for a day.

    Args:
        store: store of refusals for all workers; None: refusals are kept in this object.
    """

    def __init__(
        self,
        model: str,
        settings: LanguageModelSettings,
        *,
        api_base: str | None = None,
        store: KeyedStore | None = None,
    ) -> None:
        self.model = model
        self._settings = settings
        self._store = store
        self._key = f"refused {model} {without_secrets(api_base) if api_base else ''}"
        self._info = model_info(model)
        self._refusals = self._load_refusals()
        self._known_to_think = _thinks(model, settings)
        self.wanted_mode = self._wanted_mode()

    @property
    def thinks(self) -> bool:
        """True if an effort is sent to the model."""
        return self._known_to_think and _THINKING not in self._refusals

    @property
    def context_tokens(self) -> int:
        """Context length in tokens: the setting, else LiteLLM's table, else 32,768."""
        listed_tokens = self._info.get("max_input_tokens") or self._info.get("max_tokens")
        return int(self._settings.context_tokens or listed_tokens or _ASSUMED_CONTEXT_TOKENS)

    @property
    def largest_reply_tokens(self) -> int:
        """First limit of a reply, at most half of the context."""
        return min(self.room_for_reply(0), self.context_tokens // 2)

    def room_for_reply(self, prompt_tokens: int) -> int:
        """Return the longest reply in tokens after a prompt of this length."""
        most_tokens = int(self._info.get("max_output_tokens") or self.context_tokens)
        refused_bounds = [
            int(entry.removeprefix(_REPLY_LIMIT_PREFIX))
            for entry in self._refusals
            if entry.startswith(_REPLY_LIMIT_PREFIX)
        ]
        return min(
            most_tokens,
            self.context_tokens - prompt_tokens,
            *(bound // 2 for bound in refused_bounds),
        )

    def reply_tokens(self, answer_tokens: int, effort: Effort) -> int:
        """Return the limit of a reply in tokens, thinking included."""
        # OpenAI's thinking models are those that do not take `max_tokens`.
        thinks = self.thinks or "max_tokens" in self._refusals
        room = THINKING_ROOM_TOKENS[effort] if thinks else 0
        return min(answer_tokens + room, self.largest_reply_tokens)

    @property
    def mode(self) -> OutputMode:
        """Preferred output mode, or the next lower one not refused."""
        mode = self.wanted_mode
        while f"response_format={mode}" in self._refusals:
            mode = _LOWER_MODES[mode]
        return mode

    def of_call(self, sampling: Sampling, effort: Effort, reply_tokens: int) -> Parameters:
        """Return the parameters of a call with this effort and reply limit."""
        limit = "max_completion_tokens" if "max_tokens" in self._refusals else "max_tokens"
        values: dict[str, Any] = {limit: reply_tokens}
        if self.model.startswith(_OLLAMA):
            # Ollama otherwise cuts prompts at 4,096 tokens without an error.
            values["num_ctx"] = self.context_tokens
        dropped_names = []
        if self.thinks:
            values |= self._effort(effort)
            sent_effort = "none" if "thinking" in values else values.get("reasoning_effort")
            if sent_effort != effort.value:
                dropped_names.append(
                    f"effort={effort.value}" + (f" (sent {sent_effort})" if sent_effort else "")
                )
        for name in ("seed", "temperature"):
            value = getattr(sampling, name)
            if value is None:
                continue
            if self._takes(name, value, values):
                values[name] = value
            else:
                dropped_names.append(name)
        if self.mode is not self.wanted_mode:
            dropped_names.append(f"response_format={self.wanted_mode}")
        return Parameters(values, ", ".join(sorted(dropped_names)) or None)

    def of_picture(self, sampling: Sampling) -> Parameters:
        """Return the parameters of a call for a picture in bytes.

        LiteLLM drops the format for models that only return bytes.
        """
        format_refused = f"response_format={OutputMode.PICTURE}" in self._refusals
        dropped_names = [
            name for name in ("seed", "temperature") if getattr(sampling, name) is not None
        ]
        dropped_names += ["response_format"] if format_refused else []
        return Parameters(
            {} if format_refused else {"response_format": "b64_json", "drop_params": True},
            ", ".join(sorted(dropped_names)) or None,
        )

    def learn(self, parameter: str, call: Parameters, mode: OutputMode) -> bool:
        """Remember a refused parameter; return False if nothing can be omitted.

        Args:
            parameter: a result of `named_parameter`.
            call: parameters of the refused call.
            mode: its output mode.
        """
        if parameter == "response_format":
            sends_none = mode is OutputMode.PICTURE and "response_format" not in call.values
            if mode is OutputMode.TEXT or sends_none:
                return False
            entry = f"response_format={mode}"
        elif parameter in ("effort", _THINKING):
            if "reasoning_effort" not in call.values:
                return False
            effort = f"effort={call.values['reasoning_effort']}"
            entry = _THINKING if parameter == _THINKING else effort
        elif parameter == "reply_tokens":
            refused_bound = call.values.get("max_tokens") or call.values["max_completion_tokens"]
            if refused_bound < _LEAST_REPLY_TOKENS:
                return False
            entry = f"{_REPLY_LIMIT_PREFIX}{refused_bound}"
        elif parameter in call.values:
            entry = parameter
        else:
            return False
        self._refusals = self._load_refusals() | self._refusals | {entry}
        if self._store is not None:
            self._store.put_many({self._key: json.dumps(sorted(self._refusals)).encode()})
        return True

    def _load_refusals(self) -> frozenset[str]:
        if self._store is None:
            return frozenset()
        content = self._store.get_many([self._key], _REMEMBERED_SECONDS).get(self._key)
        entries = json_entry(content)
        return frozenset(map(str, entries)) if isinstance(entries, list) else frozenset()

    def _wanted_mode(self) -> OutputMode:
        mode = output_mode(self.model, self._settings.structured_output)
        if mode is OutputMode.JSON_SCHEMA and self.thinks and _forces_a_tool(self.model):
            # For older Claude models LiteLLM turns a schema into a forced tool call, which the API
            # refuses together with thinking.
            return OutputMode.TEXT
        return mode

    def _effort(self, effort: Effort) -> dict[str, Any]:
        if effort is Effort.NONE and self._info.get("supports_adaptive_thinking"):
            # Claude models with adaptive thinking think unless it is disabled, and LiteLLM sends
            # nothing for `none`. Models that always think get the lowest effort.
            # https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
            off = {} if self._info.get("thinking_always_on") else {"thinking": {"type": "disabled"}}
            return {"reasoning_effort": "low", **off}
        for value in _NEAREST_EFFORTS[effort]:
            if f"effort={value}" in self._refusals:
                continue
            if self._settings.thinking == "yes":
                # LiteLLM does not list this model as thinking and would drop the parameter.
                return {"reasoning_effort": value, "allowed_openai_params": ["reasoning_effort"]}
            if _accepts(self.model, (("reasoning_effort", value),)):
                return {"reasoning_effort": value}
        return {}

    def _takes(self, name: str, value: float, values: dict[str, Any]) -> bool:
        if name in self._refusals:
            return False
        if name == "seed" and self._info.get("mode") == "responses":
            return False  # the Responses API has none, and LiteLLM drops it silently
        effort = values.get("reasoning_effort")
        thinking = effort not in (None, "none") and "thinking" not in values
        if name == "temperature" and value != 1 and thinking and is_claude(self.model):
            # https://platform.claude.com/docs/en/build-with-claude/extended-thinking
            # ("Feature compatibility"); LiteLLM sends both.
            return False
        effort_values = (("reasoning_effort", effort),) if effort else ()
        if effort and self._settings.thinking == "yes":
            effort_values = ()
        return _accepts(self.model, (*effort_values, (name, value)))


def _thinks(model: str, settings: LanguageModelSettings) -> bool:
    """Return whether the model takes an effort.

    The setting decides, else LiteLLM's table.
    """
    if settings.thinking != "auto":
        return settings.thinking == "yes"
    if model.startswith(_OLLAMA):
        return (
            True  # LiteLLM has no data on these; a refusal by a model that cannot think is stored
        )
    return bool(library().supports_reasoning(model=model))


@lru_cache(maxsize=1024)
def _accepts(model: str, values: tuple[tuple[str, Any], ...]) -> bool:
    """Return whether LiteLLM's own check accepts these values together."""
    return _map_parameters(model, dict(values)) is not None


@lru_cache(maxsize=128)
def _forces_a_tool(model: str) -> bool:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    response_format = {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": schema, "strict": True},
    }
    parameters = _map_parameters(model, {"response_format": response_format})
    return parameters is not None and "tool_choice" in parameters


def _map_parameters(model: str, values: dict[str, Any]) -> dict[str, Any] | None:
    """Return LiteLLM's provider parameters for `values`; None: it refuses them."""
    if model.startswith(_OLLAMA):
        return values  # LiteLLM would query the server, and Ollama accepts all of them
    import openai  # takes a second, and commands without a model do not need it

    litellm = library()
    try:
        name, provider, _, _ = litellm.get_llm_provider(model=model)
        parameters: dict[str, Any] = litellm.utils.get_optional_params(
            model=name, custom_llm_provider=provider, drop_params=False, **values
        )
    except openai.OpenAIError:
        return None
    return parameters


_SPELLINGS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("temperature", ("temperature",)),
    (_THINKING, ("does not support thinking",)),
    ("effort", ("reasoning_effort", "reasoning.effort", "thinking", "output_config")),
    ("max_tokens", ("max_tokens",)),
    ("reply_tokens", ("max_tokens", "max_completion_tokens", "maxoutputtokens")),
    ("seed", ("seed",)),
    (
        "response_format",
        (
            "response_format",
            "json_schema",
            "json_object",
            "output_format",
            "response_json_schema",
            "response_schema",
            "responseschema",
            "text.format",
            "guided_json",
            "structured output",
        ),
    ),
)
_READ_CHARACTERS = 1_000


def named_parameter(text: str, parameter: str | None) -> str | None:
    """Return the refused parameter, None if none can be omitted.

    One of `temperature`, `thinking` (at any effort), `effort`, `max_tokens` (the name),
    `reply_tokens` (its value), `seed` and `response_format`.

    Args:
        text: message of the refusal.
        parameter: the `param` of an OpenAI error, if any.
    """
    lower = text[:_READ_CHARACTERS].lower()
    for searched_text in (parameter.lower() if parameter else "", lower):
        for name, spellings in _SPELLINGS:
            if name == "max_tokens" and "max_completion_tokens' instead" not in lower:
                continue  # the value is too large; the name is not unknown
            if any(spelling in searched_text for spelling in spellings):
                return name
    return None
