"""A warehouse whose catalogue is elsewhere than its settings say."""

from pydantic import SecretStr

from schemas.settings import Settings
from warehouse.layout import Layout
from warehouse.warehouse import Warehouse


def with_catalogue(place: Layout, url: str | None) -> Warehouse:
    """The warehouse there, with its catalogue in PostgreSQL at `url`; None: in a file."""
    return Warehouse(place.root, Settings(catalogue_url=None if url is None else SecretStr(url)))
