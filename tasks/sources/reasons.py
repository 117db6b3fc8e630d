"""Why a look-up was not answered: the closed list, which of it may pass, and what an HTTP status says."""

from enum import StrEnum


class Reason(StrEnum):
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    MALFORMED_ANSWER = "malformed_answer"
    TOO_LARGE = "too_large"
    FORBIDDEN = "forbidden"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    NOT_CONFIGURED = "not_configured"
    CIRCUIT_OPEN = "circuit_open"


TRANSIENT = frozenset({Reason.RATE_LIMITED, Reason.SERVER_ERROR, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.MALFORMED_ANSWER})


class UnreadableAnswer(ValueError):  # noqa: N818 -- an answer, not an error of ours
    """The answer is not what the API documents; the message says how."""


def reason_of_status(status: int) -> Reason:
    """What an HTTP status other than success means."""
    if status == 429:
        return Reason.RATE_LIMITED
    if status in (401, 402, 403, 407, 451):
        return Reason.FORBIDDEN
    if status in (404, 410):
        return Reason.NOT_FOUND
    return Reason.SERVER_ERROR if status >= 500 or status == 408 else Reason.BAD_REQUEST
