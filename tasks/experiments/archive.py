"""Programs that are good in different ways: of each cell of length and time, the best one.

The cells are those of MAP-Elites (Mouret and Clune 2015). Who always goes on from the best program
alone ends where that ends; who goes on from the best of another cell may pass it.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PER_DOUBLING_OF_LENGTH = 2
_TIME_FACTOR = 4.0
_LEAST_SECONDS = 1.0
"""Below it a busy machine tells more than the program."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A program that was scored.

    Attributes:
        gain: over the program that was given; more is better.
        length: of its syntax tree, in characters.
        seconds: mean time of a run.
    """

    name: str
    gain: float
    length: int
    seconds: float


def elites(entries: Iterable[Entry], length: int) -> tuple[Entry, ...]:
    """The best of each cell, the best of all first; of equals the one that comes first.

    Args:
        length: of the program that was given, from which cells are counted.
    """
    found: dict[tuple[int, int], Entry] = {}
    for entry in entries:
        known = found.setdefault(_cell(entry, length), entry)
        if entry.gain > known.gain:
            found[_cell(entry, length)] = entry
    return tuple(sorted(found.values(), key=lambda entry: -entry.gain))


def least_used(entries: Iterable[Entry], uses: Mapping[str, int]) -> Entry:
    """Of at least one entry the one that was gone on from least often, the better one of equals."""
    return min(entries, key=lambda entry: (uses.get(entry.name, 0), -entry.gain))


def _cell(entry: Entry, length: int) -> tuple[int, int]:
    seconds = max(entry.seconds, _LEAST_SECONDS) / _LEAST_SECONDS
    return (
        round(_PER_DOUBLING_OF_LENGTH * math.log2(max(entry.length, 1) / max(length, 1))),
        round(math.log(seconds, _TIME_FACTOR)),
    )
