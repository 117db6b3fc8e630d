"""Long tests by tenths: ten consecutive numbers select each once."""

from collections import Counter

import pytest

from tests.support.tenths import one_tenth


@pytest.mark.parametrize("count", [0, 1, 9, 10, 53, 100])
@pytest.mark.parametrize("first", [0, 7, 1203])
def test_ten_consecutive_numbers_select_every_test_once(count: int, first: int) -> None:
    ran = Counter(
        test for number in range(first, first + 10) for test in one_tenth(range(count), number)
    )
    assert ran == Counter(range(count))


def test_the_next_run_of_a_tenth_begins_with_another_test() -> None:
    tests = range(53)
    assert one_tenth(tests, 3) == [3, 13, 23, 33, 43]
    assert one_tenth(tests, 13) == [13, 23, 33, 43, 3]
