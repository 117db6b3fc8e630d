"""The list of sources."""

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from inspect import isabstract

import tasks.sources
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.sources.http_source import HttpSource
from tasks.sources.requests import SourceContext


def _sources() -> tuple[type[HttpSource], ...]:
    """Return the source classes defined in the modules of this folder."""
    modules = [
        import_module(f"{tasks.sources.__name__}.{info.name}")
        for info in pkgutil.iter_modules(tasks.sources.__path__)
        if info.name != __name__.rpartition(".")[2]
    ]
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, HttpSource)
        and value.__module__ == module.__name__
        and not isabstract(value)
    )


SOURCES = _sources()


def open_sources(
    settings: Settings, context: SourceContext, names: Iterable[str] | None = None
) -> tuple[HttpSource, ...]:
    """Open the named sources, or all, in the order of `SOURCES`.

    A source without its key is opened too; its answers report the missing key.

    Raises:
        ConfigurationError: no source has such a name.
    """
    by_name = {source.name: source for source in SOURCES}
    selected_names = set(by_name if names is None else names)
    if unknown_names := sorted(selected_names - set(by_name)):
        raise ConfigurationError(
            f"no source is named {', '.join(unknown_names)}: choose from {', '.join(by_name)}"
        )
    return tuple(
        source(settings, context) for name, source in by_name.items() if name in selected_names
    )


def configured(settings: Settings) -> tuple[str, ...]:
    """Return the names of the sources with all required settings."""
    return tuple(source.name for source in SOURCES if source.missing_setting(settings) is None)
