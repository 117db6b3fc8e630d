"""First fit: each item goes into the first bin that has room, in the order in which items come."""

from typing import Any

ORDER = "given"  # tunable: "given", "increasing", "decreasing", "large and small in turn"
FIT = "first"  # tunable: "next", "first", "best", "worst"
EMPTIED_BINS = 0  # tunable: 0..20


def solve(given: dict[str, Any], seed: int) -> list[list[int]]:
    """The numbers of the items in each bin."""
    sizes, capacity = given["sizes"], given["capacity"]
    bins = pack(ordered(sizes), sizes, capacity, [])
    for _ in range(EMPTIED_BINS):
        bins = without_the_emptiest(bins, sizes, capacity)
    return bins


def ordered(sizes: list[int]) -> list[int]:
    """The items in the order in which they are packed."""
    numbers = list(range(len(sizes)))
    if ORDER == "given":
        return numbers
    numbers.sort(key=lambda number: sizes[number], reverse=ORDER != "increasing")
    if ORDER == "large and small in turn":
        half = (len(numbers) + 1) // 2
        large, small = numbers[:half], numbers[half:][::-1]
        pairs = zip(large, [*small, *[-1] * (half - len(small))], strict=True)
        numbers = [number for pair in pairs for number in pair if number >= 0]
    return numbers


def pack(
    numbers: list[int], sizes: list[int], capacity: int, bins: list[list[int]]
) -> list[list[int]]:
    """Bins with these items beside those they hold."""
    bins = [list(each) for each in bins]
    room = [capacity - sum(sizes[number] for number in each) for each in bins]
    for number in numbers:
        fitting = [place for place, left in enumerate(room) if left >= sizes[number]]
        if FIT == "next":
            fitting = [place for place in fitting if place == len(bins) - 1]
        if not fitting:
            bins.append([])
            room.append(capacity)
            fitting = [len(bins) - 1]
        place = fitting[0]
        if FIT in ("best", "worst"):
            place = (min if FIT == "best" else max)(fitting, key=lambda each: room[each])
        bins[place].append(number)
        room[place] -= sizes[number]
    return bins


def without_the_emptiest(bins: list[list[int]], sizes: list[int], capacity: int) -> list[list[int]]:
    """The items of the emptiest bin packed into the others, if that takes no bin more."""
    emptiest = min(bins, key=lambda each: sum(sizes[number] for number in each))
    others = [each for each in bins if each is not emptiest]
    items = sorted(emptiest, key=lambda number: -sizes[number])
    packed = pack(items, sizes, capacity, others)
    return packed if len(packed) <= len(bins) else bins
