"""`assay warehouse`: export, maintenance, documentation and verification."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dashboards.render.figures import plural
from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.terminal import print_note, print_warning
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.settings import Settings
from warehouse.warehouse import Warehouse

application = Commands()


@application.command("export")
def export(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The .duckdb file to write.")],
    lake: LakeOptions,
    json: Json = False,
) -> int:
    """Write tables and marts into one plain DuckDB file."""
    from warehouse.export import export_lake

    if target.suffix.lower() not in (".duckdb", ".db"):
        raise ConfigurationError(
            f"{target} is to hold the whole lake, which only a .duckdb file can; one table goes"
            ' with `assay sql "from idea_scores" -o idea_scores.csv`'
        )
    rows = export_lake(Warehouse(lake.warehouse.resolve()), target)
    if json:
        row_counts = [{"table": name, "row_count": count} for name, count in rows.items()]
        print_answer("exported", row_counts, file=target.resolve())
    print_note(f"wrote {sum(rows.values()):,} rows of {len(rows)} tables to {target}")
    return 0


@application.command("compact")
def compact(lake: LakeOptions, json: Json = False) -> int:
    """Merge small files, drop unused snapshots, delete expired transcripts, and trim the caches."""
    from warehouse.compact import compact as compact_lake

    report = compact_lake(Warehouse(lake.warehouse.resolve(), Settings()))
    if json:
        print_answer("compacted", [report])
    else:
        print_note(
            "; ".join(
                f"{name.replace('_', ' ')}: {count:,}"
                for name, count in report.model_dump().items()
            )
        )
    return 0


@application.command("move-catalogue")
def move_catalogue(lake: LakeOptions, json: Json = False) -> int:
    """Move the catalogue from its SQLite file into the PostgreSQL database that ASSAY_CATALOGUE_URL
    names, with every snapshot; data files stay where they are.
    """
    from warehouse.catalogue.postgres import VARIABLE
    from warehouse.move_lake import move_catalogue as move

    address = Settings().catalogue
    if address is None:
        raise ConfigurationError(
            f"export {VARIABLE}=postgresql://user:password@host:port/database, an empty database"
            " to move the catalogue to"
        )
    warehouse = Warehouse(lake.warehouse.resolve()).existing()
    rows = move(warehouse, address)
    if json:
        row_counts = [{"table": name, "row_count": count} for name, count in rows.items()]
        print_answer("moved", row_counts, kept=warehouse.moved_catalogue)
    print_note(
        f"moved {rows['ducklake_snapshot']:,} snapshots of {rows['ducklake_table']:,} tables; the"
        f" old catalogue stays as {warehouse.moved_catalogue}, which nothing reads any more"
    )
    print_note(f"every command on this warehouse now needs {VARIABLE}")
    return 0


@application.command("move-data")
def move_data(
    target: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="s3://bucket/prefix; file: for the warehouse's own folder.",
        ),
    ],
    lake: LakeOptions,
    json: Json = False,
) -> int:
    """Move the files of the lake to object storage, or back into the warehouse folder.

    The catalogue records the new place. With a catalogue in PostgreSQL landed units move too, and
    ADDRESS becomes the warehouse. Without a lake, an empty one is made.
    """
    from warehouse.move_lake import move_data as move

    address, settings = None if target == "file:" else target, Settings()
    warehouse = Warehouse(lake.warehouse.resolve(), settings)
    if address is not None and settings.catalogue is not None:
        _refuse_to_open(warehouse)
    move_result = move(warehouse, address)
    if json:
        print_answer("moved", [move_result])
    print_note(
        f"the {move_result.files:,} files of the lake are in {move_result.place}"
        f" ({move_result.files_copied:,} were copied, {move_result.bytes_copied / 1e6:,.1f} MB)"
    )
    if move_result.units is not None:
        print_note(
            f"{move_result.units:,} landed units are there too: from now on --warehouse {target}"
        )
    if move_result.kept is not None:
        print_note(f"nothing reads {move_result.kept} any more, once what has it open has ended")
    return 0


def _refuse_to_open(warehouse: Warehouse) -> None:
    """Raise ConfigurationError if moving the lake would leave it without sign-in.

    Accounts stay in the folder, so a dashboard at the new address would be open to anyone.
    """
    from warehouse.app.accounts import has_accounts
    from warehouse.app.database import ServiceDatabase, services_file

    if warehouse.settings.dashboard.password is not None or not services_file(warehouse).exists():
        return
    with ServiceDatabase(warehouse) as database:
        has_readers = has_accounts(database)
    if has_readers:
        raise ConfigurationError(
            f"the readers of {warehouse.root} sign in with accounts, which an address does not have,"
            " and would have to sign in no more: export ASSAY_DASHBOARD__PASSWORD first, here and"
            " wherever the dashboard runs, or remove the accounts"
        )


@application.command("docs")
def docs() -> int:
    """Print the data dictionary: every table and column with type, unit and meaning."""
    from warehouse.dictionary import data_dictionary

    sys.stdout.write(data_dictionary())
    return 0


@application.command("verify")
def verify(lake: LakeOptions, json: Json = False) -> int:
    """Compare the lake with its receipts; exit 1 when something is missing or differs."""
    from warehouse.kinds.registry import KINDS
    from warehouse.kinds.runs.landing import RUNS
    from warehouse.verify.verify import verify as verify_lake

    report = verify_lake(Warehouse(lake.warehouse.resolve()))
    if json:
        print_answer(
            "whole" if report.sound else "damaged",
            [{"table": name, "row_count": count} for name, count in report.rows.items()],
            warnings=report.problems,
            notices=report.notices,
            runs=report.runs,
        )
    else:
        for line in report.problems:
            print_warning(line)
        for line in report.notices:
            print_note(line)
        other_count = sum(report.rows.get(kind.head_table, 0) for kind in KINDS if kind is not RUNS)
        contents = plural(report.runs, "run") + (
            f" and {other_count:,} of other kinds" if other_count else ""
        )
        print_note(
            plural(len(report.problems), "problem")
            if report.problems
            else f"the lake is whole: {contents}"
        )
    return 0 if report.sound else 1


@application.command("validate")
def validate(lake: LakeOptions, json: Json = False) -> int:
    """Validate publications that Great Expectations has not validated yet.

    Exit 1 when something breaks an expectation.
    """
    from warehouse.kinds.registry import KINDS
    from warehouse.units.later_validation import validate_published

    report = validate_published(Warehouse(lake.warehouse.resolve()).existing(), KINDS)
    if json:
        print_answer("validated", [report], warnings=(*report.broken, *report.failed))
    else:
        for line in report.broken:
            print_warning(line)
        for line in report.failed:
            print_warning(f"not validated: {line}")
    print_note(f"Great Expectations validated {plural(report.validated, 'run')}")
    return 1 if report.broken or report.failed else 0
