"""Roles of accounts and tokens, and the actions that they allow."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError, NotAllowedError
from schemas.options.commands import LakeOptions
from schemas.options.values import option


class Action(StrEnum):
    """Action that a role allows or not."""

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
        """Return whether the role allows an action."""
        return action in _ACTIONS_BY_ROLE[self]

    def check(self, action: Action) -> None:
        """Raise NotAllowedError unless the role allows an action."""
        if not self.may(action):
            raise NotAllowedError(f"a {self} may not {action}")


_ACTIONS_BY_ROLE: dict[Role, frozenset[Action]] = {
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
"""Roles of tokens; the services for programs require permission to read."""
SCOPES_IN_WORDS = (
    "reader: results; submitter: ideas too; decider: results, ideas and decisions; owner:"
    " everything, and the jobs of others."
)


SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 200
LONGEST_NAME = 80


class Person(Noun):
    """Signed-in holder of an account."""

    name: str
    role: Role


class Account(Noun):
    """Stored account, without the hash of its password."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    role: Role
    created_at: datetime
    removed_at: datetime | None = None
    has_password: bool = Field(
        description="False: its holder signs in with the OpenID Connect provider."
    )


class AccountOptions(LakeOptions):
    """Options of `assay accounts add`."""

    role: Role = option(Role.READER, "|".join(Role), f"Permissions. {ROLES_IN_WORDS}")
    without_password: bool = option(
        False, "", "Sign in with the OpenID Connect provider, by the e-mail address NAME."
    )


def account_name(text: str) -> str:
    """Return the normalized account name, which ignores case.

    Raises:
        ConfigurationError: the name is invalid.
    """
    name = text.strip().casefold()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or " " in name:
        raise ConfigurationError(
            f"NAME {text[:LONGEST_NAME]!r}: write 1 to {LONGEST_NAME} characters without spaces"
        )
    return name


class Token(Noun):
    """Stored token, without its secret, of which only a hash is stored."""

    token_id: str = Field(description="Public part of the token.")
    name: str = Field(min_length=1, max_length=80, description="Holder of the token.")
    scope: Role = Field(description="Permissions.")
    created_at: datetime
    expires_at: datetime | None = Field(description="None: never.")
    revoked_at: datetime | None = None
    maximum_cost_usd: float = Field(ge=0, description="Total cost of its jobs.")
    maximum_open_jobs: int = Field(ge=1, description="Its jobs that may wait or run at once.")

    def valid_at(self, moment: datetime) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or moment < self.expires_at)


class TokenOptions(LakeOptions):
    """Options of `assay tokens create`."""

    scope: Role = option(Role.READER, "|".join(SCOPES), f"Permissions. {SCOPES_IN_WORDS}")
    days: int = option(90, "N", "Days until it expires; 0: never.", ge=0, le=36_500)
    max_cost_usd: float = option(
        0.0, "X", "Total model cost of its jobs, by their bounds and bills.", ge=0
    )
    max_jobs: int = option(10, "N", "Its jobs that may wait or run at once.", ge=1, le=10_000)
