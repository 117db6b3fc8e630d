"""`assay people`: names behind the ledger's pseudonyms."""

from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.output import print_listed
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.people.ledger import LONGEST_NAME, PeopleOptions
from warehouse.app.accounts import accounts, tokens
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

application = Commands()


@application.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a person, or of a model.")],
    options: PeopleOptions,
    json: Json = False,
) -> int:
    """Add a participant under a pseudonym; lake and ledger store only the pseudonym."""
    from warehouse.app.people import add_participant

    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ConfigurationError(
            f"NAME {name[:LONGEST_NAME]!r}: write 1 to {LONGEST_NAME} characters"
        )
    with ServiceDatabase(Warehouse(options.warehouse)) as database:
        participant = add_participant(database, name, options.kind, options.role, options.key)
        sign_in_names = {each.name for each in accounts(database)}
        sign_in_names |= {each.token_id for each in tokens(database)}
    is_waiting = participant.key is not None and participant.key not in sign_in_names
    remark = f"no account or token is called {participant.key!r} yet" if is_waiting else ""
    if json:
        print_answer("created", [participant], warnings=(remark,) if remark else ())
        return 0
    print_note(f"{participant.name} is {participant.participant_id}")
    if remark:
        print_note(remark)
    return 0


@application.command("list")
def list_people(lake: LakeOptions, json: Json = False) -> int:
    """List the participants with a stored name."""
    from warehouse.app.people import participants

    with ServiceDatabase(Warehouse(lake.warehouse).existing()) as database:
        rows = participants(database)
    return print_listed(
        rows,
        {
            "participant": lambda each: each.participant_id,
            "name": lambda each: each.name,
            "kind": lambda each: each.kind,
            "role": lambda each: each.role,
            "signs in as": lambda each: each.key,
        },
        as_json=json,
    )


@application.command("forget")
def forget(
    participant: Annotated[
        str, typer.Argument(metavar="ID", help="As `assay people list` has it.")
    ],
    lake: LakeOptions,
) -> int:
    """Delete a name and all reasons given under it. Counts and the ledger stay as they are."""
    from warehouse.app.people import forget as forget_participant

    warehouse = Warehouse(lake.warehouse.resolve()).existing()
    forget_participant(warehouse, participant)
    print_note(f"{participant} is forgotten; copies of the warehouse made before are not")
    return 0
