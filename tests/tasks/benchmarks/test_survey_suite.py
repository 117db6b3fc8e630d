"""Suite `survey` from its data to the lake: what following the graph adds at
equal papers judged.
"""

import pytest

from schemas.choices import LiteratureChoice
from tasks.benchmarks.records import json_lines
from tasks.benchmarks.suites.survey import METRICS, PAPERS_JUDGED, SUITE
from tasks.benchmarks.survey_sets import write_papers
from tasks.literature.snapshot.build import build_snapshot
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    scores_of,
    write_core_papers,
)

Found = dict[tuple[str, str, str], tuple[float | None, str | None, int]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("data")
    path = write_core_papers(folder, "bat calls")
    rows = [
        {**one, "authors": [], "venue": "", "url": "", "year": 2000} for one in json_lines(path)
    ]
    own = write_papers(rows, folder / "own.jsonl")
    build_snapshot(own, folder / "index").close()
    request = benchmark_request(
        folder, SUITE, literature=LiteratureChoice(folder / "index"), item_limit=2
    )
    summary = run_small(SUITE, request, never_evaluate)
    assert (summary.published, summary.failed_expectations) == (True, ())
    return scores_of(request)


@pytest.mark.long
def test_hops_find_planted_papers_that_searches_miss_at_equal_papers_judged(found: Found) -> None:
    recall = [
        found["recall_of_judged", "set=generated", f"depth_{depth}"][0] or 0 for depth in (0, 1, 2)
    ]
    assert recall[0] < 0.4 < recall[1] < recall[2]
    for depth in (0, 1, 2):
        judged = found["judged_count", "set=generated", f"depth_{depth}"][0]
        assert judged == PAPERS_JUDGED
        assert found["relevant_share_of_found", "set=generated", f"depth_{depth}"][0] is not None
    gain = found["recall_gain", "set=generated", "depth_2"][0]
    assert gain == pytest.approx(recall[2] - recall[0])


def test_without_references_there_is_a_reason_instead_of_a_gain(found: Found) -> None:
    part = "set=survey_core_papers_litqeval"
    value, reason, _ = found["recall_of_judged", part, "depth_0"]
    assert (value, reason) == (1.0, None)
    for metric in METRICS:
        assert found[metric, part, "depth_2"][:2] == (None, "this literature knows no references")
    assert ("recall_gain", part, "depth_1") not in found
