"""Parts that replies of several steps are made of.

A list of answers about several things survives one broken entry: entries outside their bounds are
left out, and the caller leaves those things unscored. A reply without a sound entry is unparsable.
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
    """Validate a list; where that fails, the entries that are sound on their own."""
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
    """Models write null for nothing to say, and a list where several paragraphs were meant."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return value


Prose = Annotated[str, BeforeValidator(_prose)]


def _percent(value: Any) -> Any:
    """`62`, `62.0`, `"62 %"` and `0.62` as models write them (`0.5 %` is no share); the
    rest is left for the bounds."""
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
    # Rounded beyond the bounds, -0.4 and 100.4 would be 0 and 100.
    if not isinstance(value, float) or not 0 <= value <= 100:
        return value
    return round(100 * value) if value < 1 and is_share else round(value)


Percent = Annotated[int, BeforeValidator(_percent)]
# Bounds that stand after the validator would be missing from the JSON schema of an optional field.
OptionalPercent = Annotated[int, Field(ge=0, le=100), BeforeValidator(_percent)] | None


def word_of(words: Iterable[StrEnum]) -> BeforeValidator:
    """For a field that holds one of `words` or None.

    Spaces, hyphens and capitals make no difference. Any other word becomes None, so that one wrong
    word does not cost the whole reply, and whoever reads the entry sees that it is missing.
    """

    allowed = tuple(words)

    def read(value: object) -> object:
        word = "_".join(str(value).casefold().replace("-", " ").split())
        return next((each for each in allowed if each.value == word), None)

    return BeforeValidator(read)


def schema_of(words: Iterable[StrEnum]) -> WithJsonSchema:
    """The JSON schema of a field that holds some words of an enum only, as `word_of` reads them."""
    return WithJsonSchema({"type": "string", "enum": [word.value for word in words]})


class Keyed(Protocol):
    """An answer about one of several things."""

    @property
    def key(self) -> str: ...


class KeyedEntry(Reply):
    """An entry of a reply about several things, told apart by key."""

    key: Key = Field(description="The key of the paper, exactly as shown.")


def by_key(entries: Sequence[EntryT], keys: Iterable[str]) -> dict[str, EntryT]:
    """The entries under the keys that were shown, whatever their case; a key answered twice with
    different content is left out.
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
