"""Errors of Assay, by whether a retry may help.

AssayError
├── TransientError            a later retry may help
│   ├── RateLimitedError
│   └── UpstreamError         5xx, timeouts, dropped connections
│       └── SharedStateError  the database of budgets and rates is unavailable
└── PermanentError            a retry does not help
    ├── ConfigurationError    wrong usage or settings (exit code 2)
    │   ├── DiskFullError     no space is left on a disk (exit code 1)
    │   ├── SqlError          an invalid SQL statement, with the position of the error
    │   ├── NotAllowedError   the role or token does not allow it
    │   ├── UnknownNameError  no such run, idea, ranking or job
    │   ├── PlainFileError    a link, pipe or device in another user's folder
    │   └── ConflictError     a request that contradicts an earlier one with the same key
    ├── IdeaFileError         an idea file that cannot be read at all (exit code 2)
    ├── SnapshotError         a snapshot that is missing, empty or broken (exit code 2)
    ├── RequestRejectedError  4xx other than 429
    ├── BudgetExhaustedError  the run's or the idea's budget is spent (exit code 3)
    ├── PublicationError      a run that failed a critical expectation
    └── PromptError           a template that does not fit its step

Every class takes a one-line message with the cause and the remedy, and can be pickled (Dask hides
errors that cannot).
"""

import errno

from schemas.reasons import Reason


class AssayError(Exception):
    """Base of all errors that Assay raises."""

    reason: Reason = Reason.INTERNAL_ERROR


class TransientError(AssayError):
    """Temporary failure, which `tasks.web.retrying` retries.

    Attributes:
        wait_seconds: wait that the other side asks for before a retry.
    """

    reason = Reason.UNREACHABLE
    wait_seconds = 0.0


class RateLimitedError(TransientError):
    """The other side limits the rate."""

    reason = Reason.RATE_LIMITED


class UpstreamError(TransientError):
    """The other side failed: a 5xx, a timeout or a dropped connection."""

    reason = Reason.SERVER_ERROR


class SharedStateError(UpstreamError):
    """The database of budgets and rates, which every unit needs, is unavailable."""


class PermanentError(AssayError):
    """Failure that a retry does not help."""

    reason = Reason.INTERNAL_ERROR


class ConfigurationError(PermanentError):
    """Wrong usage or settings."""

    reason = Reason.CONFIGURATION


class DiskFullError(ConfigurationError):
    """No space is left on a disk: it ends a run, whose command resumes once there is."""


class SqlError(ConfigurationError):
    """Invalid SQL statement.

    Attributes:
        place: position of the first wrong character, from 0; None: unknown.
        word: the unknown name; empty for other errors.
        offered: similar names, most similar first.
    """

    place: int | None = None
    word = ""
    offered: tuple[str, ...] = ()


class NotAllowedError(ConfigurationError):
    """The role or token does not allow the action."""


class UnknownNameError(ConfigurationError):
    """No run, idea, ranking or job has this name."""


class ConflictError(ConfigurationError):
    """A request contradicts an earlier one with the same key."""


class IdeaFileError(PermanentError):
    """The idea file cannot be read."""

    reason = Reason.UNREADABLE


class SnapshotError(PermanentError):
    """The snapshot is missing, empty or broken."""

    reason = Reason.SNAPSHOT


class RequestRejectedError(PermanentError):
    """The other side rejected the request."""

    reason = Reason.BAD_REQUEST


class BudgetExhaustedError(PermanentError):
    """The budget of the run or of the idea is spent."""

    reason = Reason.BUDGET_EXHAUSTED


class PublicationError(PermanentError):
    """A run failed a critical expectation and stays in landing."""

    reason = Reason.NOT_PUBLISHED


class PromptError(PermanentError):
    """A prompt template does not fit its step."""

    reason = Reason.PROMPT


_DISK_FULL = ("disk is full", "No space left on device", "Disk quota exceeded")


def full_disk(error: BaseException) -> str:
    """Return the line about a full disk among the causes of an error; empty: there is none.

    SQLite and DuckDB report it in words only, by the class that PEP 249 has for it. Words of other
    errors do not count, because they may quote a user's text.
    """
    cause: BaseException | None = error
    while cause is not None:
        has_disk_errno = isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)
        is_operational = any(base.__name__ == "OperationalError" for base in type(cause).__mro__)
        if has_disk_errno or (is_operational and any(each in str(cause) for each in _DISK_FULL)):
            name = getattr(cause, "filename", None)
            place = f" ({name})" if name else ""
            return f"the disk is full{place}: free space, and the same command resumes"
        cause = cause.__cause__ or cause.__context__
    return ""
