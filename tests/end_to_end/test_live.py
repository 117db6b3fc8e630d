"""The whole job over the live API's own protocol: a Semantic-Scholar-shaped server with a limit and bad days."""

import json
import random
from pathlib import Path

import pytest

from flows.request import bundled
from tests.support.assay_command import assay, rows
from tests.support.semantic_scholar_server import FAULTS, Json, SemanticScholarServer, paper_id

pytestmark = [pytest.mark.end_to_end, pytest.mark.undisturbed]

REQUESTS_PER_SECOND = 30
KEY = "s2-very-secret-key"


def bundled_corpus() -> list[Json]:
    """The bundled papers as Semantic Scholar would describe them; none is open access."""
    papers = []
    for number, line in enumerate(bundled("papers.jsonl").read_text().splitlines()):
        paper = json.loads(line)
        identifier = paper_id(paper["url"])
        papers.append(
            {
                "paperId": identifier,
                "corpusId": 5000 + number,
                "externalIds": {"CorpusId": 5000 + number, **({"DOI": paper["doi"]} if paper["doi"] else {})},
                "title": paper["title"],
                "abstract": paper["abstract"],
                "authors": [{"authorId": str(place), "name": name} for place, name in enumerate(paper["authors"])],
                "venue": paper["venue"],
                "year": paper["year"],
                "publicationDate": None,
                "url": f"https://www.semanticscholar.org/paper/{identifier}",
                "openAccessPdf": {"url": "", "status": None, "license": None, "disclaimer": "Notice"},
                "citationCount": paper["citation_count"],
                "referenceCount": 0,
                "cited": [],
                "topic": number // 15,
            }
        )
    return papers


def test_a_batch_is_evaluated_against_a_limited_and_faulty_live_api(env: dict[str, str], tmp_path: Path) -> None:
    dice = random.Random(11)
    faults = [dice.choice(FAULTS) if dice.random() < 0.1 else None for _ in range(5_000)]
    ideas = tmp_path / "two.jsonl"
    ideas.write_text("".join(bundled("ideas.jsonl").read_text().splitlines(keepends=True)[5:7]))
    warehouse = tmp_path / "warehouse"
    with SemanticScholarServer(bundled_corpus(), REQUESTS_PER_SECOND, lambda number, path: faults[number], slow_seconds=3.0) as server:
        live = {
            "ASSAY_LITERATURE__UPSTREAM_URL": server.url,
            "ASSAY_LITERATURE__REQUESTS_PER_SECOND": str(REQUESTS_PER_SECOND),
            "ASSAY_LITERATURE__TIMEOUT_SECONDS": "2",
            "ASSAY_LITERATURE__MAXIMUM_ATTEMPTS": "12",
            "ASSAY_LITERATURE__RETRY_BASE_SECONDS": "0.05",
            "SEMANTIC_SCHOLAR_API_KEY": KEY,
        }
        done = assay("evaluate", str(ideas), "--warehouse", str(warehouse), "--json", env={**env, **live})
        assert done.returncode == 0, done.stderr
        assert server.violations(REQUESTS_PER_SECOND) == 0
        assert server.keys == {KEY}
    run = json.loads(done.stdout)["run"]
    assert (run["evaluated_count"], run["failed_count"]) == (2, 0)
    assert run["literature"].startswith("live:")
    assert all(entry["score"] is not None for entry in json.loads(done.stdout)["ranking"])
    repeated = rows(warehouse, "select attempt, status, failure_reason from api_calls where attempt > 1")
    assert repeated, "some requests met a fault and were sent again, each a row"
    sections = rows(warehouse, "select distinct text_source from paper_sections")
    assert sections == [{"text_source": "metadata"}]
    assert rows(warehouse, "select distinct reason from failures") == [{"reason": "no_open_access"}]
    assert not [path for path in warehouse.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
