"""`assay tokens`: access tokens for programs."""

import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.output import print_listed
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.people.role import SCOPES, Token, TokenOptions
from warehouse.app.accounts import add_token, new_token_id, tokens
from warehouse.app.accounts import revoke as revoke_token
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

application = Commands()


@application.command("create")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who or what gets it.")],
    options: TokenOptions,
    json: Json = False,
) -> int:
    """Make a token and show it once; only its hash is stored."""
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise ConfigurationError(f"NAME {name[:80]!r}: write 1 to 80 characters on one line")
    if options.scope not in SCOPES:
        raise ConfigurationError(
            f"--scope {options.scope}: votes are cast on the dashboard, by `assay accounts add"
            " NAME --role voter`"
        )
    now = datetime.now(UTC)
    token = Token(
        token_id=new_token_id(),
        name=name,
        scope=options.scope,
        created_at=now,
        expires_at=now + timedelta(days=options.days) if options.days else None,
        maximum_cost_usd=options.max_cost_usd,
        maximum_open_jobs=options.max_jobs,
    )
    with ServiceDatabase(Warehouse(options.warehouse)) as database:
        text = add_token(database, token)
    if json:
        print_answer("created", [token], token=text)
        return 0
    sys.stdout.write(f"{text}\n")
    until = f"until {token.expires_at:%Y-%m-%d}" if token.expires_at else "until it is revoked"
    print_note(
        f"{token.scope} {token.token_id}, {until}, for jobs of up to"
        f" {token.maximum_cost_usd:g} USD in all; it is not shown again"
    )
    return 0


@application.command("list")
def list_tokens(lake: LakeOptions, json: Json = False) -> int:
    """List the tokens of the warehouse, oldest first."""
    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        rows = tokens(database)
    return print_listed(
        rows,
        {
            "token": lambda each: each.token_id,
            "name": lambda each: each.name,
            "scope": lambda each: each.scope,
            "expires": lambda each: f"{each.expires_at:%Y-%m-%d}" if each.expires_at else "never",
            "state": lambda each: "revoked" if each.revoked_at else "",
        },
        as_json=json,
    )


@application.command("revoke")
def revoke(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="As `assay tokens list` names it.")],
    lake: LakeOptions,
) -> int:
    """Revoke a token; its jobs stay."""
    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        revoked_token = revoke_token(database, token)
    print_note(f"{revoked_token.token_id} ({revoked_token.name}) is revoked")
    return 0
