"""Answers of the lake are kept until something is published, and errors are not."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flows.api.service import ReplyCache, catalogue_state
from schemas.errors import ConfigurationError, UnknownNameError
from tests.support.report_lake import publish_report_lake
from warehouse.warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return publish_report_lake(tmp_path / "warehouse")


def test_an_answer_is_made_once_and_anew_after_each_publication(warehouse: Warehouse) -> None:
    kept, made = ReplyCache(warehouse), list[int]()

    def make() -> bytes:
        made.append(1)
        return b"%d" % len(made)

    assert [kept.of(make, "a") for _ in range(3)] == [b"1"] * 3
    assert kept.of(make, "b") == b"2"
    states = {catalogue_state(warehouse)}
    for number in range(3):
        with warehouse.publisher() as connection:
            connection.execute(f"update lake.ideas set title = 'Title {number}'")
        states.add(catalogue_state(warehouse))
        assert kept.of(make, "a") == b"%d" % (3 + number)
    assert len(states) == 4


def test_many_who_ask_the_same_at_once_wait_for_one_answer(warehouse: Warehouse) -> None:
    kept, begun, go_on, made = (
        ReplyCache(warehouse),
        threading.Event(),
        threading.Event(),
        [],
    )

    def make() -> bytes:
        made.append(1)
        begun.set()
        assert go_on.wait(60)
        return b"answer"

    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(kept.of, make, "a")
        assert begun.wait(60)
        others = [threads.submit(kept.of, make, "a") for _ in range(7)]
        go_on.set()
        assert {each.result(60) for each in (first, *others)} == {b"answer"}
    assert made == [1]


def test_an_error_is_told_and_not_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    kept = ReplyCache(warehouse)

    def fail() -> bytes:
        raise ConfigurationError("not now")

    for _ in range(2):
        with pytest.raises(ConfigurationError, match="not now"):
            kept.of(fail, "a")
    assert kept.of(lambda: b"now", "a") == b"now"
    with pytest.raises(UnknownNameError, match="no lake"):
        ReplyCache(Warehouse(tmp_path / "none")).of(fail, "a")
