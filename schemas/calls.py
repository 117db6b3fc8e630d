"""Rows of model calls and of requests to literature sources."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from schemas.base import Noun
from schemas.formats import CallUsd
from schemas.identifiers import IdeaId
from schemas.reasons import Reason

REFUSING_STATUSES = frozenset({401, 402, 403})
"""HTTP statuses that refuse the key, its quota or its rights, so that a retry changes nothing."""


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
"""Most tokens of one call; larger counts are errors of the provider."""


def _check_token_count(tokens: int) -> int:
    if tokens > MAXIMUM_TOKENS:
        raise ValueError(f"more than {MAXIMUM_TOKENS:,} tokens")
    return tokens


TokenCount = Annotated[int, Field(ge=0), AfterValidator(_check_token_count)]


class LlmCall(Noun):
    """One attempt at one model call; an extractive answer makes none."""

    call_id: str = Field(description="Identifier of the attempt.")
    idea_id: IdeaId = Field(description="The idea it was made for.")
    step: str = Field(description="Step asked.")
    step_version: int = Field(ge=1, description="Version of the step.")
    prompt_sha256: str = Field(description="Hash of the step's prompt template.")
    engine: str = Field(description="Engine that called.")
    model_requested: str = Field(description="Model asked for.")
    model_answered: str | None = Field(
        description="Model name in the reply; None without a reply or a name.",
    )
    prompt_tokens: TokenCount = Field(
        description=(
            "Tokens sent as the provider counts them; of a single call for text at least a third of"
            " Assay's own count. 0 if the provider reports none."
        ),
    )
    completion_tokens: TokenCount = Field(
        description="Tokens received as the provider counts them, with the same lower bound.",
    )
    cached_tokens: TokenCount = Field(
        description="Prompt tokens that the provider read from its cache.",
    )
    thinking_tokens: TokenCount | None = Field(
        default=None,
        description="Received tokens of thinking; None: not reported.",
    )
    cost_usd: CallUsd = Field(
        description=(
            "None if unknown: the model has no known price, or the call may have been billed"
            " without reported usage, for example when it was killed. The budget then counts an"
            " estimate; `error` states it if the call failed. 0 for a reply from Assay's cache."
        ),
    )
    latency_seconds: float = Field(ge=0, description="Waiting for the provider.")
    queue_seconds: float = Field(ge=0, description="Waiting for Assay's own limits.")
    attempt: int = Field(ge=1, description="1 is the first.")
    cache_hit: bool = Field(description="Answered from Assay's cache.")
    status: CallStatus = Field(description="How it ended.")
    error: str | None = Field(
        default=None,
        description="One line, without secrets; None when it went well.",
    )
    shortening: str | None = Field(
        default=None,
        description="Parts left out of a long input; None: nothing.",
    )
    seed: int | None = Field(default=None, description="Seed sent; None: none.")
    parameters_dropped: str | None = Field(
        default=None,
        description="Parameters that the model does not accept: `temperature, seed`; None: none.",
    )
    batch: str | None = Field(
        default=None,
        description="The provider's batch, at half the price; None: a single call.",
    )
    transcript_sha256: str | None = Field(
        default=None,
        description=(
            "Hash of prompt and reply, which are stored outside the lake for a limited time; None:"
            " no reply, or transcripts are off."
        ),
    )
    created_at: datetime = Field(description="When it was made.")


class ApiCall(Noun):
    """One request to a source, including retries, or one cached answer."""

    call_id: str = Field(description="Identifier of the request.")
    idea_id: IdeaId = Field(description="The idea it was made for.")
    source: str = Field(description="semantic_scholar, snapshot, unpaywall, grobid, download, …")
    endpoint: str = Field(description="Endpoint of the source.")
    status: int | None = Field(description="HTTP status; None without a response.")
    failure_reason: Reason | None = Field(description="None when answered.")
    wait_seconds: float = Field(ge=0, description="Waiting for the source's allowance.")
    latency_seconds: float = Field(ge=0, description="Waiting for the answer.")
    cache_hit: bool = Field(description="Answered from a cache.")
    packed: int = Field(ge=1, description="Look-ups in the request.")
    upstream_requests: int = Field(
        ge=0,
        description="1 for a request that was sent; 0 if a cache or another request answered.",
    )
    attempt: int = Field(
        default=1,
        ge=1,
        description="Number of the attempt at its look-up, from 1.",
    )
    request_share: float = Field(
        default_factory=lambda row: float(row["upstream_requests"]),
        ge=0,
        description="Share of the sent request; below 1 if look-ups of several ideas shared it.",
    )
    created_at: datetime = Field(description="When it was made.")
