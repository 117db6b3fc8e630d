"""Whether the time of a call grows faster than its input."""

import gc
import time
from collections.abc import Callable

_SUSPICIOUS_SECONDS = 0.005
_LARGEST_RATIO_OF_A_DOUBLING = 3.2
_REPEATS = 25
_SMALL_STEPS_BELOW = 64


def superlinear_from(call: Callable[[int], object], largest: int, smallest: int = 4) -> int | None:
    """The first size at which a doubling costs over three times as much; None where time stays
    linear up to `largest`.

    Sizes grow in small steps at first, so that what is exponential is found before it hangs. Only
    what takes 5 ms is suspected; then the least processor time of several runs counts, which a busy
    machine does not change.
    """
    size = smallest
    while size < largest:
        size = min(size + max(size // 4, 1) if size < _SMALL_STEPS_BELOW else size * 2, largest)
        if _seconds(call, size) > _SUSPICIOUS_SECONDS and _is_steep(call, size):
            return size
    return None


def _is_steep(call: Callable[[int], object], size: int) -> bool:
    whole = half = float("inf")
    for _ in range(_REPEATS):
        whole, half = min(whole, _seconds(call, size)), min(half, _seconds(call, size // 2))
        if whole <= _LARGEST_RATIO_OF_A_DOUBLING * half:
            return False
    return True


def _seconds(call: Callable[[int], object], size: int) -> float:
    gc.collect(0)
    gc.disable()  # a full collection is the whole process's, and comes in some calls only
    try:
        start = time.thread_time()
        call(size)
        return time.thread_time() - start
    finally:
        gc.enable()
