"""What programs send: what is worked on, and the options of the command line."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo
from starlette.datastructures import QueryParams

from flows.api.sent_ideas import Ideas, idea_lines
from schemas.errors import ConfigurationError
from schemas.options.values import Options
from schemas.people.job import OfIdeas
from schemas.people.work_job import WorkJob

OptionsT = TypeVar("OptionsT", bound=Options)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(default="", max_length=80, description="What lists of jobs call it.")


def asked_of(job: type[WorkJob]) -> dict[str, tuple[Any, FieldInfo]]:
    """What a program sends to be worked on, by name: type and meaning.

    Ideas are sent one by one, and are kept as the file they would be.
    """
    if issubclass(job, OfIdeas):
        return {"ideas": (Ideas, Field())}
    return {name: (field.annotation, field) for name, field in job.sent_fields().items()}


def as_kept(job: type[WorkJob], sent: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent, by the fields of the job.

    Raises:
        ConfigurationError: ideas that cannot be written.
    """
    kept = dict(sent)
    if issubclass(job, OfIdeas) and not isinstance(kept["ideas"], str):
        kept["ideas"] = idea_lines(kept["ideas"])
    return kept


def body_of(job: type[WorkJob]) -> type[BaseModel]:
    """What a program sends to have work of a declared kind done."""
    options: Any = job.model_fields["options"].annotation
    sent: dict[str, Any] = {**asked_of(job)}
    sent["options"] = (options, Field(default_factory=options))
    body: type[BaseModel] = create_model(f"{job.__name__}Body", __base__=_Body, **sent)
    return body


def options_of(kind: type[OptionsT], query: QueryParams) -> OptionsT:
    """Options as they stand in a query, `filename` apart: named and written as on the command line.

    Raises:
        ConfigurationError: one is unknown, said twice, or cannot be meant.
    """
    told: dict[str, Any] = {}
    for name in dict.fromkeys(query.keys()):
        values, field = query.getlist(name), kind.model_fields.get(name.replace("-", "_"))
        if name == "filename":
            continue
        if field is None:
            raise ConfigurationError(f"no option {name[:80]!r}")
        if field.annotation == tuple[str, ...]:
            told[name.replace("-", "_")] = tuple(values)
        elif len(values) > 1:
            raise ConfigurationError(f"the option {name!r} is said more than once")
        else:
            told[name.replace("-", "_")] = values[0]
    return kind(**told)
