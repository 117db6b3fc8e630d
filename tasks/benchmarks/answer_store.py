"""Answers of a benchmark on disk as they come, each with the calls paid for it: a kill loses calls in flight only."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from schemas.base import Noun
from schemas.calls import LlmCall
from warehouse.keyed_store import KeyedStore


class KeptAnswer(Noun):
    """One item's result, as JSON, and every call made for it, earlier attempts included."""

    result: str
    ask_again: bool = Field(description="Whether asking again may bring what is missing.")
    calls: tuple[LlmCall, ...]


class AnswerStore:
    """Answers of one benchmark by key. Raises as `KeyedStore` does."""

    def __init__(self, path: Path) -> None:
        self._store = KeyedStore(path)

    def read(self, keys: Sequence[str]) -> dict[str, KeptAnswer]:
        """What is kept under `keys`; an entry of another version counts as none."""
        found = {}
        for key, entry in self._store.get_many(keys).items():
            try:
                found[key] = KeptAnswer.model_validate_json(entry)
            except ValidationError:
                continue
        return found

    def keep(self, key: str, answer: KeptAnswer) -> None:
        self._store.put_many({key: answer.model_dump_json().encode()})

    def close(self) -> None:
        self._store.close()
