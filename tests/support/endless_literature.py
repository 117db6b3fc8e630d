"""Semantic Scholar as the plan expects it: every query finds papers, four of five of them new,
every seed has neighbours.

Papers are made from what was asked, so there are as many as anyone wants. Answers are the same for
the same question.
"""

import hashlib
import itertools
from typing import Any

import httpx
import orjson

Json = dict[str, Any]
ABSTRACT_WORDS = 170
"""1,144 characters, as 87,106 real abstracts have on average."""
_SHARED_OF_FIVE = 1


def endless_literature(request: httpx.Request) -> httpx.Response:
    """A handler for `httpx.MockTransport`."""
    path, parameters = request.url.path, request.url.params
    limit = int(parameters.get("limit", "100"))
    if path.endswith("paper/search"):
        return _answer({"total": 1_000, "offset": 0, "data": _found(parameters["query"], limit)})
    if path.endswith("snippet/search"):
        return _answer({"data": [_snippet(parameters["query"], place) for place in range(limit)]})
    if path.endswith("paper/batch"):
        with_references = "references." in parameters["fields"]
        return _answer(
            [
                _whole(identifier, with_references)
                for identifier in orjson.loads(request.content)["ids"]
            ]
        )
    seeds = (
        orjson.loads(request.content)["positivePaperIds"]
        if request.content
        else [path.rsplit("/", 1)[-1]]
    )
    return _answer(
        {
            "recommendedPapers": [
                _paper(f"like {seeds[place % len(seeds)]} {place}") for place in range(limit)
            ]
        }
    )


def _answer(body: Any) -> httpx.Response:
    return httpx.Response(200, stream=httpx.ByteStream(orjson.dumps(body)))


def _found(query: str, limit: int) -> list[Json]:
    """One of five papers belongs to every query; the others hold words of this one."""
    words = query.split()
    pairs = itertools.cycle(itertools.combinations(words, min(3, len(words))))
    own = (_paper(f"{query} {place}", " ".join(next(pairs))) for place in range(limit))
    return [
        _paper(f"common {place // 5}") if place % 5 < _SHARED_OF_FIVE else paper
        for place, paper in enumerate(own)
    ]


def _snippet(query: str, place: int) -> Json:
    mentioned = [
        {"matchedPaperCorpusId": str(_corpus_id(f"{query} mentions {place} {number}"))}
        for number in range(1 + (place % 5 == 0))
    ]
    snippet = {
        "text": f"{query} {place}",
        "snippetKind": "body",
        "snippetOffset": {"start": place},
        "annotations": {"refMentions": mentioned},
    }
    return {
        "score": 1 - place / 1_000,
        "paper": {"corpusId": str(_corpus_id(f"{query} {place}"))},
        "snippet": snippet,
    }


def _whole(identifier: str, with_references: bool) -> Json:
    row = _paper(identifier)
    if identifier.startswith("CorpusId:"):
        row["corpusId"] = int(identifier.removeprefix("CorpusId:"))
    else:
        row["paperId"] = identifier
    if with_references:
        cited = [_paper(f"{identifier} cites {number}") for number in range(30)]
        row["references"] = [
            {**paper, "abstract": None} if number % 2 else paper
            for number, paper in enumerate(cited)
        ]
    return row


def _paper(name: str, words: str = "") -> Json:
    digest = hashlib.sha256(name.encode()).hexdigest()
    text = (
        f"{words} "
        + " ".join(digest[place : place + 6] for place in range(0, 60, 6))
        + " study of measured things"
    )
    abstract = " ".join(itertools.islice(itertools.cycle(text.split()), ABSTRACT_WORDS))[:1_144]
    title = f"Study {digest[:10]} of {words or 'things'} in a longer title"
    return {
        "paperId": digest[:40],
        "corpusId": _corpus_id(name),
        "title": title,
        "abstract": abstract,
        "year": _year(digest),
        "url": "",
    }


def _year(digest: str) -> int:
    """A third of the papers appeared later than any idea of a test."""
    return 2030 if int(digest[:8], 16) % 3 == 0 else 2015


def _corpus_id(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:12], 16)
