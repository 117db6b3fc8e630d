"""`assay`: the command line.

Commands live in `flows/cli/<group>`, one file each, imported when they run.
"""

import io
import logging
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from pydantic import AliasChoices, ValidationError
from pydantic_settings import SettingsError
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from flows.cli.answer import (
    EXIT_BUDGET,
    EXIT_DONE,
    EXIT_FAILURES,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    error_answer,
    print_answer,
    write_answer,
)
from flows.cli.terminal import SafeFormatter, safe
from flows.run.interruption import INTERRUPTED_LINE
from schemas.errors import (
    AssayError,
    BudgetExhaustedError,
    ConfigurationError,
    DiskFullError,
    IdeaFileError,
    PromptError,
    PublicationError,
    SnapshotError,
    full_disk,
)
from schemas.interpreter import collect_garbage_seldom

_USAGE = (ConfigurationError, IdeaFileError, SnapshotError, PromptError)


# Titles of the help page by folder.
SECTIONS = {
    "evaluate": "Evaluate",
    "literature": "Ask the literature",
    "make": "Make",
    "quality": "Judge quality",
    "people": "People",
    "operate": "Operate",
}
COMMANDS = {  # folders of commands, in help order; kinds of work have their own
    "demo": "evaluate",
    "evaluate": "evaluate",
    "plan": "evaluate",
    "rank": "evaluate",
    "report": "evaluate",
    "export": "evaluate",
    "sql": "evaluate",
    "prior": "evaluate",
    "recommend": "literature",
    "benchmark": "quality",
    "request": "people",
    "inbox": "people",
    "decide": "people",
    "vote": "people",
    "votes": "people",
    "dashboard": "operate",
    "api": "operate",
    "mcp": "operate",
    "worker": "operate",
    "doctor": "operate",
}
GROUPS = {
    "runs": ("evaluate", "List, show, compare and delete runs."),
    "literature": ("literature", "Build, serve, search and audit snapshots of the literature."),
    "experiment": ("make", "Test programs on a task in a sandbox, with statistics."),
    "people": ("people", "Add, list and forget the participants behind pseudonyms."),
    "accounts": ("people", "Manage accounts of the dashboard."),
    "tokens": ("people", "Manage access tokens for the API and MCP."),
    "ledger": ("people", "Verify the audit log against the data."),
    "jobs": ("operate", "Run and list the jobs submitted on the dashboard or by programs."),
    "warehouse": ("operate", "Export, compact, document and verify the lake."),
}
_TOP_LEVEL_FLAGS = frozenset({"--help", "-h", "--version", "-V"})
_MAIN_JOB = (
    ("assay demo", "evaluate a bundled sample, offline"),
    ("assay evaluate ideas.jsonl", "evaluate, publish and rank a batch of ideas"),
    ("assay report RUN --idea ID", "read the review of one idea"),
)
_EVERY_COMMAND = (
    "`assay COMMAND --help` explains a command; --commands lists all with a line each;"
    " --version or -V; --install-completion and --show-completion of the shell."
)
_EXIT_CODES = (
    "Exit codes: 0 done; 1 the run is not in order (more ideas unscored or entries rejected"
    " than allowed); 2 wrong usage or configuration; 3 budget reached; 4 waits for people;"
    " 130 interrupted."
)


class FirstScreen(TyperGroup):
    """Help within 80 columns and 24 lines: main commands, then all by group."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 -- as typer calls it
        width = formatter.width
        example_lines = [f"    {command:<28}{purpose}" for command, purpose in _MAIN_JOB]
        lines = ["Usage: assay COMMAND [OPTIONS] [ARGUMENTS]", *_wrap(f"{self.help}", width)]
        for each in example_lines:
            lines += textwrap.wrap(each, width, subsequent_indent=" " * 6)
        lines += ["", *_in_groups(width), ""]
        lines += textwrap.wrap(_EVERY_COMMAND, width, break_on_hyphens=False) + textwrap.wrap(
            _EXIT_CODES, width
        )
        formatter.write("\n".join(lines) + "\n")


def _wrap(text: str, width: int) -> list[str]:
    return ["", *textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  "), ""]


def commands_of(folder: str) -> list[str]:
    """List the commands of a folder; those of declared kinds come first."""
    from schemas.works.registry import work_jobs  # late: it imports the nouns of every kind
    from tasks.works import WORKS

    jobs = work_jobs()
    work_sections = {
        name: jobs[name].command_line.section
        for name in WORKS
        if name in jobs and name not in GROUPS
    }
    folders = work_sections | COMMANDS | {name: of for name, (of, _) in GROUPS.items()}
    return [name for name, of in folders.items() if of == folder]


def _in_groups(width: int) -> Iterator[str]:
    for folder, title in SECTIONS.items():
        names = "  ".join(commands_of(folder))
        yield from textwrap.wrap(f"{title:<20}{names}", width, subsequent_indent=" " * 20)


def main() -> None:
    """Run the console script: one line per error, then exit with the code."""
    collect_garbage_seldom()
    replace_what_cannot_be_shown()
    log_to_stderr()
    only = sys.argv[1] if len(sys.argv) > 1 else None
    sys.exit(run_command(lambda: application(only)(prog_name="assay", standalone_mode=False)))


def replace_what_cannot_be_shown() -> None:
    """Have `?` written for characters that the encoding of stdout or stderr lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def log_to_stderr() -> None:
    """Write warnings of all libraries to stderr, safe for a terminal."""
    log = logging.StreamHandler(sys.stderr)
    log.setFormatter(SafeFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a command.

    Attributes:
        line: error for the user; empty: there was none, or it was printed.
        result: return value of the command.
    """

    exit_code: int
    line: str = ""
    interrupted: bool = False
    result: object = None


def run_command(command: Callable[[], object]) -> int:
    """Run a command; return its exit code.

    Errors that users can fix, and interruptions, are one line on stderr instead of a traceback.
    With `--json`, they are a JSON object on stdout too.
    """
    ending = ending_of(command)
    as_json = "--json" in sys.argv[1:]
    if ending.line and as_json:
        write_answer(error_answer(ending.line))
    if ending.interrupted:
        with suppress(OSError):  # the terminal may be gone
            if as_json:
                line = INTERRUPTED_LINE.removeprefix("assay: ")
                print_answer("interrupted", warnings=(line,))
            sys.stderr.write(f"{INTERRUPTED_LINE}\n")
    elif ending.line:
        sys.stderr.write(f"assay: {ending.line}\n")
    return ending.exit_code


def ending_of(command: Callable[[], object]) -> Ending:
    try:
        result = command()
    except TyperException as error:
        return Ending(EXIT_USAGE, _one_line(_usage(error)))
    except (typer.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except RuntimeError as error:
        if isinstance(
            error.__cause__, KeyboardInterrupt
        ):  # DuckDB raises a RuntimeError for Ctrl-C during a query
            return _INTERRUPTED
        raise
    except ValidationError as error:
        first = error.errors()[0]
        place = _variable(".".join(str(part) for part in first["loc"]))
        return Ending(
            EXIT_USAGE, _one_line(f"setting {place}: {first['msg'].removeprefix('Value error, ')}")
        )
    except SettingsError as error:
        hint = "the fields of a section are set one by one, as in"
        line = f"{error}; {hint} ASSAY_LITERATURE__REQUESTS_PER_SECOND=1"
        return Ending(EXIT_USAGE, _one_line(line))
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # else Python reports the closed pipe again at exit
        return Ending(EXIT_DONE)
    except (AssayError, OSError) as error:
        return _failure(error)
    if result == EXIT_INTERRUPTED:
        return _INTERRUPTED
    return Ending(result if isinstance(result, int) else EXIT_DONE, result=result)


def _failure(error: AssayError | OSError) -> Ending:
    if isinstance(error, (DiskFullError, PublicationError)):
        return Ending(EXIT_FAILURES, _one_line(str(error)))
    if line := full_disk(error):
        return Ending(EXIT_FAILURES, _one_line(line))
    if isinstance(error, OSError):
        error_text = f"{error.filename or 'the system refused'}: {error.strerror or error}"
        return Ending(
            EXIT_USAGE, _one_line(f"{error_text}; check the path, its permissions and the disk")
        )
    if isinstance(error, BudgetExhaustedError):
        return Ending(EXIT_BUDGET, _one_line(str(error)))
    code = EXIT_USAGE if isinstance(error, _USAGE) else EXIT_FAILURES
    return Ending(code, _one_line(str(error)))


def _variable(place: str) -> str:
    """Return the environment variable in use, where a setting has several names."""
    from schemas.settings import Settings  # late: needed after an error only

    names = (field.validation_alias for field in Settings.model_fields.values())
    choices = (each.choices for each in names if isinstance(each, AliasChoices))
    spellings = next((each for each in choices if place in each), [])
    return next((str(name) for name in spellings if name in os.environ), place)


_INTERRUPTED = Ending(EXIT_INTERRUPTED, interrupted=True)


def _usage(error: TyperException) -> str:
    """Return the usage error; empty for a group without a command, which prints its help."""
    message, context = error.format_message(), getattr(error, "ctx", None)
    if context is not None and message == context.get_help():
        sys.stdout.write(f"{message}\n")
        return ""
    message = message.replace("Value error, ", "")
    hint = f" (`{context.command_path} --help`)" if context is not None else ""
    return " ".join(message.split()) + hint


def _one_line(text: str) -> str:
    return safe(" ".join(text.splitlines()))


def _print_version(requested: bool) -> None:
    if requested:
        sys.stdout.write(f"assay {metadata.version('assay')}\n")
        raise typer.Exit


def _print_commands(requested: bool) -> None:
    if not requested:
        return
    commands: Any = get_command(application())
    for folder, title in SECTIONS.items():
        lines = [f"{title}:"]
        for name in commands_of(folder):
            summary = commands.commands[name].get_short_help_str(10_000)
            lines += textwrap.wrap(f"  {name:<12}{summary}", 79, subsequent_indent=" " * 14)
        sys.stdout.write("\n".join([*lines, "", ""]))
    raise typer.Exit


def _options_of_all(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            metavar="",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    commands: Annotated[
        bool,
        typer.Option(
            "--commands",
            metavar="",
            callback=_print_commands,
            is_eager=True,
            help="List all commands with a line each and exit.",
        ),
    ] = False,
) -> None:
    """Define the options that stand before the command."""


def application(only: str | None = None) -> typer.Typer:
    """Return all commands, with their options and help texts.

    Args:
        only: the command or group to import, to save the imports of the others; a mistyped name
            imports all.
    """
    from flows.cli.options import Commands

    commands = Commands(
        name="assay",
        help="Evaluate batches of research ideas against the scientific literature.",
        cls=FirstScreen,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    commands.callback()(_options_of_all)
    for name in _names(only):
        if name in GROUPS:
            folder, description = GROUPS[name]
            group = import_module(f"flows.cli.{folder}.{name}").application
            commands.add_typer(group, name=name, help=description, short_help=description)
        elif name in COMMANDS:
            module = import_module(f"flows.cli.{COMMANDS[name]}.{name}")
            commands.command(name)(getattr(module, name))
        else:
            _add_work(commands, name)
    return commands


def _names(only: str | None) -> Sequence[str]:
    if only in _TOP_LEVEL_FLAGS:
        return ()
    if only in COMMANDS or only in GROUPS:
        return (only,)
    from tasks.works import WORKS

    return (only,) if only in WORKS else tuple(dict.fromkeys((*COMMANDS, *WORKS, *GROUPS)))


def _add_work(commands: Any, name: str) -> None:
    """Add the command of a declared kind: from its file, else derived from its job."""
    from schemas.works.registry import work_job

    job = work_job(name)
    place = f"flows.cli.{job.command_line.section}.{name}"
    if find_spec(place) is not None:
        commands.command(name)(getattr(import_module(place), name))
        return
    from flows.cli.work_command import command_of

    examples = job.command_line.examples or (f"assay {name} ideas.jsonl",)
    commands.command(name, examples=examples)(command_of(job))
