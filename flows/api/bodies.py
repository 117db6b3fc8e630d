"""What programs send: ideas, and the options of the command line."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import QueryParams

from flows.service import IdeaFile
from flows.survey_request import LONGEST_QUESTION
from schemas.errors import ConfigurationError
from schemas.job import IDEAS_FORMATS, IdeasFormat
from schemas.option_values import Options
from schemas.options import AskOptions, EvaluateOptions, PlanOptions

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

    ideas: Ideas
    name: str = Field(default="", max_length=80, description="What lists of jobs call them.")


class EvaluateBody(_Body):
    """Ideas to evaluate, and the options of `assay evaluate`."""

    options: EvaluateOptions = Field(default_factory=EvaluateOptions)


class PlanBody(_Body):
    """Ideas to plan, and the options of `assay plan`."""

    options: PlanOptions = Field(default_factory=PlanOptions)


class AskBody(BaseModel):
    """A question, and the options of `assay ask`."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    options: AskOptions = Field(default_factory=AskOptions)


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


def uploaded(content: bytes, filename: str) -> IdeaFile:
    """A file of ideas that was sent as it is.

    Raises:
        ConfigurationError: it is no text, or its format is not known.
    """
    ending = filename.rpartition(".")[2].lower()
    found: IdeasFormat | None = next((each for each in IDEAS_FORMATS if each == ending), None)
    if found is None:
        raise ConfigurationError(
            f"filename {filename[-80:]!r} ends in none of {', '.join(IDEAS_FORMATS)}"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if not text.strip() or "\x00" in text:
        raise ConfigurationError("the file is no UTF-8 text, or empty")
    return IdeaFile(content=text, ending=found)
