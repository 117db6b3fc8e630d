"""One row per attempt at a model call, one row per request to a literature source."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from schemas.base import Noun
from schemas.formats import CallUsd
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


def _believable(tokens: int) -> int:
    if tokens > MAXIMUM_TOKENS:
        raise ValueError(f"more than {MAXIMUM_TOKENS:,} tokens")
    return tokens


TokenCount = Annotated[int, Field(ge=0), AfterValidator(_believable)]


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
        description="As the provider names it; None when nothing was answered, or it names none.",
    )
    prompt_tokens: TokenCount = Field(
        description=(
            "Tokens sent as the provider counts them; of a single call that asks for text, at least"
            " a third of our count. 0 when the provider does not say."
        ),
    )
    completion_tokens: TokenCount = Field(
        description="Tokens received as the provider counts them, with the same floor.",
    )
    cached_tokens: TokenCount = Field(
        description="Prompt tokens the provider served from its cache.",
    )
    thinking_tokens: TokenCount | None = Field(
        default=None,
        description="Tokens received that were thinking; None: the provider does not say.",
    )
    cost_usd: CallUsd = Field(
        description=(
            "None when it is unknown: no price is known, or the provider may have billed the call"
            " without saying what it used, as when a kill came before the answer. The budget counts"
            " an estimate then; `error` names it if the call failed. 0 for a reply from Assay's"
            " cache."
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
        description="What was left out of a long input; None: nothing.",
    )
    seed: int | None = Field(default=None, description="Seed sent; None: none.")
    parameters_dropped: str | None = Field(
        default=None,
        description="Asked for but not taken by the model: `temperature, seed`; None: nothing.",
    )
    batch: str | None = Field(
        default=None,
        description="The provider's batch it travelled in, at half the price; None: a call.",
    )
    transcript_sha256: str | None = Field(
        default=None,
        description=(
            "Hash of prompt and reply, which lie beside the lake as long as they are kept; None:"
            " nothing was answered, or transcripts are off."
        ),
    )
    created_at: datetime = Field(description="When it was made.")


class ApiCall(Noun):
    """One request to a source, repetitions included, or one answer that needed none."""

    call_id: str = Field(description="Identifier of the request.")
    idea_id: IdeaId = Field(description="The idea it was made for.")
    source: str = Field(description="semantic_scholar, snapshot, unpaywall, grobid, download, …")
    endpoint: str = Field(description="What was asked of it.")
    status: int | None = Field(description="HTTP status; None when no answer came.")
    failure_reason: Reason | None = Field(description="None when answered.")
    wait_seconds: float = Field(ge=0, description="Waiting for the source's allowance.")
    latency_seconds: float = Field(ge=0, description="Waiting for the answer.")
    cache_hit: bool = Field(description="Answered from a cache.")
    packed: int = Field(ge=1, description="Look-ups that travelled in the request.")
    upstream_requests: int = Field(
        ge=0,
        description="1 for a request that left; 0 where a cache or another request answered.",
    )
    attempt: int = Field(
        default=1,
        ge=1,
        description="Which try of its look-up this was; another may have followed.",
    )
    request_share: float = Field(
        default_factory=lambda row: float(row["upstream_requests"]),
        ge=0,
        description="Adds up to the requests sent; below 1 where look-ups of several ideas shared.",
    )
    created_at: datetime = Field(description="When it was made.")
