"""`assay sql`: one read-only question to the lake."""

from typing import Annotated

import typer

from flows.commands.options import Json
from schemas.options import LakeOptions
from schemas.settings import Settings


def sql(
    query: Annotated[
        str,
        typer.Argument(
            metavar='"select ..."', help="One SELECT; tables and columns: `assay warehouse docs`."
        ),
    ],
    lake: LakeOptions,
    json: Json = False,
) -> int:
    """Ask the lake a question in SQL. Read-only: no other files, no network."""
    from flows.commands.output import print_json, print_note, print_table
    from warehouse.layout import Layout
    from warehouse.queries import run_sql

    layout, catalogue = Layout(lake.warehouse.resolve()), Settings().catalogue
    rows = run_sql(layout, query, catalogue_url=catalogue)
    if json:
        print_json(rows)
    elif rows:
        print_table([str(name) for name in rows[0]], [list(row.values()) for row in rows])
    else:
        columns = run_sql(layout, f"describe {query}", catalogue_url=catalogue)
        print_table([str(column["column_name"]) for column in columns], [])
        print_note("no rows")
    return 0
