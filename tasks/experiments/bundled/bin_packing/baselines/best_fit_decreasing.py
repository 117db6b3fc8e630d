"""Best fit, the largest items first: a textbook heuristic."""

from typing import Any


def solve(given: dict[str, Any], seed: int) -> list[list[int]]:
    """The numbers of the items in each bin."""
    sizes: list[int] = given["sizes"]
    bins: list[list[int]] = []
    room: list[int] = []
    for number in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
        fitting = [place for place, left in enumerate(room) if left >= sizes[number]]
        if not fitting:
            bins.append([])
            room.append(given["capacity"])
            fitting = [len(bins) - 1]
        place = min(fitting, key=lambda each: room[each])
        bins[place].append(number)
        room[place] -= sizes[number]
    return bins
