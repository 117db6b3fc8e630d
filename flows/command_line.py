"""`assay`: the command line. Commands live in `flows/commands`, one file each, imported when they run."""

import logging
import sys
from collections.abc import Callable

import click
import typer
from pydantic import ValidationError

from flows.environment import prepare_environment
from schemas.errors import AssayError, BudgetExhaustedError, ConfigurationError, IdeaFileError, PromptError, SnapshotError
from schemas.settings import Settings

_USAGE = (ConfigurationError, IdeaFileError, SnapshotError, PromptError)
EXIT_DONE, EXIT_FAILURES, EXIT_USAGE, EXIT_BUDGET = 0, 1, 2, 3


def main() -> None:
    """Entry point of the console script: run a command, print one line for an error, exit with its code."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    sys.exit(_run(lambda: _application()(standalone_mode=False)))


def _run(command: Callable[[], object]) -> int:
    try:
        prepare_environment(Settings().home)
        result = command()
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted; the same command goes on where this one stopped")
        return EXIT_FAILURES
    except ValidationError as error:
        first = error.errors()[0]
        _complain(f"setting {'.'.join(str(part) for part in first['loc'])}: {first['msg']}")
        return EXIT_USAGE
    except AssayError as error:
        _complain(str(error))
        return EXIT_BUDGET if isinstance(error, BudgetExhaustedError) else EXIT_USAGE if isinstance(error, _USAGE) else EXIT_FAILURES
    return result if isinstance(result, int) else EXIT_DONE


def _complain(line: str) -> None:
    sys.stderr.write(f"assay: {line}\n")


def _application() -> typer.Typer:
    from flows.commands import demo, doctor, evaluate, literature, plan, rank, report, sql, warehouse

    application = typer.Typer(
        name="assay",
        help="Evaluate batches of research ideas against the scientific literature.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    application.command("demo")(demo.demo)
    application.command("evaluate")(evaluate.evaluate)
    application.command("plan")(plan.plan)
    application.command("rank")(rank.rank)
    application.command("report")(report.report)
    application.command("sql")(sql.sql)
    application.command("doctor")(doctor.doctor)
    application.add_typer(literature.application, name="literature", help="Build, serve and search snapshots of the literature.")
    application.add_typer(warehouse.application, name="warehouse", help="Export, compact, document and verify the lake.")
    return application
