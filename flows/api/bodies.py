"""Request bodies of the API: the units of a job, and the options of its command."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo
from starlette.datastructures import QueryParams

from schemas.errors import ConfigurationError
from schemas.options.values import Options
from schemas.people.job import OfIdeas
from schemas.people.work_job import WorkJob
from tasks.ideas.limits import MAXIMUM_DEPTH, too_deep


def schema_of(options: type[Options], *, without: frozenset[str]) -> dict[str, Any]:
    schema = options.model_json_schema()
    parts = schema.pop("$defs", {})
    schema["properties"] = {
        name: _inline_refs(field, parts)
        for name, field in schema["properties"].items()
        if name not in without
    }
    return schema


def _inline_refs(schema: Any, parts: dict[str, Any]) -> Any:
    """Return a schema with each reference replaced by its definition.

    References would not resolve inside another schema.
    """
    if isinstance(schema, list):
        return [_inline_refs(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        definition = parts[schema["$ref"].rpartition("/")[2]]
        return _inline_refs(
            definition | {name: schema[name] for name in schema if name != "$ref"}, parts
        )
    return {name: _inline_refs(each, parts) for name, each in schema.items()}


NAME_CHARACTERS, MOST_IDEAS = 80, 10_000

Ideas = Annotated[
    list[str | dict[str, Any]],
    Field(
        min_length=1,
        max_length=MOST_IDEAS,
        description=(
            "Each a text, or an object with text, or with problem, method and experiment; idea_id,"
            " title, cutoff_date and group are optional."
        ),
    ),
]


def idea_lines(ideas: Sequence[str | dict[str, Any]]) -> str:
    """Return ideas as JSON Lines.

    Raises:
        ConfigurationError: an idea is nested too deeply or is not JSON.
    """
    entries = [{"text": idea} if isinstance(idea, str) else idea for idea in ideas]
    if any(too_deep(entry) for entry in entries):
        raise ConfigurationError(
            f"an idea is nested deeper than {MAXIMUM_DEPTH} levels: flatten it"
        )
    try:
        lines = [orjson.dumps(entry).decode() for entry in entries]
    except orjson.JSONEncodeError as error:
        raise ConfigurationError(f"an idea cannot be written as JSON: {error}") from error
    return "\n".join(lines) + "\n"


OptionsT = TypeVar("OptionsT", bound=Options)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(default="", max_length=80, description="What lists of jobs call it.")


def input_fields(job: type[WorkJob]) -> dict[str, tuple[Any, FieldInfo]]:
    """Return type and field of each input of a job, by name.

    Ideas are sent as a list and stored as JSON Lines.
    """
    if issubclass(job, OfIdeas):
        return {"ideas": (Ideas, Field())}
    return {name: (field.annotation, field) for name, field in job.sent_fields().items()}


def stored_fields(job: type[WorkJob], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a job as its fields store them.

    Raises:
        ConfigurationError: an idea cannot be written as JSON.
    """
    fields = dict(inputs)
    if issubclass(job, OfIdeas) and not isinstance(fields["ideas"], str):
        fields["ideas"] = idea_lines(fields["ideas"])
    return fields


def body_of(job: type[WorkJob]) -> type[BaseModel]:
    options: Any = job.model_fields["options"].annotation
    fields: dict[str, Any] = {**input_fields(job)}
    fields["options"] = (options, Field(default_factory=options))
    body: type[BaseModel] = create_model(f"{job.__name__}Body", __base__=_Body, **fields)
    return body


def options_of(kind: type[OptionsT], query: QueryParams) -> OptionsT:
    """Parse options from a query, named and written as on the command line.

    Raises:
        ConfigurationError: an option is unknown, repeated or invalid.
    """
    options: dict[str, Any] = {}
    for name in dict.fromkeys(query.keys()):
        values, field = query.getlist(name), kind.model_fields.get(name.replace("-", "_"))
        if name == "filename":
            continue
        if field is None:
            raise ConfigurationError(f"no option {name[:80]!r}")
        if field.annotation == tuple[str, ...]:
            options[name.replace("-", "_")] = tuple(values)
        elif len(values) > 1:
            raise ConfigurationError(f"the option {name!r} is said more than once")
        else:
            options[name.replace("-", "_")] = values[0]
    return kind(**options)
