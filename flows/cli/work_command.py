"""Commands of declared kinds of work, derived from their jobs."""

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.options import Json, output_option
from schemas.people.work_job import Argument, WorkJob

_KEYWORD_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


def command_of(job: type[WorkJob]) -> Callable[..., int]:
    """Return the function of a command: its arguments and options, `--output` and `--json`."""
    command_line, name = job.command_line, job.name_of_command()

    def command(
        options: Any, output: Path | None = None, json: bool = False, **arguments: Any
    ) -> int:
        from flows.cli.works import run
        from flows.works.evaluate.idea_input import idea_file

        with ExitStack() as stack:
            values = tuple(
                stack.enter_context(idea_file(arguments[each.name]))
                if each.standard_input
                else arguments[each.name]
                for each in command_line.arguments
            )
            return run(name, values, options, output, as_json=json)

    formats = (
        f"Write here instead of to stdout, by the ending: {command_line.formats}; else Markdown."
    )
    required_arguments = [each for each in command_line.arguments if each.default is ...]
    command.__doc__ = command_line.help or job.__doc__
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *map(_parameter, required_arguments),
            inspect.Parameter(
                "options", _KEYWORD_KIND, annotation=job.model_fields["options"].annotation
            ),
            *(
                _parameter(each)
                for each in command_line.arguments
                if each not in required_arguments
            ),
            inspect.Parameter(
                "output",
                _KEYWORD_KIND,
                default=None,
                annotation=Annotated[Path | None, output_option(formats)],
            ),
            inspect.Parameter("json", _KEYWORD_KIND, default=False, annotation=Json),
        ]
    )
    return command


def _parameter(argument: Argument) -> inspect.Parameter:
    positional = typer.Argument(metavar=argument.metavar, help=argument.help)
    return inspect.Parameter(
        argument.name,
        _KEYWORD_KIND,
        default=inspect.Parameter.empty if argument.default is ... else argument.default,
        annotation=Annotated[argument.type, positional],
    )
