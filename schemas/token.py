"""Tokens: who asks a service for programs, and what they may ask."""

from datetime import datetime

from pydantic import Field

from schemas.base import Noun
from schemas.option_values import option
from schemas.options import LakeOptions
from schemas.role import ROLES_IN_WORDS, Role


class Token(Noun):
    """One token as it is kept: without the secret, of which only a hash is on disk."""

    token_id: str = Field(description="The part of the token that names it.")
    name: str = Field(min_length=1, max_length=80, description="Who or what has it.")
    scope: Role = Field(description="What it allows.")
    created_at: datetime
    expires_at: datetime | None = Field(description="None: never.")
    revoked_at: datetime | None = None
    maximum_cost_usd: float = Field(ge=0, description="What its jobs may spend in all.")
    maximum_open_jobs: int = Field(
        ge=1, description="Its jobs that may wait or be done at the same time."
    )

    def valid_at(self, moment: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or moment < self.expires_at)


class TokenOptions(LakeOptions):
    """Of `assay tokens create`."""

    scope: Role = option(Role.READER, "|".join(Role), f"What it allows. {ROLES_IN_WORDS}")
    days: int = option(90, "N", "Days until it expires; 0: never.", ge=0, le=36_500)
    max_cost_usd: float = option(
        0.0, "X", "What its jobs may spend on models in all, by their bounds and bills.", ge=0
    )
    max_jobs: int = option(
        10, "N", "Its jobs that may wait or be done at the same time.", ge=1, le=10_000
    )
