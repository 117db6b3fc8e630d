"""The loop over items: kept as they come, asked once, and asked again only where it may help."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.items import AnswerStore, ItemContext, Kept, work_through
from tests.support.evaluations import make_llm_call


class Length(Kept):
    characters: int | None


def context_of(item_id: str) -> ItemContext:
    return ItemContext(None, None, Ledger(IdeaId(item_id)))  # type: ignore[arg-type]


def through(folder: Path, items: dict[str, str], work: Any, task: str = "length") -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        store = AnswerStore(folder / "answers.sqlite")
        try:
            return await work_through(
                task,
                items,
                work,
                Length,
                store=store,
                context_of=context_of,
                concurrency=3,
            )
        finally:
            store.close()

    return asyncio.run(run())


def test_a_death_loses_only_what_was_under_way(tmp_path: Path) -> None:
    done: list[str] = []

    async def dies_at_c(text: str, context: ItemContext) -> Length:
        if text == "c":
            await asyncio.sleep(0.2)
            raise RuntimeError("killed")
        done.append(text)
        return Length(characters=len(text))

    async def counts(text: str, context: ItemContext) -> Length:
        done.append(text)
        return Length(characters=len(text))

    items = {name: name for name in "abcd"}
    with pytest.raises(ExceptionGroup):
        through(tmp_path, items, dies_at_c)
    found = through(tmp_path, items, counts)
    assert list(found) == list(items)
    assert sorted(done) == ["a", "b", "c", "d"]


def test_what_may_go_better_is_asked_again_and_its_earlier_calls_stay_on_the_bill(
    tmp_path: Path,
) -> None:
    answers = iter([None, 1])

    async def second_time_better(text: str, context: ItemContext) -> Length:
        context.ledger.llm_calls.append(make_llm_call(context.ledger.idea_id, 1))
        characters = next(answers)
        lacking = None if characters else Reason.TIMED_OUT
        return Length(characters=characters, reason=lacking)

    assert through(tmp_path, {"a": "a"}, second_time_better)["a"].result.characters is None
    found = through(tmp_path, {"a": "a"}, second_time_better)["a"]
    assert (found.result.characters, len(found.calls)) == (1, 2)
    assert through(tmp_path, {"a": "a"}, second_time_better)["a"] == found


def test_a_configuration_error_of_one_item_comes_out_as_itself(tmp_path: Path) -> None:
    async def refuses(text: str, context: ItemContext) -> Length:
        raise ConfigurationError("no such model")

    with pytest.raises(ConfigurationError, match="no such model"):
        through(tmp_path, {"a": "a", "b": "b"}, refuses)


def test_another_task_has_answers_of_its_own(tmp_path: Path) -> None:
    async def counts(text: str, context: ItemContext) -> Length:
        return Length(characters=len(text))

    async def doubles(text: str, context: ItemContext) -> Length:
        return Length(characters=2 * len(text))

    assert through(tmp_path, {"a": "abc"}, counts)["a"].result.characters == 3
    assert through(tmp_path, {"a": "abc"}, doubles, "doubled")["a"].result.characters == 6
