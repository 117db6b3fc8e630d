"""The one place where any exception ends, whatever its type: at the edge of a unit of work that is
independent of its neighbours.

An entry of an idea file, an idea, a page of a report and a file of the night are such units: what
goes wrong with one of them is its own, so that one poisoned unit never ends its batch. Everywhere
else errors are caught by name.
"""

from types import TracebackType

from schemas.errors import ConfigurationError, SharedStateError


class ErrorBoundary:
    """Ends what is raised inside its `with` block; `error` then holds it, and is None where nothing
    was raised.

    What concerns the process and not the unit goes on: interrupts, cancellation, exits, and memory
        that ran out.
    Whoever opens a boundary turns `error` into a value with a reason; nobody drops it.
    """

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> "ErrorBoundary":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or out_of_memory(error):
            return False
        self.error = error
        return True


def out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out, be it in one of a group of tasks."""
    if isinstance(error, BaseExceptionGroup):
        return any(out_of_memory(inner) for inner in error.exceptions)
    return isinstance(error, MemoryError)


def root_of(error: BaseException) -> BaseException:
    """Return what a group of errors is about: of several the one that concerns every unit,
    else the first.
    """
    if not isinstance(error, BaseExceptionGroup):
        return error
    roots = [root_of(inner) for inner in error.exceptions]
    return next((root for root in roots if not concerns_one_unit(root)), roots[0])


def concerns_one_unit(error: BaseException) -> bool:
    """Return whether an error is its unit's own; wrong settings, a database of budgets that is
    gone, interrupts and exits are every unit's.
    """
    every = ConfigurationError | SharedStateError
    return isinstance(error, Exception) and not isinstance(error, every)


def in_a_word(error: BaseException) -> str:
    """`ValueError: what it said`, on one line of bounded length: for reasons of failures nobody
    foresaw.
    """
    message = " ".join(str(error)[:1000].split())[:200]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
