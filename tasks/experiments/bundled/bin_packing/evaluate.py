"""Bin packing with a known optimum: items are what full bins were cut into."""

import random
from typing import Any

CAPACITY = 1_000
BINS = {"small": 30, "full": 120}
MOST_PIECES = 5


def make(seed: int, size: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Items in any order, and how many bins hold them without a gap."""
    chance = random.Random(seed)
    sizes: list[int] = []
    for _ in range(BINS[size]):
        cuts = sorted(chance.sample(range(1, CAPACITY), chance.randint(1, MOST_PIECES - 1)))
        ends = zip([0, *cuts], [*cuts, CAPACITY], strict=True)
        sizes += [end - start for start, end in ends]
    chance.shuffle(sizes)
    return {"sizes": sizes, "capacity": CAPACITY}, {"optimum": BINS[size]}


def score(given: dict[str, Any], held: dict[str, int], answer: Any) -> dict[str, float]:
    """Bins beyond the optimum. Raises ValueError where items are missing or a bin is too full."""
    packed = sorted(number for each in answer for number in each)
    if packed != list(range(len(given["sizes"]))):
        raise ValueError("not every item is in one bin")
    if any(sum(given["sizes"][number] for number in each) > CAPACITY for each in answer):
        raise ValueError("a bin is too full")
    used = sum(1 for each in answer if each)
    return {"excess": used / held["optimum"] - 1, "bins": used}
