"""What ends at the edge of a unit of work, and what goes on."""

import asyncio

import pytest

from schemas.boundary import ErrorBoundary, concerns_one_unit, error_line
from schemas.errors import SharedStateError, UpstreamError


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        RecursionError(),
        StopIteration(),
        AssertionError(),
        ExceptionGroup("g", [OSError()]),
    ],
)
def test_whatever_goes_wrong_with_a_unit_ends_at_its_edge(error: Exception) -> None:
    boundary = ErrorBoundary()
    with boundary:
        raise error
    assert boundary.error is error


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        SystemExit(),
        asyncio.CancelledError(),
        GeneratorExit(),
        MemoryError(),
        ExceptionGroup("g", [ValueError(), ExceptionGroup("h", [MemoryError()])]),
        BaseExceptionGroup("g", [ValueError(), KeyboardInterrupt()]),
    ],
)
def test_what_concerns_the_process_goes_on(error: BaseException) -> None:
    boundary = ErrorBoundary()
    with pytest.raises(type(error)), boundary:
        raise error
    assert boundary.error is None


def test_an_outage_of_the_shared_database_is_every_unit_s() -> None:
    assert concerns_one_unit(UpstreamError("a source is down"))
    assert not concerns_one_unit(SharedStateError("budgets and rates cannot be kept"))


def test_an_error_in_a_word_is_one_bounded_line() -> None:
    assert error_line(ValueError("a\nb" + "c" * 100_000)).startswith("ValueError: a bc")
    assert len(error_line(ValueError("c" * 100_000))) < 250
    assert error_line(RecursionError()) == "RecursionError"
