"""The two bases every model stands on: a `Noun` crosses folders, a `Reply` is what an engine
answers.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

NounT = TypeVar("NounT", bound="Noun")


def encodable(text: str) -> bool:
    r"""Return whether `text` can be written as UTF-8: names of files, and escapes such as `\ud800`,
    may give what cannot.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


Writable = Annotated[str, AfterValidator(_writable)]
"""What is said about untrusted things.

Their names may hold what UTF-8 cannot; the words about them land all the same.
"""


class Severity(StrEnum):
    """Severity of a violation: whether it keeps a run out of the lake."""

    CRITICAL = "critical"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Facts about a field's column beyond the field's type, bounds and description.

    Attributes:
        prose: whether it is long text, which checks do without.
        unit: of a number whose name does not end in its unit.
        minimum, maximum: bounds of a field whose own validation makes other values unknown.
        pattern: Pattern that non-empty text must match at its start.
        nullable: whether the column may hold NULL although the field is never None.
        may_be_empty: whether a hash may be empty.
        allowed: the closed list of words, where it is not the whole enum of the field.
        references: `table.column` that must hold the value for the same run and idea.
        reference_severity: how grave a dangling reference is.
    """

    prose: bool = False
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    nullable: bool = False
    may_be_empty: bool = False
    allowed: tuple[str, ...] = ()
    references: str | None = None
    reference_severity: Severity = Severity.CRITICAL


Prose = Annotated[str, Stored(prose=True)]


class Noun(BaseModel):
    """A frozen, strict, closed value: no coercion, no unknown field,
    no change after construction, no NaN and no infinity.
    """

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", defer_build=True, allow_inf_nan=False
    )


class Reply(BaseModel):
    """What an engine answers to a step.

    Models write `"7"` for 7 and add fields nobody asked for, so a reply coerces and ignores where a
    `Noun` refuses; bounds on its fields still hold.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True, allow_inf_nan=False)


def replace(noun: NounT, **changes: Any) -> NounT:
    """Copy `noun` with `changes`, validated (pydantic's own `model_copy` skips validation).

    Raises:
        pydantic.ValidationError: a changed field breaks its type or bounds.
    """
    fields = {name: getattr(noun, name) for name in type(noun).model_fields}
    return type(noun)(**{**fields, **changes})
