"""What has to be known of a source to ask it politely, and what it says about waiting."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.web.client import Client, Secrets
from tasks.web.exchange import Answer
from tasks.web.headers import retry_after_seconds as told_seconds
from tasks.web.statuses import reason_of_status
from warehouse.keyed_store import KeyedStore


@dataclass(frozen=True, slots=True)
class Question:
    """One request, without its keys. A `body` makes it a POST of JSON."""

    path: str
    parameters: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    packed: int = 1


Reply = Answer
"""What a source answered."""


def usual_reason(reply: Reply) -> Reason:
    """What a refusal means where the source has no ways of its own."""
    return reason_of_status(reply.status)


def retry_after_seconds(reply: Reply) -> float:
    """What `Retry-After` asks to wait; 0 where it asks for nothing."""
    return told_seconds(reply.headers.get("retry-after")) or 0.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """A source as the requests see it.

    Attributes:
        source: name in rows and failures.
        per_minute: requests allowed; shared by every process that names the same `limit_name` and
            folder.
        kept_seconds: how old a kept answer may be that is given instead of asking again.
        one_at_a_time: whether a request may only leave when no other is under way on this machine.
        mend: what a user can do about a reason.
        reason: what a refusal means.
        asks_to_wait_seconds: how long an answer, refused or not, asks to hold back everything; 0:
            not at all.
        allowed_per_minute: the rate an answer states, if it states one.
    """

    source: str
    base_url: str
    per_minute: float
    limit_name: str
    secrets: Secrets = field(default_factory=Secrets)
    kept_seconds: float = 86_400.0
    one_at_a_time: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    mend: dict[Reason, str] = field(default_factory=dict)
    reason: Callable[[Reply], Reason] = usual_reason
    asks_to_wait_seconds: Callable[[Reply], float] = retry_after_seconds
    allowed_per_minute: Callable[[Reply], float | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class SourceContext:
    """Where a source works: one idea's ledger, one task run's client, the machine's limits.

    Attributes:
        limits_folder: shared by all processes of the machine.
        on_request: called before each request; may raise BudgetExhaustedError.
        answers: where good answers are kept for the next who asks; None: nowhere.
    """

    http: Client
    ledger: Ledger
    limits_folder: Path
    on_request: Callable[[], None] | None = None
    answers: KeyedStore | None = None
