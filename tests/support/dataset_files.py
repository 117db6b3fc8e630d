"""Small Semantic Scholar releases and OpenAlex snapshots of invented papers, laid out as their
publishers do.
"""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.paper_files import paper_rows

Record = dict[str, Any]


def write_part(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(each) + "\n" for each in records)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def release_records(count: int, first: int = 1) -> dict[str, list[Record]]:
    """The five datasets of papers `first` to `first + count - 1`.

    Paper n cites n-1, n-2 and one that is not there, each edge twice as in real releases.
    """
    papers, abstracts, tldrs, identifiers, citations = [], [], [], [], []
    rows = paper_rows(first + count)
    for number in range(first, first + count):
        row = rows[number]
        identifiers.append({"sha": f"{number:040x}", "corpusid": number, "primary": True})
        identifiers.append({"sha": f"{number + 10**6:040x}", "corpusid": number, "primary": False})
        papers.append(
            {
                "corpusid": number,
                "externalids": {
                    "DOI": row["doi"],
                    "ArXiv": f"2101.{number:05d}" if number % 3 == 0 else None,
                    "CorpusId": str(number),
                },
                "url": f"https://www.semanticscholar.org/paper/{number:040x}",
                "title": row["title"],
                "authors": [{"authorId": str(number), "name": name} for name in row["authors"]],
                "venue": row["venue"],
                "publicationvenueid": None,
                "year": row["year"],
                "referencecount": 0 if number == 1 else 3,
                "citationcount": row["citation_count"],
                "isopenaccess": number % 2 == 0,
                "s2fieldsofstudy": None,
                "publicationdate": f"{row['year']}-03-05" if number % 2 else None,
                "journal": None,
            }
        )
        if row["abstract"]:
            url = f"https://example.org/{number}.pdf" if number % 2 == 0 else None
            abstracts.append(
                {
                    "corpusid": number,
                    "openaccessinfo": {"externalids": {}, "url": url, "status": None},
                    "abstract": row["abstract"],
                }
            )
        if number % 4 == 0:
            tldrs.append(
                {"corpusid": number, "model": "tldr@v2.0.0", "text": f"Summary of zebra{number}."}
            )
        for place, cited in enumerate(
            (number - 1, number - 2, number + 10**7) if number > 1 else ()
        ):
            edge = {
                "citingcorpusid": number,
                "citedcorpusid": cited if cited else None,
                "isinfluential": place == 0 and number % 5 == 0,
                "contexts": [f"As shown in [{cited}], zebras run."] if number % 2 else None,
                "intents": [["background"]] if number % 2 else None,
            }
            citations += [
                {"citationid": number * 10 + place, **edge},
                {"citationid": number * 10 + place + 5, **edge},
            ]
    return {
        "papers": papers,
        "abstracts": abstracts,
        "tldrs": tldrs,
        "paper-ids": identifiers,
        "citations": citations,
    }


def write_release(folder: Path, records: Mapping[str, list[Record]], parts: int = 2) -> Path:
    """Every dataset in `parts` packed files under its own folder."""
    for name, rows in records.items():
        for part in range(parts):
            write_part(folder / name / f"20241018_{part}.gz", rows[part::parts])
    return folder


def work(number: int, cites: Iterable[int] = (), **changes: Any) -> Record:
    """An OpenAlex work."""
    row = paper_rows(number + 1)[number]
    words = (row["abstract"] or "").split()
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        index.setdefault(word, []).append(place)
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": f"https://doi.org/{row['doi']}" if row["doi"] else None,
        "title": row["title"],
        "publication_date": f"{row['year']}-06-07",
        "publication_year": row["year"],
        "authorships": [{"author": {"display_name": name}} for name in row["authors"]],
        "primary_location": {
            "landing_page_url": row["url"],
            "pdf_url": None,
            "source": {"display_name": row["venue"]},
        },
        "best_oa_location": {"pdf_url": row["pdf_url"]} if row["pdf_url"] else None,
        "open_access": {
            "is_oa": bool(row["pdf_url"]),
            "oa_status": "green",
            "oa_url": row["pdf_url"],
        },
        "cited_by_count": row["citation_count"],
        "referenced_works": [f"https://openalex.org/W{each}" for each in cites],
        "abstract_inverted_index": index or None,
        "keywords": [{"display_name": name} for name in row["keywords"]],
        **changes,
    }
