"""Cases that `make test` tries, among those that `make long` tries."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def some(cases: Iterable[T], chosen: Callable[[T], object]) -> list[Any]:
    """Mark as long all cases but those chosen."""
    return [pytest.param(case, marks=() if chosen(case) else pytest.mark.long) for case in cases]
