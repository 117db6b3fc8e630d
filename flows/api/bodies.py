"""What programs send: ideas, and the options of the command line."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.datastructures import QueryParams

from schemas.errors import ConfigurationError
from schemas.options.commands import (
    EvaluateOptions,
    PlanOptions,
    RankOptions,
)
from schemas.options.values import Options
from schemas.people.work_job import WorkJob

MOST_IDEAS = 10_000
OptionsT = TypeVar("OptionsT", bound=Options)

Ideas = Annotated[
    list[str | dict[str, Any]],
    Field(
        min_length=1,
        max_length=MOST_IDEAS,
        description="Each a text, or an object with the fields of an idea file.",
    ),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(default="", max_length=80, description="What lists of jobs call it.")


class _IdeasBody(_Body):
    ideas: Ideas


class EvaluateBody(_IdeasBody):
    """Ideas to evaluate, and the options of `assay evaluate`."""

    options: EvaluateOptions = Field(default_factory=EvaluateOptions)


class PlanBody(_IdeasBody):
    """Ideas to plan, and the options of `assay plan`."""

    options: PlanOptions = Field(default_factory=PlanOptions)


class RankBody(_Body):
    """A published run to rank, and the options of `assay rank`."""

    run_id: str = Field(min_length=1, max_length=200)
    options: RankOptions = Field(default_factory=RankOptions)


def body_of(job: type[WorkJob]) -> type[BaseModel]:
    """What a program sends to have work of a declared kind done."""
    options: Any = job.model_fields["options"].annotation
    sent: dict[str, Any] = {
        name: (field.annotation, field) for name, field in job.sent_fields().items()
    }
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
