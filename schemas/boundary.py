"""Error boundary around an independent unit of work.

The only place that catches every exception, so that one broken unit (an idea, an entry of an idea
file, a page of a report) never ends its batch. All other code catches specific errors.
"""

from types import TracebackType

from schemas.errors import ConfigurationError, SharedStateError


class ErrorBoundary:
    """Context manager that stores an exception of its block in `error`.

    Errors of the whole process propagate: interrupts, cancellation, exits and exhausted memory.
    Callers turn `error` into a value with a reason.
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
    """Return whether the error, or one of an exception group, is a MemoryError."""
    if isinstance(error, BaseExceptionGroup):
        return any(out_of_memory(inner) for inner in error.exceptions)
    return isinstance(error, MemoryError)


def root_of(error: BaseException) -> BaseException:
    """Return the main error of an exception group: one that concerns every unit, else the first."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    roots = [root_of(inner) for inner in error.exceptions]
    return next((root for root in roots if not concerns_one_unit(root)), roots[0])


def concerns_one_unit(error: BaseException) -> bool:
    """Return whether an error concerns one unit only.

    Wrong settings, a missing budget database, interrupts and exits concern every unit.
    """
    every = ConfigurationError | SharedStateError
    return isinstance(error, Exception) and not isinstance(error, every)


def error_line(error: BaseException) -> str:
    """Return `ErrorType: message` on one line of bounded length."""
    message = " ".join(str(error)[:1000].split())[:200]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
