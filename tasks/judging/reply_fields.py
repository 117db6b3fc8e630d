"""Field types shared by the replies of several steps.

A list of entries survives a broken one: invalid entries are omitted, and the caller leaves their
items unscored. A reply without a valid entry is unparsable.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from schemas.base import Reply

EntryT = TypeVar("EntryT", bound="Keyed")


def _bare_key(value: Any) -> Any:
    return value.strip().strip("[]()").strip() if isinstance(value, str) else value


def _sound_entries(values: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Validate a list.

    If that fails, keep the entries that are valid on their own.
    """
    try:
        return validate(values)
    except ValidationError:
        sound = (
            [value for value in values if _is_sound(value, validate)]
            if isinstance(values, list)
            else []
        )
        if not sound:
            raise
        return validate(sound)


def _is_sound(value: Any, validate: ValidatorFunctionWrapHandler) -> bool:
    try:
        validate([value])
    except ValidationError:
        return False
    return True


SoundEntries = WrapValidator(_sound_entries)

Key = Annotated[str, BeforeValidator(_bare_key), Field(min_length=1)]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _prose(value: object) -> object:
    """Read null as an empty text and a list as paragraphs."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return value


Prose = Annotated[str, BeforeValidator(_prose)]


def _percent(value: Any) -> Any:
    """Convert `62`, `62.0`, `"62 %"` and `0.62` to 62.

    Other values are left for validation.

    `0.5 %` is not read as a share.
    """
    if isinstance(value, bool):
        raise ValueError("a truth value is no percentage")
    is_share = True
    if isinstance(value, str):
        text = value.strip()
        is_share = not text.endswith("%")
        try:
            value = float(text.removesuffix("%"))
        except ValueError:
            return value
    # Outside the bounds no rounding: -0.4 and 100.4 would become valid.
    if not isinstance(value, float) or not 0 <= value <= 100:
        return value
    return round(100 * value) if value < 1 and is_share else round(value)


Percent = Annotated[int, BeforeValidator(_percent)]
# Bounds after the validator would be missing from the JSON schema of an optional field.
OptionalPercent = Annotated[int, Field(ge=0, le=100), BeforeValidator(_percent)] | None


def word_of(words: Iterable[StrEnum]) -> BeforeValidator:
    """Return a validator for one of `words` or None.

    Spaces, hyphens and capitals are ignored. Any other word becomes None, so that one wrong word
    does not invalidate the whole reply.
    """
    allowed_words = tuple(words)

    def read(value: object) -> object:
        word = "_".join(str(value).casefold().replace("-", " ").split())
        return next((each for each in allowed_words if each.value == word), None)

    return BeforeValidator(read)


def schema_of(words: Iterable[StrEnum]) -> WithJsonSchema:
    """Return the JSON schema of a field that `word_of` validates."""
    return WithJsonSchema({"type": "string", "enum": [word.value for word in words]})


class Keyed(Protocol):
    """An answer about one of several things."""

    @property
    def key(self) -> str: ...


class KeyedEntry(Reply):
    """An entry of a reply about several things, told apart by key."""

    key: Key = Field(description="The key of the paper, exactly as shown.")


def by_key(entries: Sequence[EntryT], keys: Iterable[str]) -> dict[str, EntryT]:
    """Return the entries by prompt key, ignoring case.

    A key with contradicting entries is omitted.
    """
    canonical = {key.casefold(): key for key in keys}
    entries_by_key: dict[str, EntryT] = {}
    contradicted_keys: set[str] = set()
    for entry in entries:
        key = canonical.get(entry.key.casefold())
        if key is None:
            continue
        if key in entries_by_key and entries_by_key[key] != entry:
            contradicted_keys.add(key)
        entries_by_key.setdefault(key, entry)
    return {key: entry for key, entry in entries_by_key.items() if key not in contradicted_keys}
