"""A loopback server that stands for any web API: it follows a script of good and bad answers and
remembers what it was asked.

`ShapedServer` scripts what happens; `SHAPES` knows how each source words the same few finds.
"""

import functools
import gzip
import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from tests.support.loopback import Loopback, QuietHandler, serving

GOOD = "good"
"""Script words: good · empty · malformed · truncated · half · dropped · hangs · endless · drips ·
bomb · packed_oddly · html · elsewhere · moved · a status such as "429" or "429:<Retry-After>" ·
"to:<Location>". The last word of a script stays.
"""


@functools.cache
def bomb() -> bytes:
    """A gzip of 200 MB of zeros, in 200 KB."""
    return gzip.compress(bytes(200_000_000), 6)


@dataclass(frozen=True)
class Find:
    """Something a source has. `published` as an ISO day; None: the source gives no date."""

    title: str
    published: str | None = "2020-05-17"
    number: int = 1


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    parameters: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)

    @property
    def everything(self) -> str:
        """Address, headers and body as one text: what the wire carried."""
        return f"{self.path} {self.parameters} {self.headers} {self.body!r}"


@dataclass
class ShapedServer(Loopback):
    """A running server.

    `finds` may be changed between requests, and so may `script` and `headers`.
    """

    shape: Callable[[Sequence[Find]], str]
    finds: tuple[Find, ...] = ()
    script: list[str] = field(default_factory=lambda: [GOOD])
    headers: dict[str, str] = field(default_factory=dict)
    error_body: str = '{"message": "no"}'
    asked: list[Asked] = field(default_factory=list)
    answered: threading.Event = field(default_factory=threading.Event)

    def next_word(self) -> str:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def shaped_server(
    shape: Callable[[Sequence[Find]], str],
) -> AbstractContextManager[ShapedServer]:
    """Run a server on a free port for the length of the block."""
    return serving(lambda port: ShapedServer(port, shape), _Handler)


class _Handler(QuietHandler):
    def answer(self) -> None:
        server: ShapedServer = self.told
        parts = urlsplit(self.path)
        query, headers = parse_qs(parts.query), dict(self.headers)
        server.asked.append(Asked(self.command, parts.path, query, headers, self.body()))
        word = server.next_word()
        try:
            self._follow(server, word, query)
        except OSError:
            return
        finally:
            server.answered.set()

    def _follow(self, server: ShapedServer, word: str, query: dict[str, list[str]]) -> None:
        good = _selected(server.shape(server.finds), query.get("select")).encode()
        if word == "hangs":
            server.closing.wait(30)
        elif word == "dropped":
            self._send(200, server.headers | {"Content-Length": str(len(good) + 100)}, good[:20])
        elif word == "endless":
            self._send(200, server.headers, b"")
            while not server.closing.is_set():
                self.wfile.write(b" " * 65536)
        elif word in ("drips", "bomb", "packed_oddly"):
            self._be_hostile(server, word, good)
        elif word == "moved":
            self._whole(301, server.headers | {"Location": f"{server.url}{self.path}"}, b"")
        elif word == "elsewhere" or word.startswith("to:"):
            place = word[3:] if word.startswith("to:") else "http://elsewhere.invalid/"
            self._whole(302, server.headers | {"Location": place}, b"")
        elif word[:3].isdigit():
            status, _, retry_after = word.partition(":")
            more = {"Retry-After": retry_after} if retry_after else {}
            self._whole(int(status), server.headers | more, server.error_body.encode())
        else:
            self._whole(
                200, server.headers, _BODIES.get(word, lambda _, whole: whole)(server, good)
            )

    def _be_hostile(self, server: ShapedServer, word: str, good: bytes) -> None:
        if word == "bomb":
            self._whole(200, server.headers | {"Content-Encoding": "gzip"}, bomb())
        elif word == "packed_oddly":
            self._whole(200, server.headers | {"Content-Encoding": "br"}, good)
        else:
            self._send(200, server.headers, good[:1])
            while not server.closing.wait(0.02):
                self.wfile.write(b" ")

    def _whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self._send(status, headers | {"Content-Length": str(len(body))}, body)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in (headers | {"Connection": "close"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _selected(body: str, select: list[str] | None) -> str:
    """Cut the rows of OpenAlex's answer to the fields asked for, as OpenAlex does."""
    if not select or not body.startswith('{"'):
        return body
    answer = json.loads(body)
    if "results" not in answer:
        return body
    fields = select[0].split(",")
    rows = [{name: row[name] for name in fields if name in row} for row in answer["results"]]
    return json.dumps(answer | {"results": rows})


_BODIES: dict[str, Callable[[ShapedServer, bytes], bytes]] = {
    "empty": lambda server, _: server.shape(()).encode(),
    "malformed": lambda _, __: b'{"unexpected": {"shape": [1, 2]}}',
    "truncated": lambda _, good: good[: max(len(good) // 2, 1)],
    "half": lambda _, good: good.replace(
        b"sparse", b"sparse &#xD800;" if good.lstrip().startswith(b"<") else rb"sparse \ud800"
    ),
    "html": lambda _, __: b"<!doctype html><html><body>Sign in</body></html>",
}


def _atom(finds: Sequence[Find]) -> str:
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/2005.{find.number:05d}v2</id>"
        f"<title>{escape(find.title)}</title><summary>About it.</summary>"
        + (f"<published>{find.published}T00:00:00Z</published>" if find.published else "")
        + "<author><name>Ada Writer</name></author><link title='pdf'"
        f" href='http://arxiv.org/pdf/2005.{find.number:05d}v2'/></entry>"
        for find in finds
    )
    return (
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"'
        ' xmlns:s="http://a9.com/-/spec/opensearch/1.1/">'
        f"<s:totalResults>{len(finds)}</s:totalResults>{entries}</feed>"
    )


def _listed(
    row: Callable[[Find], dict[str, Any]], wrap: Callable[[list[dict[str, Any]]], Any]
) -> Callable[[Sequence[Find]], str]:
    def worded(finds: Sequence[Find]) -> str:
        rows = [row(find).items() for find in finds]
        return json.dumps(wrap([{k: v for k, v in each if v is not None} for each in rows]))

    return worded


def _page(find: Find) -> str:
    return f"https://pages.example.org/{find.number}"


def _year(find: Find) -> int | None:
    return int(find.published[:4]) if find.published else None


def _unpaywall(finds: Sequence[Find]) -> str:
    if not finds:
        none = {"best_oa_location": None, "oa_locations": []}
        told = {"doi": "10.1234/none", "title": "A closed paper", "year": 2001}
        return json.dumps(none | told)
    find, page = finds[0], "https://pages.example.org/a.pdf"
    location = {"url_for_pdf": page, "url": page}
    told = {"doi": f"10.1234/{find.number}", "title": find.title, "published_date": find.published}
    return json.dumps(told | {"best_oa_location": location, "oa_locations": [location]})


def _hit(url: str, text: str, day: str) -> Callable[[Find], dict[str, Any]]:
    """A row of a web search, whose address, text and day stand under these names."""
    return lambda find: {
        "title": find.title,
        url: _page(find),
        text: "About it.",
        day: find.published,
    }


SHAPES: dict[str, Callable[[Sequence[Find]], str]] = {
    "arxiv": _atom,
    "openalex": _listed(
        lambda find: {
            "id": f"https://openalex.org/W{find.number}",
            "doi": f"https://doi.org/10.1234/{find.number}",
            "title": find.title,
            "publication_date": find.published,
            "abstract_inverted_index": {"it.": [1], "About": [0]},
        },
        lambda rows: {"meta": {"count": len(rows), "next_cursor": None}, "results": rows},
    ),
    "crossref": _listed(
        lambda find: {
            "DOI": f"10.1234/{find.number}",
            "title": [find.title],
            "abstract": "<jats:title>Abstract</jats:title><jats:p>About it.</jats:p>",
            "issued": {"date-parts": [[*map(int, (find.published or "").split("-"))]]}
            if find.published
            else {"date-parts": [[None]]},
        },
        lambda rows: {"status": "ok", "message": {"total-results": len(rows), "items": rows}},
    ),
    "unpaywall": _unpaywall,
    "serper_scholar": _listed(
        lambda find: {"title": find.title, "link": _page(find), "year": _year(find)},
        lambda rows: {"searchParameters": {}, "organic": rows},
    ),
    "searxng": _listed(
        _hit("url", "content", "publishedDate"),
        lambda rows: {"query": "q", "results": rows, "unresponsive_engines": []},
    ),
    "serper": _listed(
        _hit("link", "snippet", "date"), lambda rows: {"searchParameters": {}, "organic": rows}
    ),
    "tavily": _listed(
        _hit("url", "content", "published_date"), lambda rows: {"query": "q", "results": rows}
    ),
    "brave": _listed(
        _hit("url", "description", "page_age"),
        lambda rows: {"type": "search", **({"web": {"results": rows}} if rows else {})},
    ),
    "github_repositories": _listed(
        lambda find: {
            "full_name": find.title,
            "html_url": _page(find),
            "description": None,
            "stargazers_count": 7,
            "created_at": f"{find.published}T08:00:00Z" if find.published else None,
        },
        lambda rows: {"total_count": len(rows), "incomplete_results": False, "items": rows},
    ),
    "github_code": _listed(
        lambda find: {
            "path": find.title,
            "html_url": _page(find),
            "repository": {"full_name": "lab/code"},
        },
        lambda rows: {"total_count": len(rows), "incomplete_results": False, "items": rows},
    ),
    **{
        name: _listed(
            lambda find, day=day: {  # type: ignore[misc]
                "ref": f"lab/{find.number}",
                "title": find.title,
                day: find.published,
            },
            lambda rows: rows,
        )
        for name, day in (("kaggle_datasets", "lastUpdated"), ("kaggle_notebooks", "lastRunTime"))
    },
}
"""By source name: a body with these finds, as the API words it."""
