"""The one list of sources, and how to open them."""

from collections.abc import Iterable

from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.sources.arxiv import ArxivSource
from tasks.sources.brave import BraveSource
from tasks.sources.crossref import CrossrefSource
from tasks.sources.github import GithubCodeSource, GithubRepositorySource
from tasks.sources.http_source import HttpSource
from tasks.sources.kaggle import KaggleDatasetSource, KaggleNotebookSource
from tasks.sources.openalex import OpenAlexSource
from tasks.sources.searxng import SearxngSource
from tasks.sources.serper import SerperScholarSource, SerperSource
from tasks.sources.source import Source
from tasks.sources.tavily import TavilySource
from tasks.sources.unpaywall import UnpaywallSource
from tasks.sources.upstream import SourceContext

SOURCES: tuple[type[HttpSource], ...] = (
    ArxivSource,
    OpenAlexSource,
    CrossrefSource,
    UnpaywallSource,
    SerperScholarSource,
    SearxngSource,
    SerperSource,
    TavilySource,
    BraveSource,
    GithubRepositorySource,
    GithubCodeSource,
    KaggleDatasetSource,
    KaggleNotebookSource,
)


def open_sources(
    settings: Settings, context: SourceContext, names: Iterable[str] | None = None
) -> tuple[Source, ...]:
    """The named sources, or all, in the order of `SOURCES`. One without its key is opened too: asked, it says so.

    Raises:
        ConfigurationError: no source has such a name.
    """
    known = {source.name: source for source in SOURCES}
    wanted = set(known if names is None else names)
    if unknown := sorted(wanted - set(known)):
        raise ConfigurationError(
            f"no source is named {', '.join(unknown)}: choose from {', '.join(known)}"
        )
    return tuple(source(settings, context) for name, source in known.items() if name in wanted)


def configured(settings: Settings) -> tuple[str, ...]:
    """Names of the sources that have all they need."""
    return tuple(source.name for source in SOURCES if source.missing_setting(settings) is None)
