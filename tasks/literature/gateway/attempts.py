"""A request sent upstream, as it travels to whoever it was sent for: one row of `api_calls` each."""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.reasons import Reason, reason_named

ATTEMPTS_HEADER = "x-assay-attempts"
SHARE_HEADER = "x-assay-share"
STOPPING_HEADER = "x-assay-stopping"
_MOST_IN_HEADER = 100
_NO_STATUS = "-"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request sent.

    Attributes:
        request_id: names it in the gateway's record of requests.
        status: HTTP status, 502 for a success that was no whole answer; None when no answer came.
        reason: why it did not answer the question; None when it did.
        packed: look-ups that travelled in it, of everybody.
        sent_at: Unix seconds.
    """

    request_id: str
    status: int | None
    reason: Reason | None
    wait_seconds: float
    latency_seconds: float
    packed: int
    sent_at: float

    def written(self) -> str:
        status = _NO_STATUS if self.status is None else str(self.status)
        figures = (
            f"{self.wait_seconds:.3f} {self.latency_seconds:.3f} {self.packed} {self.sent_at:.3f}"
        )
        return f"{self.request_id} {status} {self.reason or _NO_STATUS} {figures}"


def header_of(attempts: Iterable[Attempt]) -> str:
    """Attempts as the value of a header, the latest hundred of them: the number of all travels
    beside it.
    """
    return ", ".join(attempt.written() for attempt in tuple(attempts)[-_MOST_IN_HEADER:])


def attempts_in(header: str) -> tuple[Attempt, ...]:
    """What `header_of` wrote; parts of any other form, as of a foreign server, are left out."""
    found = []
    for part in header.split(","):
        words = part.split()
        try:
            name, status, reason, wait, latency, packed, sent_at = words
            found.append(
                Attempt(
                    name,
                    None if status == _NO_STATUS else int(status),
                    reason_named(reason),
                    max(float(wait), 0.0),
                    max(float(latency), 0.0),
                    max(int(packed), 1),
                    float(sent_at),
                )
            )
        except ValueError:
            continue
    return tuple(found)
