"""From a command's model of options to what the command line reads."""

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

from flows.cli.talk import set_talk
from flows.run.environment import prepare_environment
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.options.values import IDEA_FILES, LITERATURES, Options, flag_of, written
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


def _into_a_folder(output: Path | None) -> Path | None:
    """Before any work is done for a file that could not be written."""
    if output is not None and not output.absolute().parent.is_dir():
        raise ConfigurationError(f"--output {output}: there is no folder {output.parent}; make it")
    if output is not None and output.is_dir():
        raise ConfigurationError(f"--output {output} is a folder: name a file in it")
    return output


def output_option(help_text: str) -> Any:
    """Every `--output` is `-o` too, and refuses at once what cannot be written."""
    return typer.Option("--output", "-o", metavar="FILE", help=help_text, callback=_into_a_folder)


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
    """Commands whose options are the fields of their `Options` parameter, and whose help ends with
    the examples of `examples.toml`.
    """

    def __init__(self, **settings: Any) -> None:
        # Boxes cut the names of options off in a terminal of 60 columns.
        super().__init__(rich_markup_mode=None, no_args_is_help=True, **settings)

    def command(
        self, name: str | None = None, *, examples: Sequence[str] = (), **settings: Any
    ) -> Callable[[CommandT], CommandT]:
        """As typer's own; `examples` stand for those of `examples.toml`."""

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
    """Examples as click prints them: after its `\\b` lines are left as they are."""
    lines = "\n".join(examples).splitlines()
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@cache
def _examples() -> dict[str, list[str]]:
    return tomllib.loads(resources.files(__package__).joinpath("examples.toml").read_text("utf-8"))


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`command` with a parameter for each field of a model in place of the model itself."""
    signature = inspect.signature(command)
    models = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if inspect.isclass(parameter.annotation) and issubclass(parameter.annotation, Options)
    }

    @wraps(command)
    def run(quiet: bool = False, verbose: bool = False, **given: Any) -> Any:
        set_talk(quiet=quiet, verbose=verbose)
        prepare_environment(Settings().home)
        for name, model in models.items():
            given[name] = _read(model, {field: given.pop(field) for field in model.model_fields})
        return command(**given)

    parameters = [
        each
        for name, parameter in signature.parameters.items()
        for each in (_parameters(models[name]) if name in models else (parameter,))
    ]
    parameters += inspect.signature(_talk).parameters.values()
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _talk(
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Only answers and errors.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", metavar="", help="Say each step too.")
    ] = False,
) -> None:
    """Options of every command."""


def _read(model: type[Options], given: dict[str, Any]) -> Options:
    flags = {flag_of(name) for name in (*model.model_fields, "json", "quiet", "verbose")}
    for name, value in given.items():
        if str(value) in flags:  # else the option is gone, and its own value seems an argument
            raise ConfigurationError(f"{flag_of(name)} has no value: {value} stands in its place")
    options = model(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if value is not None
        }
    )
    if isinstance(options, LakeOptions):
        keep_private(options.warehouse)
    return options


def _parameters(model: type[Options]) -> Iterator[inspect.Parameter]:
    """A command's own options stand before those it shares."""
    own = (name for each in model.__mro__ for name in inspect.get_annotations(each))
    for name in dict.fromkeys(own):
        if name in model.model_fields:
            yield _parameter(name, model.model_fields[name])


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    extra, flag, read = field.json_schema_extra, flag_of(name), _read_by_typer(field)
    assert isinstance(extra, dict)
    bounds = {type(each): each for each in field.metadata}
    option = (
        output_option(str(field.description))
        if name == "output"
        else typer.Option(
            f"{flag}/{flag.replace('--', '--no-', 1)}" if read == bool | None else flag,
            metavar=str(extra["metavar"]),
            envvar=str(extra["variable"]) if extra["variable"] else None,
            help=field.description,
            min=getattr(bounds.get(annotated_types.Ge), "ge", None),
            max=getattr(bounds.get(annotated_types.Le), "le", None),
        )
    )
    keyed, default = inspect.Parameter.POSITIONAL_OR_KEYWORD, _default(field.default)
    return inspect.Parameter(name, keyed, default=default, annotation=Annotated[read, option])


def _read_by_typer(field: FieldInfo) -> Any:
    """The type as typer knows it: what the model reads itself is text to typer."""
    annotation = field.annotation
    if annotation == tuple[str, ...]:
        return list[str] | None
    optional = NoneType in get_args(annotation)
    kind = get_args(annotation)[0] if optional else annotation
    read_here = any(
        isinstance(each, BeforeValidator | AddressOfWarehouse) for each in field.metadata
    )
    plain = not read_here and inspect.isclass(kind) and issubclass(kind, _READ_BY_TYPER)
    read: Any = kind if plain else str
    return read | None if optional else read


def _default(value: Any) -> Any:
    if value is PydanticUndefined:
        return ...  # as typer says that an option must be given
    if value in (None, ()):
        return None
    plain = isinstance(value, _READ_BY_TYPER) and not isinstance(value, Path)
    return value if plain else written(value)
