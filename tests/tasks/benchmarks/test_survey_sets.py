"""Questions with known answers: reference lists, core papers, search questions, planted papers."""

import gzip
import json
from datetime import date
from pathlib import Path

from tasks.benchmarks.survey_sets import (
    HUBS,
    PLANTED_PAPERS,
    core_papers,
    given_paper,
    planted_graph,
    reference_lists,
    search_questions,
    write_papers,
)
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import Snapshot


def row(name: str, year: int, references: list[str] | None) -> dict[str, object]:
    about = {"title": f"The long title of {name}", "abstract": "A.", "authors": [], "venue": ""}
    link = {"url": f"https://example.org/{name}", "references": references}
    return {"paper_id": name, "year": year, **about, **link}


def snapshot_of(folder: Path, rows: list[dict[str, object]]) -> Snapshot:
    return build_snapshot(write_papers(rows, folder / "p.jsonl"), folder / "index")


def test_a_reference_list_counts_what_had_appeared_the_year_before(tmp_path: Path) -> None:
    old = [row(f"old{number}", 2000, []) for number in range(3)]
    same = row("same", 2005, [])
    asked = row("asked", 2005, ["old0", "old1", "same", "elsewhere"])
    cites_later = row("later", 2009, ["asked", "old2"])
    snapshot = snapshot_of(tmp_path, [*old, same, asked, cites_later])
    cases = {case.case_id: case for case in reference_lists(snapshot, 2)}
    assert set(cases) == {"asked", "later"}
    assert cases["asked"].relevant == {given_paper("old0"), given_paper("old1")}
    assert (cases["asked"].cutoff, cases["asked"].question) == (
        date(2004, 12, 31),
        "The long title of asked",
    )
    assert [case.case_id for case in reference_lists(snapshot, 3)] == []


def test_a_snapshot_without_references_has_no_lists(tmp_path: Path) -> None:
    rows = [{**row("a", 2000, None)}]
    del rows[0]["references"]
    assert reference_lists(snapshot_of(tmp_path, rows), 1) == []


def test_core_papers_of_a_topic_are_those_in_its_pool(tmp_path: Path) -> None:
    lines = [
        {"paper_id": f"p{number}", "topic": topic, "title": "T", "abstract": "A", "core": core}
        for number, (topic, core) in enumerate(
            [("a", True), ("a", True), ("a", False), ("b", True)]
        )
    ]
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    (case,) = core_papers(path, 2)
    assert (case.question, case.relevant) == ("a", {given_paper("p0"), given_paper("p1")})


def test_answers_count_that_the_snapshot_holds_by_title(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path, [row("here", 2000, [])])
    answers = [{"title": "The long title of HERE"}, {"title": "A title nobody has"}]
    queries = [
        {"id": "q1", "query": "what is here", "answers": answers},
        {"id": "q2", "query": "what is elsewhere", "answers": answers[1:]},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(map(json.dumps, queries)))
    (case,) = search_questions(path, snapshot)
    assert (case.case_id, case.relevant) == ("q1", {given_paper("here")})


def test_planted_papers_are_named_in_part_and_hubs_cite_nothing() -> None:
    graph = planted_graph(7)
    assert graph == planted_graph(7) != planted_graph(8)
    by_id = {given_paper(str(row["paper_id"])): row for row in graph.rows}
    for case in graph.cases[:3]:
        assert len(case.relevant) == PLANTED_PAPERS
        named = [
            set(case.question.split()) & set(str(by_id[name]["title"]).split())
            for name in case.relevant
        ]
        assert sum(map(bool, named)) == PLANTED_PAPERS // 4
    hubs = [row for row in graph.rows if str(row["paper_id"]).startswith("hub")]
    assert [row["references"] for row in hubs] == [[]] * HUBS
