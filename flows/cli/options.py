"""Command-line options derived from option models."""

import inspect
import tomllib
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cache, wraps
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

import annotated_types
import typer
from pydantic import BeforeValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from flows.cli.terminal import set_verbosity
from flows.run.environment import prepare_environment
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.options.values import IDEA_FILES, LITERATURES, Options, flag_of, option_text
from schemas.place import AddressOfWarehouse
from schemas.settings import Settings
from warehouse.permissions import keep_private

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
_READ_BY_TYPER = (bool, int, float, Path, StrEnum)

_IDEAS = typer.Argument(metavar="IDEAS", help=IDEA_FILES)
Ideas = Annotated[Path, _IDEAS]
IdeasOrNone = Annotated[Path | None, _IDEAS]
ShowFields = Annotated[
    bool,
    typer.Option(
        "--fields", metavar="", help="Only show what each column is read as; nothing is asked."
    ),
]


def _check_output_path(output: Path | None) -> Path | None:
    """Raise ConfigurationError for an unusable path before any work is done."""
    if output is not None and not output.absolute().parent.is_dir():
        raise ConfigurationError(f"--output {output}: there is no folder {output.parent}; make it")
    if output is not None and output.is_dir():
        raise ConfigurationError(f"--output {output} is a folder: name a file in it")
    return output


def output_option(help_text: str) -> Any:
    """Return the option `--output` or `-o`, which checks its path at once."""
    return typer.Option(
        "--output", "-o", metavar="FILE", help=help_text, callback=_check_output_path
    )


Searched = Annotated[
    str | None,
    typer.Option(
        "--literature",
        metavar=LITERATURES,
        help="What searches ask. Default: live when a key is set, else the bundled sample.",
    ),
]
Output = Annotated[Path | None, output_option("Write here instead of to stdout.")]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Machine-readable output on stdout.")
]


class Commands(typer.Typer):
    """Commands with options from their `Options` parameter, and examples in their help."""

    def __init__(self, **settings: Any) -> None:
        # Boxes would cut off option names in a terminal of 60 columns.
        super().__init__(rich_markup_mode=None, no_args_is_help=True, **settings)

    def command(
        self, name: str | None = None, *, examples: Sequence[str] = (), **settings: Any
    ) -> Callable[[CommandT], CommandT]:
        """Register a command; `examples` replace those of `examples.toml`."""

        def add(command: CommandT) -> CommandT:
            module = command.__module__.rpartition(".")[2]
            path = f"{name}" if module == name else f"{module} {name}"
            first = " ".join((command.__doc__ or "").split()).partition(". ")[0].rstrip(".")
            register = super(Commands, self).command(
                name,
                short_help=f"{first}.",
                epilog=_epilog(examples or _examples()[path]),
                **settings,
            )
            register(with_options(command))
            return command

        return add


def _epilog(examples: Sequence[str]) -> str:
    r"""Return examples for click, which keeps the lines after `\b` as they are."""
    lines = "\n".join(examples).splitlines()
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@cache
def _examples() -> dict[str, list[str]]:
    return tomllib.loads(resources.files(__package__).joinpath("examples.toml").read_text("utf-8"))


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return `command` with a parameter for each field of its option models."""
    signature = inspect.signature(command)
    models = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if inspect.isclass(parameter.annotation) and issubclass(parameter.annotation, Options)
    }

    @wraps(command)
    def run(quiet: bool = False, verbose: bool = False, **values: Any) -> Any:
        set_verbosity(quiet=quiet, verbose=verbose)
        prepare_environment(Settings().home)
        for name, model in models.items():
            values[name] = _build_options(
                model, {field: values.pop(field) for field in model.model_fields}
            )
        return command(**values)

    parameters = [
        each
        for name, parameter in signature.parameters.items()
        for each in (_parameters(models[name]) if name in models else (parameter,))
    ]
    parameters += inspect.signature(_verbosity).parameters.values()
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _verbosity(
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Only answers and errors.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", metavar="", help="Say each step too.")
    ] = False,
) -> None:
    """Define the options that every command has."""


def _build_options(model: type[Options], values: dict[str, Any]) -> Options:
    flags = {flag_of(name) for name in (*model.model_fields, "json", "quiet", "verbose")}
    for name, value in values.items():
        if str(value) in flags:  # else its value would be read as an argument
            raise ConfigurationError(f"{flag_of(name)} has no value: {value} stands in its place")
    options = model(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
            if value is not None
        }
    )
    if isinstance(options, LakeOptions):
        keep_private(options.warehouse)
    return options


def _parameters(model: type[Options]) -> Iterator[inspect.Parameter]:
    """Yield a command's own options, then those it shares."""
    names = (name for each in model.__mro__ for name in inspect.get_annotations(each))
    for name in dict.fromkeys(names):
        if name in model.model_fields:
            yield _parameter(name, model.model_fields[name])


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    extra, flag, typer_type = field.json_schema_extra, flag_of(name), _read_by_typer(field)
    assert isinstance(extra, dict)
    bounds = {type(each): each for each in field.metadata}
    option = (
        output_option(str(field.description))
        if name == "output"
        else typer.Option(
            f"{flag}/{flag.replace('--', '--no-', 1)}" if typer_type == bool | None else flag,
            metavar=str(extra["metavar"]),
            envvar=str(extra["variable"]) if extra["variable"] else None,
            help=field.description,
            min=getattr(bounds.get(annotated_types.Ge), "ge", None),
            max=getattr(bounds.get(annotated_types.Le), "le", None),
        )
    )
    kind, default = inspect.Parameter.POSITIONAL_OR_KEYWORD, _default(field.default)
    return inspect.Parameter(name, kind, default=default, annotation=Annotated[typer_type, option])


def _read_by_typer(field: FieldInfo) -> Any:
    """Return the type for typer; values that the model parses are text."""
    annotation = field.annotation
    if annotation == tuple[str, ...]:
        return list[str] | None
    optional = NoneType in get_args(annotation)
    kind = get_args(annotation)[0] if optional else annotation
    read_here = any(
        isinstance(each, BeforeValidator | AddressOfWarehouse) for each in field.metadata
    )
    plain = not read_here and inspect.isclass(kind) and issubclass(kind, _READ_BY_TYPER)
    typer_type: Any = kind if plain else str
    return typer_type | None if optional else typer_type


def _default(value: Any) -> Any:
    if value is PydanticUndefined:
        return ...  # typer's marker for a required option
    if value in (None, ()):
        return None
    plain = isinstance(value, _READ_BY_TYPER) and not isinstance(value, Path)
    return value if plain else option_text(value)
