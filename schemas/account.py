"""Accounts: the people who sign in to the dashboard."""

from datetime import datetime

from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.option_values import option
from schemas.options import LakeOptions
from schemas.role import ROLES_IN_WORDS, Role

SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 200
LONGEST_NAME = 80


class Person(Noun):
    """Who is signed in."""

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
