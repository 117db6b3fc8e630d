"""`assay`: the command line.

Commands live in `flows/commands`, one file each, imported when they run.
"""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from typing import Annotated

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from typer.exceptions import TyperException

from flows.environment import prepare_environment
from flows.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, EXIT_USAGE
from flows.interruption import INTERRUPTED_LINE
from flows.terminal import SafeFormatter, safe
from schemas.errors import (
    AssayError,
    BudgetExhaustedError,
    ConfigurationError,
    IdeaFileError,
    PromptError,
    SnapshotError,
)
from schemas.settings import Settings

_USAGE = (ConfigurationError, IdeaFileError, SnapshotError, PromptError)
_EXIT_OF_TYPER_ON_INTERRUPT = 130


def main() -> None:
    """Entry point of the console script: run a command, print one line for an error, exit with its
    code.
    """
    log = logging.StreamHandler(sys.stderr)
    log.setFormatter(SafeFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    sys.exit(run_command(lambda: application()(standalone_mode=False)))


def run_command(command: Callable[[], object]) -> int:
    """The exit code of `command`; whatever the user can mend is one line on stderr, never a
    traceback.
    """
    try:
        prepare_environment(Settings().home)
        result = command()
    except TyperException as error:
        _complain_of_usage(error)
        return EXIT_USAGE
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except RuntimeError as error:
        if isinstance(
            error.__cause__, KeyboardInterrupt
        ):  # as DuckDB hands on a Ctrl-C that came while it was answering
            return _interrupted()
        raise
    except ValidationError as error:
        first = error.errors()[0]
        _complain(f"setting {'.'.join(str(part) for part in first['loc'])}: {first['msg']}")
        return EXIT_USAGE
    except SettingsError as error:
        _complain(
            f"{error}; the fields of a section are set one by one, as in"
            " ASSAY_LITERATURE__REQUESTS_PER_SECOND=1"
        )
        return EXIT_USAGE
    except AssayError as error:
        _complain(str(error))
        return (
            EXIT_BUDGET
            if isinstance(error, BudgetExhaustedError)
            else EXIT_USAGE
            if isinstance(error, _USAGE)
            else EXIT_FAILURES
        )
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # without it Python complains once more as it ends
        return EXIT_DONE
    except OSError as error:
        _complain(
            f"{error.filename or 'the system refused'}: {error.strerror or error}; check the path,"
            " its permissions and the disk"
        )
        return EXIT_USAGE
    if result == _EXIT_OF_TYPER_ON_INTERRUPT:
        return _interrupted()
    return result if isinstance(result, int) else EXIT_DONE


def _interrupted() -> int:
    with suppress(OSError):  # the terminal may be gone
        sys.stderr.write(f"{INTERRUPTED_LINE}\n")
    return EXIT_FAILURES


def _complain_of_usage(error: TyperException) -> None:
    """One line for a wrong option; a group called without a command has printed its help page
    already and says no more.
    """
    message = error.format_message().replace("Value error, ", "")
    if not message.strip():
        return
    context = getattr(error, "ctx", None)
    hint = f" (`{context.command_path} --help`)" if context is not None else ""
    _complain(" ".join(message.split()) + hint)


def _complain(line: str) -> None:
    sys.stderr.write(f"assay: {safe(' '.join(line.splitlines()))}\n")


def _tell_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"assay {metadata.version('assay')}\n")
        raise typer.Exit


def _options_of_all(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options that stand before the command."""


def application() -> typer.Typer:
    """All commands, with their options and help texts."""
    from flows.commands import (
        benchmark,
        check,
        dashboard,
        demo,
        doctor,
        evaluate,
        literature,
        plan,
        rank,
        report,
        sql,
        warehouse,
    )
    from flows.commands.options import Commands

    commands = Commands(
        name="assay",
        help="Evaluate batches of research ideas against the scientific literature.",
        epilog=(
            "Exit codes: 0 done; 1 more failures than allowed; 2 wrong usage or configuration; 3"
            " budget reached."
        ),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    commands.callback()(_options_of_all)
    commands.command("demo")(demo.demo)
    commands.command("evaluate")(evaluate.evaluate)
    commands.command("plan")(plan.plan)
    commands.command("rank")(rank.rank)
    commands.command("benchmark")(benchmark.benchmark)
    commands.command("check")(check.check)
    commands.command("report")(report.report)
    commands.command("dashboard")(dashboard.dashboard)
    commands.command("sql")(sql.sql)
    commands.command("doctor")(doctor.doctor)
    commands.add_typer(
        literature.application,
        name="literature",
        help="Build, serve and search snapshots of the literature.",
    )
    commands.add_typer(
        warehouse.application,
        name="warehouse",
        help="Export, compact, document and verify the lake.",
    )
    return commands
