"""Errors answer one question by their type: does trying again help?

`tasks.web.retrying` goes by it.

AssayError
├── TransientError            try again later
│   ├── RateLimitedError
│   └── UpstreamError         5xx, timeouts, dropped connections
│       └── SharedStateError  the database of budgets and rates went away
└── PermanentError            trying again changes nothing
    ├── ConfigurationError    wrong usage or settings (exit code 2)
    │   ├── SqlError          a statement that cannot be answered, and where it is wrong
    │   ├── NotAllowedError   who asks may not
    │   ├── UnknownNameError  nothing bears this name
    │   ├── PlainFileError    a link, pipe or device in a folder of somebody else
    │   └── ConflictError     it says otherwise than what is known under the same key
    ├── IdeaFileError         an idea file that cannot be read at all (exit code 2)
    ├── SnapshotError         a snapshot that is missing, empty or broken (exit code 2)
    ├── RequestRejectedError  4xx other than 429
    ├── BudgetExhaustedError  the run's or the idea's budget is spent (exit code 3)
    ├── PublicationError      a run that failed a critical expectation
    └── PromptError           a template that does not fit its step

Every class takes one message, says what went wrong and how to mend it in one line, and survives
pickling (Dask hides the real error of one that does not).
"""

from schemas.reasons import Reason


class AssayError(Exception):
    """Root of everything Assay raises on purpose."""

    reason: Reason = Reason.INTERNAL_ERROR


class TransientError(AssayError):
    """Trying again later may help: `tasks.web.retrying` tries what raises one again.

    Attributes:
        wait_seconds: what the other side asks to wait before that.
    """

    reason = Reason.UNREACHABLE
    wait_seconds = 0.0


class RateLimitedError(TransientError):
    """The other side asked us to slow down."""

    reason = Reason.RATE_LIMITED


class UpstreamError(TransientError):
    """The other side failed: a 5xx, a timeout or a dropped connection."""

    reason = Reason.SERVER_ERROR


class SharedStateError(UpstreamError):
    """The database of budgets and rates went away, and with it what every unit needs."""


class PermanentError(AssayError):
    """Trying again changes nothing."""

    reason = Reason.INTERNAL_ERROR


class ConfigurationError(PermanentError):
    """Wrong usage or settings."""

    reason = Reason.CONFIGURATION


class SqlError(ConfigurationError):
    """A statement that cannot be answered.

    Attributes:
        place: of the first wrong character, counted from 0; None: not known.
        word: the name that is not known; empty: it is not about one.
        offered: names that may have been meant, the likeliest first.
    """

    place: int | None = None
    word = ""
    offered: tuple[str, ...] = ()


class NotAllowedError(ConfigurationError):
    """Refusal: this role or token may not do it."""


class UnknownNameError(ConfigurationError):
    """Nothing bears this name: no run, idea, ranking or job."""


class ConflictError(ConfigurationError):
    """A request that says otherwise than the one known under its key."""


class IdeaFileError(PermanentError):
    """An idea file that cannot be read at all."""

    reason = Reason.UNREADABLE


class SnapshotError(PermanentError):
    """A snapshot that is missing, empty or broken."""

    reason = Reason.SNAPSHOT


class RequestRejectedError(PermanentError):
    """The other side understood and refused."""

    reason = Reason.BAD_REQUEST


class BudgetExhaustedError(PermanentError):
    """The budget of the run or of the idea is spent."""

    reason = Reason.BUDGET_EXHAUSTED


class PublicationError(PermanentError):
    """A run that failed a critical expectation stays in landing."""

    reason = Reason.NOT_PUBLISHED


class PromptError(PermanentError):
    """A prompt template that does not fit its step."""

    reason = Reason.PROMPT
