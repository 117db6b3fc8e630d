"""`assay export`: published work with its provenance, for others."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Json
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.people.ledger import ExportOptions
from warehouse.warehouse import Warehouse


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Published work of any kind, by the name its command printed."
        ),
    ],
    options: ExportOptions,
    json: Json = False,
) -> int:
    """Write published work of any kind as one file for others: an RO-Crate, or its provenance as W3C PROV.

    People stand in it under their pseudonyms. Texts of papers are left out.
    """
    from dashboards.render.formats.crate import write_crate
    from dashboards.render.formats.provenance import prov_json
    from warehouse.ledger import ledger_of_run
    from warehouse.units.published_work import published_head, published_kind

    if options.ro_crate == options.prov:
        raise ConfigurationError("say what to write: --ro-crate or --prov")
    warehouse, run_id = Warehouse(options.warehouse.resolve()), RunId(run)
    target = options.output or Path(f"{run}.{'crate.zip' if options.ro_crate else 'prov.json'}")
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
        head = published_head(queries.connection, kind, run_id)
        if options.ro_crate:
            files, actions = write_crate(queries, warehouse, run_id, target, options.terms)
            counts = {"files": files, "actions": actions}
        else:
            rows = ledger_of_run(queries.connection, run_id)
            target.write_text(prov_json(rows), "utf-8")
            counts = {"activities": len(rows)}
    if json:
        print_answer("exported", [counts], run=head, file=target.resolve())
    summary = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    print_note(f"wrote {summary} to {target}")
    return 0
