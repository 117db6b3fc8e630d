"""What OpenAI and Anthropic say of a JSON schema that their structured output does not take.

Sources: https://developers.openai.com/api/docs/guides/structured-outputs ("Supported schemas") and
https://platform.claude.com/docs/en/build-with-claude/structured-outputs ("JSON Schema
limitations").
"""

import copy
import re
from collections.abc import Iterator
from typing import Any

Path = tuple[str, ...]

_OPENAI_REFUSES = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "default", "propertyNames"}
    | {"dependentRequired", "dependentSchemas", "patternProperties", "uniqueItems", "contains"}
    | {"minLength", "maxLength", "minProperties", "maxProperties", "unevaluatedProperties"}
)
_BOUND = re.compile(r"(minimum|maximum) value: (-?\d+(?:\.\d+)?)")
_ANTHROPIC_REFUSES = {
    "integer": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "string": ("maxLength", "minLength"),
    "array": ("maxItems", "uniqueItems"),
}


def openai_complaint(schema: Any) -> str | None:
    """The first thing OpenAI's strict mode finds wrong, in its words; None: nothing."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        found = schema.get("type") if isinstance(schema, dict) else schema
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{found}\"'."
    return next((f"In context={path}, {said}" for path, said in _openai_complaints(schema)), None)


def _openai_complaints(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for path, node in _nodes(schema, ()):
        for keyword in sorted(node.keys() & _OPENAI_REFUSES):
            yield path, f"'{keyword}' is not permitted."
        if "$ref" in node and len(node) > 1:
            others = sorted(node.keys() - {"$ref"})
            yield path, f"$ref cannot have keywords {set(others)}."
        if node.get("type") != "object":
            continue
        if node.get("additionalProperties") is not False:
            yield path, "'additionalProperties' is required to be supplied and to be false."
        missing = [key for key in node.get("properties", {}) if key not in node.get("required", [])]
        if missing:
            yield (
                path,
                (
                    "'required' is required to be supplied and to be an array including every key"
                    f" in properties. Missing '{missing[0]}'."
                ),
            )


def anthropic_complaint(schema: Any) -> str | None:
    """The first thing Anthropic's structured output finds wrong, in its words; None: nothing."""
    for _, node in _nodes(schema, ()):
        kind = node.get("type")
        refused = [key for key in _ANTHROPIC_REFUSES.get(kind, ()) if key in node]
        if len(refused) == 1:
            return f"For '{kind}' type, property '{refused[0]}' is not supported"
        if refused:
            return f"For '{kind}' type, properties {', '.join(refused)} are not supported"
        if node.get("minItems", 0) > 1:
            return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
        if kind == "object" and node.get("additionalProperties") is not False:
            return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    return None


def with_bounds_in_words(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as a model reads it: LiteLLM says the bounds that Claude's
    schemas lack in words.
    """
    read = copy.deepcopy(schema)
    for _, node in _nodes(read, ()):
        for bound, value in _BOUND.findall(str(node.get("description", ""))):
            node.setdefault(bound, float(value) if "." in value else int(value))
    return read


def _nodes(node: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every subschema with the way to it."""
    if not isinstance(node, dict):
        return
    yield path, node
    for key in ("properties", "$defs"):
        for name, inner in node.get(key, {}).items():
            yield from _nodes(inner, (*path, key, name))
    yield from _nodes(node.get("items"), (*path, "items"))
    for key in ("anyOf", "oneOf", "allOf"):
        for number, inner in enumerate(node.get(key, ())):
            yield from _nodes(inner, (*path, key, str(number)))
