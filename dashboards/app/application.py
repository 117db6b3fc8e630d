"""ASGI application: the sign-in and the pages behind it."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from dashboards.app.access import Access
from dashboards.app.data import open_lake
from dashboards.app.guards import AdmittedOnly, OwnPagesOnly
from dashboards.app.sign_in import SignIn
from dashboards.app.site import Site
from schemas.settings import Settings


def pages(settings: Settings) -> ASGIApp:
    """Build the application over the warehouse of the settings."""
    lake = open_lake(settings)
    access = Access(lake.warehouse, settings.dashboard)
    site = Site(lake, access)
    return Starlette(
        routes=[*SignIn(access).routes(), *site.routes()],
        exception_handlers={404: site.no_such_page},
        middleware=[Middleware(OwnPagesOnly), Middleware(AdmittedOnly, access=access)],
    )
