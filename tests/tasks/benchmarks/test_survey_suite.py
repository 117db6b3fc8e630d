"""Suite `survey`: what following the graph adds at equal papers judged, and questions with known
answers.
"""

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from schemas.choices import LiteratureChoice
from tasks.benchmarks.suites.survey import (
    METRICS,
    PAPERS_JUDGED,
    SUITE,
    CaseSet,
    RecallResult,
    _score,
)
from tasks.benchmarks.survey_sets import (
    HUBS,
    PLANTED_PAPERS,
    SurveyCase,
    core_papers,
    paper_id_of,
    planted_graph,
    reference_lists,
    search_questions,
    write_papers,
)
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import Snapshot
from tests.support.benchmark_sets import (
    BareTrial,
    benchmark_request,
    never_evaluate,
    run_small,
    scores_of,
    write_core_papers,
)

Found = dict[tuple[str, str, str], tuple[float | None, str | None, int]]


def row(name: str, year: int = 2000, references: list[str] | None = None) -> dict[str, Any]:
    about = {"title": f"The long title of {name}", "abstract": "A.", "authors": [], "venue": ""}
    link = {"url": f"https://example.org/{name}", "references": references or []}
    return {"paper_id": name, "year": year, **about, **link}


def snapshot_of(folder: Path, rows: list[dict[str, Any]]) -> Snapshot:
    return build_snapshot(write_papers(rows, folder / "p.jsonl"), folder / "index")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("data")
    write_core_papers(folder, "bat calls")
    rows = [row(f"bat calls {number}") for number in range(12)]
    for one in rows:
        del one["references"]
    snapshot_of(folder, rows).close()
    literature = LiteratureChoice(folder / "index")
    request = benchmark_request(folder, SUITE, literature=literature, item_limit=2)
    summary = run_small(SUITE, request, never_evaluate)
    assert (summary.published, summary.failed_expectations) == (True, ())
    return scores_of(request)


@pytest.mark.long
def test_hops_find_planted_papers_that_searches_miss_at_equal_papers_judged(found: Found) -> None:
    part, depths = "set=generated", ("depth_0", "depth_1", "depth_2")
    recall = [found["recall_of_judged", part, depth][0] or 0 for depth in depths]
    assert recall[0] < 0.4 < recall[1] < recall[2]
    for depth in depths:
        assert found["judged_count", part, depth][0] == PAPERS_JUDGED
        assert found["relevant_share_of_found", part, depth][0] is not None
    assert found["recall_gain", part, "depth_2"][0] == pytest.approx(recall[2] - recall[0])
    core = "set=survey_core_papers_litqeval"
    assert found["recall_of_judged", core, "depth_0"][:2] == (1.0, None)
    assert ("recall_gain", core, "depth_1") not in found


def test_without_references_there_is_a_reason_instead_of_a_gain() -> None:
    trial: Any = BareTrial("survey", record=lambda *_, **__: None)
    case = SurveyCase("a", "How do bats hunt?", frozenset({paper_id_of("a")}))
    bare = CaseSet("bare", LiteratureChoice.parse("live"), [case], has_references=False)
    for depth in (0, 2):
        _score(trial, bare, depth, {"a": RecallResult(recall_of_judged=1.0, judged_count=1)})
    found = {(one.metric, one.system): one for one in trial.scores}
    assert found["recall_of_judged", "depth_0"].value == 1.0
    for metric in METRICS:
        reason = found[metric, "depth_2"].undefined_reason
        assert reason == "this literature has no references"


def test_a_reference_list_counts_what_had_appeared_the_year_before(tmp_path: Path) -> None:
    old = [row(f"old{number}") for number in range(3)]
    asked = row("asked", 2005, ["old0", "old1", "same", "elsewhere"])
    cites_later = row("later", 2009, ["asked", "old2"])
    snapshot = snapshot_of(tmp_path, [*old, row("same", 2005), asked, cites_later])
    cases = {case.case_id: case for case in reference_lists(snapshot, 2)}
    assert set(cases) == {"asked", "later"}
    assert cases["asked"].relevant == {paper_id_of("old0"), paper_id_of("old1")}
    expected = (date(2004, 12, 31), "The long title of asked")
    assert (cases["asked"].cutoff, cases["asked"].question) == expected
    assert reference_lists(snapshot, 3) == []


def test_core_papers_and_answers_count_that_the_pool_or_the_snapshot_holds(tmp_path: Path) -> None:
    told = [("a", True), ("a", True), ("a", False), ("b", True)]
    lines = [
        {"paper_id": f"p{number}", "topic": topic, "title": "T", "abstract": "A", "core": core}
        for number, (topic, core) in enumerate(told)
    ]
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    (case,) = core_papers(path, 2)
    assert (case.question, case.relevant) == ("a", {paper_id_of("p0"), paper_id_of("p1")})
    answers = [{"title": "The long title of HERE"}, {"title": "A title nobody has"}]
    queries = [
        {"id": "q1", "query": "what is here", "answers": answers},
        {"id": "q2", "query": "what is elsewhere", "answers": answers[1:]},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(map(json.dumps, queries)))
    (case,) = search_questions(path, snapshot_of(tmp_path, [row("here")]))
    assert (case.case_id, case.relevant) == ("q1", {paper_id_of("here")})


def test_planted_papers_are_named_in_part_and_hubs_cite_nothing() -> None:
    graph = planted_graph(7)
    assert graph == planted_graph(7) != planted_graph(8)
    by_id = {paper_id_of(str(one["paper_id"])): one for one in graph.rows}
    for case in graph.cases[:3]:
        assert len(case.relevant) == PLANTED_PAPERS
        titles = [set(str(by_id[name]["title"]).split()) for name in case.relevant]
        assert sum(bool(set(case.question.split()) & title) for title in titles) == 10
    hubs = [one for one in graph.rows if str(one["paper_id"]).startswith("hub")]
    assert [one["references"] for one in hubs] == [[]] * HUBS
