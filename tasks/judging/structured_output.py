"""Output modes: JSON schema, JSON object, schema in the prompt, or picture."""

import json
from enum import StrEnum
from functools import lru_cache
from typing import Any

from schemas.base import Reply
from tasks.judging.models import model_info
from tasks.web.litellm_library import library

_NOT_IN_STRICT_SCHEMAS = frozenset({"title", "default", "minLength", "maxLength", "examples"})


class OutputMode(StrEnum):
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"
    PICTURE = "picture"


def output_mode(model: str, structured_output: str) -> OutputMode:
    """Return the output mode of a model.

    The setting decides or, with `auto`, LiteLLM's table. For a model unknown to LiteLLM the schema
    is in the prompt, which every server supports.
    """
    if structured_output != "auto":
        return OutputMode(structured_output)
    litellm = library()
    if not model_info(model):
        return OutputMode.TEXT
    if litellm.supports_response_schema(model=model):
        return OutputMode.JSON_SCHEMA
    parameter_names = litellm.get_supported_openai_params(model=model) or []
    return OutputMode.JSON_OBJECT if "response_format" in parameter_names else OutputMode.TEXT


def response_format(
    mode: OutputMode, name: str, output_model: type[Reply]
) -> dict[str, Any] | None:
    """Return the `response_format` parameter of a call; None for text and pictures."""
    if mode in (OutputMode.TEXT, OutputMode.PICTURE):
        return None
    if mode is OutputMode.JSON_OBJECT:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": strict_schema(output_model), "strict": True},
    }


@lru_cache(maxsize=128)
def schema_instruction(output_model: type[Reply]) -> str:
    """Return the schema as text for the system message."""
    schema = json.dumps(strict_schema(output_model), ensure_ascii=False, separators=(",", ":"))
    return (
        "Answer with one JSON object and nothing else. It has to match this JSON"
        f" schema:\n```json\n{schema}\n```"
    )


@lru_cache(maxsize=128)
def strict_schema(output_model: type[Reply]) -> dict[str, Any]:
    """Return the model's JSON schema in the subset that providers enforce.

    Objects are closed and every field is required. String lengths are validated on the reply only.
    The result is cached: do not modify it.
    """
    schema: dict[str, Any] = _strict(output_model.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict_node = {
        key: {name: _strict(inner) for name, inner in value.items()}
        if key in ("properties", "$defs")
        else _strict(value)
        for key, value in node.items()
        if key not in _NOT_IN_STRICT_SCHEMAS
    }
    if "properties" in strict_node:
        strict_node["required"] = list(strict_node["properties"])
        strict_node["additionalProperties"] = False
    return strict_node
