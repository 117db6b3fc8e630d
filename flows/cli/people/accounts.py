"""`assay accounts`: accounts of the dashboard and their roles."""

import sys
from getpass import getpass
from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.output import print_listed
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.people.role import LONGEST_PASSWORD, ROLES_IN_WORDS, AccountOptions, Role, account_name
from warehouse.app.accounts import (
    accounts,
    add_account,
    remove_account,
    set_password,
    set_role,
)
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

application = Commands()
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="What they sign in with: a name or e-mail address.")
]


@application.command("add")
def add(name: Name, options: AccountOptions, json: Json = False) -> int:
    """Make an account. The password is asked for, or read from standard input.

    From the first account on, the dashboard requires a sign-in.
    """
    known_as = account_name(name)
    if options.without_password and "@" not in known_as:
        raise ConfigurationError("--without-password: NAME has to be an e-mail address")
    password = None if options.without_password else _read_password()
    with ServiceDatabase(Warehouse(options.warehouse)) as database:
        account = add_account(database, known_as, options.role, password)
    if json:
        print_answer("created", [account])
    else:
        print_note(f"{account.name} may sign in, as {account.role}")
    return 0


@application.command("list")
def list_accounts(lake: LakeOptions, json: Json = False) -> int:
    """List the accounts of the warehouse by name."""
    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        rows = accounts(database)
    return print_listed(
        rows,
        {
            "account": lambda each: each.name,
            "role": lambda each: each.role,
            "made": lambda each: f"{each.created_at:%Y-%m-%d}",
            "signs in by": lambda each: "password" if each.has_password else "provider",
        },
        as_json=json,
    )


@application.command("role")
def role(
    name: Name,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help=ROLES_IN_WORDS)],
    lake: LakeOptions,
) -> int:
    """Change the role of an account; open sessions follow."""
    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        account = set_role(database, account_name(name), role)
    print_note(f"{account.name} is now {account.role}")
    return 0


@application.command("password")
def password(name: Name, lake: LakeOptions) -> int:
    """Change a password and end all sessions. It is asked for, or read from standard input."""
    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        account = set_password(database, account_name(name), _read_password())
    print_note(f"{account.name} has a new password, and is signed out everywhere")
    return 0


@application.command("remove")
def remove(name: Name, lake: LakeOptions) -> int:
    """Remove an account. What its owner did stays on record."""
    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        account = remove_account(database, account_name(name))
    print_note(f"{account.name} is removed, and signed out everywhere")
    return 0


def _read_password() -> str:
    """Read a password from the terminal, twice, or the first line of standard input.

    It is never an argument, which every user of the machine can read.
    """
    if not sys.stdin.isatty():
        return sys.stdin.readline(4 * LONGEST_PASSWORD).rstrip("\r\n")
    password = getpass("Password: ")
    if getpass("Again: ") != password:
        raise ConfigurationError("the two differ: nothing was changed")
    return password
