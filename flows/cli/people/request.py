"""`assay request`: requests for a review or a choice."""

import secrets
from datetime import UTC, datetime
from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Json
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import RunId
from schemas.people.decisions import Request, RequestOptions
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse


def request(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Published work of any kind, by the name its command printed."
        ),
    ],
    options: RequestOptions,
    json: Json = False,
) -> int:
    """Ask participants to review published work or a unit of it, or to choose an alternative."""
    from warehouse.app.decisions import request_all
    from warehouse.app.people import participant
    from warehouse.app.records import fold_into_lake
    from warehouse.ledger import parts_of
    from warehouse.units.published_work import published_kind

    if not options.of:
        raise ConfigurationError("say who may answer: --of ID")
    if len(options.choice) == 1:
        raise ConfigurationError("one --choice leaves nothing to choose: name two or more")
    warehouse = Warehouse(options.warehouse.resolve())
    run_id, unit_id = RunId(run), options.idea
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
        parts = parts_of(queries.connection, run_id, unit_id)
    if not parts:
        raise UnknownNameError(
            f"{kind.title(run)} has no {kind.unit_noun} {unit_id!r}: `assay report {run}` lists"
            f" each {kind.unit_noun}"
            if unit_id
            else f"the ledger has nothing of {kind.title(run)}: no {kind.unit_noun} was judged"
        )
    with ServiceDatabase(warehouse) as database:
        for each in (*options.of, *([options.by] if options.by else [])):
            participant(database, each)
        new_request = Request(
            request_id=secrets.token_hex(6),
            run_id=run_id,
            unit_id=unit_id,
            stage=None,
            criteria=options.criteria,
            options=options.choice,
            parts=parts,
            asked_by=options.by,
            asked_of=options.of,
            requested_at=datetime.now(UTC),
        )
        request_all(database, [new_request])
    fold_into_lake(warehouse)
    if json:
        print_answer("requested", [new_request.model_dump(mode="json", exclude={"parts"})])
    else:
        print_note(f"asked: {new_request.request_id}")
    return 0
