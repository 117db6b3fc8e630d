"""One row per attempt at a model call, one row per request to a literature source."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import IdeaId
from schemas.reasons import Reason


class CallStatus(StrEnum):
    OK = "ok"
    CACHED = "cached"
    UNPARSABLE = "unparsable"
    EMPTY = "empty"
    CUT_OFF = "cut_off"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CLIENT_ERROR = "client_error"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"


MAXIMUM_TOKENS = 1_000_000_000
"""Of one call: no model reads or writes as much, so whoever claims more has miscounted."""


class LlmCall(Noun):
    """One attempt at one model call (an extractive answer makes none)."""

    call_id: str
    idea_id: IdeaId
    step: str
    step_version: int
    prompt_sha256: str
    engine: str
    model_requested: str
    model_answered: str | None
    prompt_tokens: int = Field(ge=0, le=MAXIMUM_TOKENS)
    completion_tokens: int = Field(ge=0, le=MAXIMUM_TOKENS)
    cached_tokens: int = Field(ge=0, le=MAXIMUM_TOKENS, description="Prompt tokens the provider served from its own cache.")
    thinking_tokens: int | None = Field(
        default=None, ge=0, le=MAXIMUM_TOKENS, description="Of the completion; None: the provider does not say."
    )
    cost_usd: float | None = Field(ge=0, description="None when no price is known; 0 for a reply from Assay's cache.")
    latency_seconds: float = Field(ge=0)
    queue_seconds: float = Field(ge=0, description="Waiting for Assay's own limits.")
    attempt: int = Field(ge=1)
    cache_hit: bool
    status: CallStatus
    error: str | None = Field(default=None, description="One line, without secrets.")
    shortening: str | None = None
    seed: int | None = None
    parameters_dropped: str | None = Field(
        default=None,
        description="What was asked for and the model does not take, such as `temperature, seed`.",
    )
    created_at: datetime


class ApiCall(Noun):
    """One request to a literature or full-text source, repetitions included; or one answer that needed none."""

    call_id: str
    idea_id: IdeaId
    source: str = Field(description="semantic_scholar, snapshot, unpaywall, grobid, download, …")
    endpoint: str
    status: int | None = Field(description="HTTP status; None when no answer came.")
    failure_reason: Reason | None = Field(description="None when answered.")
    wait_seconds: float = Field(ge=0, description="Waiting for the source's allowance.")
    latency_seconds: float = Field(ge=0)
    cache_hit: bool
    packed: int = Field(ge=1, description="How many look-ups travelled in the request.")
    upstream_requests: int = Field(ge=0, description="1 for a request that left; 0 where a cache or another request answered.")
    attempt: int = Field(default=1, ge=1, description="Which try of its look-up this was; a failed one may have been followed by another.")
    request_share: float = Field(
        default_factory=lambda row: float(row["upstream_requests"]),
        ge=0,
        description="Requests' worth: below 1 where look-ups of several ideas travelled together. Adds up to the requests sent.",
    )
    created_at: datetime
