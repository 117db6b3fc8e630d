"""The routes of the Semantic Scholar API that exist. Nothing else is ever asked of the upstream, which sees our key.

Source: the API's own documentation, Academic Graph v1 and Recommendations v1.
"""

from dataclasses import dataclass
from urllib.parse import quote

from tasks.web.addresses import stays_in_place

_GRAPH, _RECOMMENDATIONS = "/graph/v1/", "/recommendations/v1/"
_HERE = "{}"
_ROUTES: tuple[tuple[str, str, str], ...] = (
    ("GET", f"{_GRAPH}paper/search", "paper/search"),
    ("GET", f"{_GRAPH}paper/search/bulk", "paper/search/bulk"),
    ("GET", f"{_GRAPH}paper/search/match", "paper/search/match"),
    ("GET", f"{_GRAPH}paper/autocomplete", "paper/autocomplete"),
    ("GET", f"{_GRAPH}snippet/search", "snippet/search"),
    ("GET", f"{_GRAPH}author/search", "author/search"),
    ("POST", f"{_GRAPH}paper/batch", "paper/batch"),
    ("POST", f"{_GRAPH}author/batch", "author/batch"),
    ("POST", f"{_RECOMMENDATIONS}papers", "papers"),
    ("GET", f"{_RECOMMENDATIONS}papers/forpaper/{_HERE}", "papers/forpaper"),
    ("GET", f"{_GRAPH}author/{_HERE}/papers", "author/papers"),
    ("GET", f"{_GRAPH}author/{_HERE}", "author"),
    ("GET", f"{_GRAPH}paper/{_HERE}/authors", "paper/authors"),
    ("GET", f"{_GRAPH}paper/{_HERE}/citations", "paper/citations"),
    ("GET", f"{_GRAPH}paper/{_HERE}/references", "paper/references"),
    ("GET", f"{_GRAPH}paper/{_HERE}", "paper"),
)
"""(method, path, endpoint as it is counted); the first that fits is meant."""

_LONGEST_IDENTIFIER = 2_000
ENDPOINTS = frozenset(endpoint for _, _, endpoint in _ROUTES)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes.

    Attributes:
        endpoint: the path without version and identifier, one of `ENDPOINTS`.
        path: as it goes over the wire: an identifier is encoded and cannot leave its segment.
        identifier: of the paper or author; None where the route has none.
    """

    endpoint: str
    path: str
    identifier: str | None = None


def route_of(method: str, path: str) -> Route | None:
    """The route that a decoded path means, or None: the API has no such route, or the identifier can be none."""
    path = path.rstrip("/")
    for its_method, pattern, endpoint in _ROUTES:
        if method != its_method:
            continue
        before, placed, after = pattern.partition(_HERE)
        if not placed and path == before:
            return Route(endpoint, path)
        if (
            placed
            and len(path) > len(before) + len(after)
            and path.startswith(before)
            and path.endswith(after)
        ):
            identifier = path[len(before) : len(path) - len(after)]
            return (
                Route(endpoint, before + quote(identifier, safe=":") + after, identifier)
                if _possible(identifier)
                else None
            )
    return None


def _possible(identifier: str) -> bool:
    return len(identifier) <= _LONGEST_IDENTIFIER and stays_in_place(identifier)
