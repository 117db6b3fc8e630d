"""Base classes of all models: `Noun` for values, `Reply` for the replies of engines."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

NounT = TypeVar("NounT", bound="Noun")


def encodable(text: str) -> bool:
    """Return whether `text` can be encoded as UTF-8, which lone surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


Writable = Annotated[str, AfterValidator(_writable)]
"""Text that may quote untrusted names; characters that UTF-8 cannot encode are replaced."""


class Severity(StrEnum):
    """Severity of a violation: whether it keeps a run out of the lake."""

    CRITICAL = "critical"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnInfo:
    """Column properties that a field's type, bounds and description do not state.

    Attributes:
        prose: whether it is long text, which validation skips.
        unit: of a number, unless the field's name ends in the unit.
        minimum, maximum: bounds, where a validator replaces other values by None.
        pattern: pattern at the start of non-empty text.
        nullable: whether the column may be NULL although the field is never None.
        may_be_empty: whether a hash may be empty.
        allowed: allowed values, if they are not the whole enum.
        references: `table.column` that must contain the value for the same run and idea.
        reference_severity: severity of a dangling reference.
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


Prose = Annotated[str, ColumnInfo(prose=True)]


class Noun(BaseModel):
    """Immutable value: strict types, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", defer_build=True, allow_inf_nan=False
    )


class Reply(BaseModel):
    """Base of the replies of engines.

    Models write `"7"` for 7 and add fields, so a reply coerces types and ignores unknown fields,
    where a `Noun` refuses both. Bounds on the fields still apply.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True, allow_inf_nan=False)


def first_fault(error: ValidationError) -> str:
    """Return the first invalid key of a file and what is wrong with it, in one line."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    fault = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"`{key}`: {fault}" if key else fault


def replace(noun: NounT, **changes: Any) -> NounT:
    """Copy `noun` with `changes`, validated (pydantic's own `model_copy` skips validation).

    Raises:
        pydantic.ValidationError: a changed field breaks its type or bounds.
    """
    fields = {name: getattr(noun, name) for name in type(noun).model_fields}
    return type(noun)(**{**fields, **changes})
