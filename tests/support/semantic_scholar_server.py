"""A server on loopback that behaves like the Semantic Scholar API, its limits and its bad days
included.

Shapes follow the recorded answers: an empty search has no `data`, withheld references are null, a
batch without any known id is a 400, nested lists of a batch are cut off over the whole batch, in
silence.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, unquote

from flows.works.evaluate.request import bundled_file
from tests.support.loopback import ServedApplication
from tests.support.stalls import Stalls

FAULTS = ("429", "500", "503", "504", "truncated", "slow", "dropped")
Json = dict[str, Any]
Fault = Callable[[int, str], str | None]
"""(number of the request from 0, path) → a word of `FAULTS`, or None to answer well."""

_STANDING_AT_THE_DOOR_SECONDS = 0.3
_TOO_MANY = {
    "message": (
        "Too Many Requests. Please wait and try again or apply for a key for higher rate limits."
    ),
    "code": "429",
}
_BODIES = {
    "429": _TOO_MANY,
    "500": {"message": "Internal Server Error"},
    "503": {"message": "Service Unavailable"},
    "504": {"message": "Endpoint request timed out"},
}


def paper_id(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()


def _paper(identifier: str, corpus_id: int, doi: str | None, **fields: Any) -> Json:
    names = {"CorpusId": corpus_id} | ({"DOI": doi} if doi else {})
    closed = {"url": "", "status": None, "license": None, "disclaimer": "Notice"}
    return {
        "paperId": identifier,
        "corpusId": corpus_id,
        "externalIds": names,
        "url": f"https://www.semanticscholar.org/paper/{identifier}",
        "openAccessPdf": closed,
        **fields,
    }


def corpus(count: int, references_each: int = 3) -> list[Json]:
    """`count` papers about numbered topics; each cites the ones before it.

    Every seventh withholds its references.
    """
    papers = []
    for number in range(count):
        cited = [paper_id(str(each)) for each in range(max(0, number - references_each), number)]
        topic, year = number % 10, 2015 + number % 10
        papers.append(
            _paper(
                paper_id(str(number)),
                1000 + number,
                f"10.1000/{number}",
                title=f"Study {number} of topic {topic} in graphs",
                abstract=f"We study topic {topic} with method {number % 4}, find effect {number}.",
                authors=[{"authorId": str(number), "name": f"Author {number}"}],
                venue="Venue",
                year=year,
                publicationDate=f"{year}-0{1 + number % 9}-11" if number % 3 else None,
                citationCount=number,
                referenceCount=len(cited),
                cited=None if number % 7 == 6 else cited,
                topic=topic,
            )
        )
    return papers


def bundled_corpus() -> list[Json]:
    """The bundled papers as Semantic Scholar would describe them; none is open access."""
    rows = map(json.loads, bundled_file("papers.jsonl").read_text().splitlines())
    return [
        _paper(
            paper_id(row["url"]),
            5000 + number,
            row["doi"],
            title=row["title"],
            abstract=row["abstract"],
            authors=[
                {"authorId": str(place), "name": name} for place, name in enumerate(row["authors"])
            ],
            venue=row["venue"],
            year=row["year"],
            publicationDate=None,
            citationCount=row["citation_count"],
            referenceCount=0,
            cited=[],
            topic=number // 15,
        )
        for number, row in enumerate(rows)
    ]


@dataclass
class SemanticScholarServer:
    """Use as a context manager. Queries with `lost_word` are never answered.

    `requests_per_second` None: no limit is enforced, but arrivals are recorded all the same.
    """

    papers: list[Json]
    requests_per_second: float | None = None
    fault: Fault = lambda number, path: None
    lost_word: str | None = None
    slow_seconds: float = 3.0
    most_nested_rows: int = 9_999
    largest_quick_batch: int = 500
    delay_seconds: float = 0.0
    arrivals: list[float] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    refused: int = 0
    stalls: Stalls = field(default_factory=Stalls)

    def __post_init__(self) -> None:
        self._by_name = {name: paper for paper in self.papers for name in _names(paper)}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._served.port}"

    @property
    def counts(self) -> Counter[str]:
        return Counter(path.split("/v1/")[1] for path in self.paths)

    def violations(self, requests_per_second: float) -> int:
        """How many requests came when the second before them already held the allowance.

        Not counted where this server itself was held up when the first of the second came: it then
            stood at the door.
        """
        allowed = max(int(requests_per_second), 1)
        window = allowed / requests_per_second
        return sum(
            later - earlier < window
            and not self.stalls.touched(earlier - _STANDING_AT_THE_DOOR_SECONDS, earlier)
            for earlier, later in zip(self.arrivals, self.arrivals[allowed:], strict=False)
        )

    def too_early(self, requests_per_second: float, began_at: float) -> int:
        """How many requests came earlier than an allowance that began then had room for.

        Nothing that is late can add to them.
        """
        return sum(
            moment < began_at + number / requests_per_second
            for number, moment in enumerate(self.arrivals)
        )

    def __enter__(self) -> Self:
        limited = self.requests_per_second is not None
        self._served = ServedApplication(
            self._application, beside=self.stalls.watch if limited else None
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._served.stop()

    async def _application(self, scope: Any, receive: Any, send: Any) -> None:
        number, now, path = len(self.arrivals), time.monotonic(), scope["path"]
        self.arrivals.append(now)
        self.paths.append(path)
        self.keys.add(dict(scope["headers"]).get(b"x-api-key", b"").decode() or None)
        body = b""
        while (message := await receive()).get("more_body") or message.get("body"):
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        fault = self.fault(number, path)
        if self._over_limit(number, now):
            self.refused += 1
            fault = "429"
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        query = scope["query_string"].decode()
        if self.lost_word is not None and self.lost_word in unquote(query).lower():
            fault = "503"
        if fault in _BODIES:
            await _send(send, int(fault), _BODIES[fault])
            return
        asked = parse_qs(query, keep_blank_values=True)
        parameters = {name: values[-1] for name, values in asked.items()}
        status, answer = self._answer(scope["method"], unquote(path), parameters, body)
        if fault == "slow":
            await asyncio.sleep(self.slow_seconds)
        await _send(send, status, answer, cut=fault == "truncated", drop=fault == "dropped")

    def _over_limit(self, number: int, now: float) -> bool:
        if self.requests_per_second is None:
            return False
        allowed = max(int(self.requests_per_second), 1)
        window = allowed / self.requests_per_second
        return number >= allowed and now - self.arrivals[number - allowed] < window

    def _answer(
        self, method: str, path: str, parameters: dict[str, str], body: bytes
    ) -> tuple[int, Any]:
        fields = parameters.get("fields", "title").split(",")
        if "nonsense" in fields:
            return 400, {"error": "Unrecognized or unsupported fields: [nonsense]"}
        if (method, path) == ("POST", "/graph/v1/paper/batch"):
            return self._batch(json.loads(body)["ids"], fields)
        if path.partition("/v1/")[2] in ("paper/search", "paper/search/bulk", "snippet/search"):
            return self._search(path, parameters, fields)
        if path.startswith("/recommendations/v1/papers"):
            seeds = [path.rpartition("/forpaper/")[2]]
            if "/forpaper/" not in path:
                seeds = json.loads(body).get("positivePaperIds")
            return self._recommend(seeds, parameters, fields)
        name = path.removeprefix("/graph/v1/paper/")
        name, _, direction = (
            name.rpartition("/") if name.endswith(("/references", "/citations")) else (name, "", "")
        )
        paper = self._by_name.get(name.lower())
        if paper is None:
            return 404, {"error": f"Paper with id {name} not found"}
        if direction:
            return self._links(paper, direction, parameters, fields)
        return 200, _view(paper, fields)

    def _batch(self, identifiers: list[str], fields: list[str]) -> tuple[int, Any]:
        self.batches.append(identifiers)
        if len(identifiers) > self.largest_quick_batch:
            return 504, _BODIES["504"]
        if any(not each.strip() or each.endswith(":") for each in identifiers):
            return 400, {"error": "Invalid paper id"}
        found = [self._by_name.get(each.lower()) for each in identifiers]
        if not any(found):
            return 400, {"error": "No valid paper ids given"}
        left = self.most_nested_rows
        inner = [each.removeprefix("references.") for each in fields if "references." in each]
        rows: list[Json | None] = []
        for paper in found:
            row = _view(paper, fields) if paper else None
            if paper and row is not None and inner:
                cited = paper["cited"]
                row["references"] = None if cited is None else []
                for each in (cited or ())[:left]:
                    # Reference rows often lack the abstract that the paper itself has.
                    lacking = {"abstract": None} if "abstract" in inner else {}
                    row["references"].append(_view(self._by_name[each], inner) | lacking)
                left -= len(row["references"] or ())
            rows.append(row)
        return 200, rows

    def _search(self, path: str, parameters: dict[str, str], fields: list[str]) -> tuple[int, Any]:
        words = set(parameters.get("query", "").lower().split())
        limit, offset = int(parameters.get("limit", "10")), int(parameters.get("offset", "0"))
        if offset + limit >= 1000 and path.endswith("paper/search"):
            told = "Relevance search offset + limit must be < 1000. Consider '/paper/search/bulk'"
            return 400, {"error": told}
        ranked = sorted(
            (-len(words & set(paper["title"].lower().split())), paper["corpusId"])
            for paper in self._within(parameters)
        )
        hits = [self._by_name[f"corpusid:{corpus_id}"] for score, corpus_id in ranked if score]
        page = hits[:1000] if path.endswith("bulk") else hits[offset : offset + limit]
        if path.endswith("snippet/search"):
            passages = [self._snippet(paper, place) for place, paper in enumerate(page)]
            return 200, {"data": passages, "retrievalVersion": "test"}
        body: Json = {"total": len(hits), "offset": offset}
        if hits:
            body["data"] = [_view(paper, fields) for paper in page]
        if path.endswith("bulk") and hits:
            body["token"] = None
        elif offset + limit < len(hits):
            body["next"] = offset + limit
        return 200, body

    def _snippet(self, paper: Json, place: int) -> Json:
        cited = [str(self._by_name[each]["corpusId"]) for each in paper["cited"] or ()]
        mentions = [{"start": 0, "end": 4, "matchedPaperCorpusId": each} for each in (*cited, None)]
        return {
            "score": round(0.8 - place / 1000, 4),
            "paper": {"corpusId": str(paper["corpusId"]), "title": paper["title"], "authors": []},
            "snippet": {
                "text": f"Body text of {paper['title']}.",
                "snippetKind": "body",
                "section": "Introduction",
                "snippetOffset": {"start": 10, "end": 99},
                "annotations": {"refMentions": mentions, "sentences": []},
            },
        }

    def _recommend(
        self, seeds: list[str], parameters: dict[str, str], fields: list[str]
    ) -> tuple[int, Any]:
        if not seeds:
            return 400, {"error": "No positive paper examples given"}
        if "publicationDateOrYear" in parameters:
            return 400, {"error": "Unacceptable query params: [publicationDateOrYear]"}
        paper = self._by_name.get(seeds[0].lower())
        if paper is None:
            return 404, {"error": "Input papers not found"}
        alike = [each for each in self.papers if each["topic"] == paper["topic"]]
        limit = int(parameters.get("limit", "100"))
        return 200, {"recommendedPapers": [_view(each, fields) for each in alike[:limit]]}

    def _links(
        self, paper: Json, direction: str, parameters: dict[str, str], fields: list[str]
    ) -> tuple[int, Any]:
        if direction == "references" and paper["cited"] is None:
            elided = {"disclaimer": "elided by the publisher: {'references'}"}
            return 200, {"data": None, "citingPaperInfo": {"openAccessPdf": elided}}
        linked, side = paper["cited"], "citedPaper"
        if direction == "citations":
            name, side = paper["paperId"], "citingPaper"
            linked = [each["paperId"] for each in self.papers if name in (each["cited"] or ())]
        offset, limit = int(parameters.get("offset", "0")), int(parameters.get("limit", "100"))
        rows = [
            {"contexts": [], "isInfluential": False, side: _view(self._by_name[each], fields)}
            for each in linked[offset : offset + limit]
        ]
        more = {"next": offset + limit} if offset + limit < len(linked) else {}
        return 200, {"offset": offset, "data": rows, **more}

    def _within(self, parameters: dict[str, str]) -> Iterable[Json]:
        """Undated papers count as of 1 January of their year, as the API documents."""
        last = parameters.get("publicationDateOrYear", ":").partition(":")[2] or "9999"
        return [
            paper
            for paper in self.papers
            if (paper["publicationDate"] or f"{paper['year']}-01-01") <= last
        ]


def _names(paper: Json) -> list[str]:
    doi = paper["externalIds"].get("DOI", "").lower()
    return [
        paper["paperId"],
        f"corpusid:{paper['corpusId']}",
        *([doi, f"doi:{doi}"] if doi else []),
    ]


def _view(paper: Json, fields: list[str]) -> Json:
    return {
        name: paper.get(name) for name in dict.fromkeys(["paperId", *fields]) if "." not in name
    }


async def _send(
    send: Any, status: int, body: Any, *, cut: bool = False, drop: bool = False
) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    content = content[: len(content) // 2] if cut or drop else content
    length = len(content) + (100 if drop else 0)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
