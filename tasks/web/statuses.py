"""What HTTP statuses and reasons say of each other."""

from schemas.reasons import Reason

_REASONS = {
    401: Reason.FORBIDDEN,
    402: Reason.FORBIDDEN,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    407: Reason.FORBIDDEN,
    408: Reason.SERVER_ERROR,
    410: Reason.NOT_FOUND,
    429: Reason.RATE_LIMITED,
    451: Reason.FORBIDDEN,
}
_STATUSES = {
    Reason.RATE_LIMITED: 429,
    Reason.TIMEOUT: 504,
    Reason.UNREACHABLE: 504,
    Reason.CIRCUIT_OPEN: 504,
}


def reason_of_status(status: int) -> Reason:
    """Why a request answered with `status`, not a success, gave nothing."""
    unlisted = Reason.SERVER_ERROR if status >= 500 else Reason.BAD_REQUEST
    return _REASONS.get(status, unlisted)


def status_of_reason(reason: Reason) -> int:
    """The status by which a server of ours says why it has no answer."""
    return _STATUSES.get(reason, 500)
