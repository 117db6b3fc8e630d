"""The options of a command as a JSON schema, for whom they are offered to."""

from typing import Any

from schemas.options.values import Options


def schema_of(options: type[Options], *, without: frozenset[str]) -> dict[str, Any]:
    """Those that a request may say: all but `without`."""
    schema = options.model_json_schema()
    parts = schema.pop("$defs", {})
    schema["properties"] = {
        name: _inlined(told, parts)
        for name, told in schema["properties"].items()
        if name not in without
    }
    return schema


def _inlined(schema: Any, parts: dict[str, Any]) -> Any:
    """A schema with its parts in place of their names, which mean nothing inside another one."""
    if isinstance(schema, list):
        return [_inlined(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = parts[schema["$ref"].rpartition("/")[2]]
        return _inlined(named | {name: schema[name] for name in schema if name != "$ref"}, parts)
    return {name: _inlined(each, parts) for name, each in schema.items()}
