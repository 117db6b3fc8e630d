"""Roles, the one list of them, and who has them: people by their accounts, programs by their
tokens.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError, NotAllowedError
from schemas.options.commands import LakeOptions
from schemas.options.values import option


class Action(StrEnum):
    """Action that is allowed or refused as one."""

    READ = "read results"
    SUBMIT = "submit ideas"
    VOTE = "vote"
    DECIDE = "decide"
    OVERSEE = "watch and stop the jobs of others"


class Role(StrEnum):
    """Role of an account or a token."""

    READER = "reader"
    SUBMITTER = "submitter"
    VOTER = "voter"
    DECIDER = "decider"
    OWNER = "owner"

    def may(self, action: Action) -> bool:
        """Return whether who has this role may do it."""
        return action in _ALLOWED[self]

    def check(self, action: Action) -> None:
        """Raises NotAllowedError when who has this role may not do it."""
        if not self.may(action):
            raise NotAllowedError(f"a {self} may not {action}")


_ALLOWED: dict[Role, frozenset[Action]] = {
    Role.READER: frozenset({Action.READ}),
    Role.SUBMITTER: frozenset({Action.READ, Action.SUBMIT}),
    Role.VOTER: frozenset({Action.VOTE}),  # blind: engine scores would sway the votes
    Role.DECIDER: frozenset({Action.READ, Action.SUBMIT, Action.VOTE, Action.DECIDE}),
    Role.OWNER: frozenset(Action),
}

ROLES_IN_WORDS = (
    "reader: results; submitter: ideas too; voter: votes and questions to vote on,"
    " without results; decider: results, ideas, votes and decisions; owner: everything, and the"
    " jobs of others."
)
SCOPES = tuple(role for role in Role if role.may(Action.READ))
"""Roles of tokens; the services for programs refuse who may not read."""
SCOPES_IN_WORDS = (
    "reader: results; submitter: ideas too; decider: results, ideas and decisions; owner:"
    " everything, and the jobs of others."
)


SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 200
LONGEST_NAME = 80


class Person(Noun):
    """Holder of an account who is signed in."""

    name: str
    role: Role


class Account(Noun):
    """One account as it is kept; the hash of its password lies beside it."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    role: Role
    created_at: datetime
    removed_at: datetime | None = None
    has_password: bool = Field(
        description="Else its holder signs in with the provider of the settings."
    )


class AccountOptions(LakeOptions):
    """Of `assay accounts add`."""

    role: Role = option(Role.READER, "|".join(Role), f"What its holder may do. {ROLES_IN_WORDS}")
    without_password: bool = option(
        False, "", "The provider of the settings says who it is, by the e-mail address NAME."
    )


def account_name(text: str) -> str:
    """The name as it is kept: capitals and small letters are one.

    Raises:
        ConfigurationError: it cannot be one.
    """
    name = text.strip().casefold()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or " " in name:
        raise ConfigurationError(
            f"NAME {text[:LONGEST_NAME]!r}: write 1 to {LONGEST_NAME} characters without spaces"
        )
    return name


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
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or moment < self.expires_at)


class TokenOptions(LakeOptions):
    """Of `assay tokens create`."""

    scope: Role = option(Role.READER, "|".join(SCOPES), f"What it allows. {SCOPES_IN_WORDS}")
    days: int = option(90, "N", "Days until it expires; 0: never.", ge=0, le=36_500)
    max_cost_usd: float = option(
        0.0, "X", "What its jobs may spend on models in all, by their bounds and bills.", ge=0
    )
    max_jobs: int = option(
        10, "N", "Its jobs that may wait or be done at the same time.", ge=1, le=10_000
    )
