"""`assay curate` from a folder or a forum to a set that benchmarks read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboards.views.write_curation import curation_page
from flows.cli.answer import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.works import run
from flows.run.declared_campaign import run_id
from flows.run.estimate import estimate
from flows.run.requests import request_of
from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.works.curation_run import CURATIONS, CurateOptions, CurationRequest
from tasks.benchmarks.suites.coverage import read_scholarideas
from tasks.curation.openreview import NAME
from tasks.curation.work import CURATE
from tests.support.openai_server import OpenAIServer, Recorded, start_openai_server
from tests.support.openreview_server import note, openreview_server
from tests.support.reviewed_papers import (
    FIRST_REVIEW,
    SECOND_REVIEW,
    paper_pdf,
    peerread_folder,
    review_file,
)
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_units
from warehouse.warehouse import Warehouse

LONE = (FIRST_REVIEW,)
BOTH = (FIRST_REVIEW, SECOND_REVIEW)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a home of its own."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def curated(papers: Path | str, lab: Path, reviews: Path | None = None, **options: Any) -> int:
    asked = CurateOptions(warehouse=lab / "warehouse", **options)
    return run("curate", (str(papers), reviews), asked, lab / "ideas.jsonl", as_json=True)


def resolved(papers: Path, lab: Path, **options: Any) -> CurationRequest:
    asked = CurateOptions(warehouse=lab / "warehouse", **options)
    return request_of(CURATE, (str(papers), None), asked, Settings())


def test_peerread_folder_becomes_a_set_with_rows_and_reasons_of_what_was_left_out(
    lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = (*BOTH, "", "x" * 1_000_000)
    folder = peerread_folder(lab / "set", good=BOTH, hostile=hostile, lone=LONE)
    assert curated(folder, lab, discipline="ai", cutoff="2020-01-01", licence="CC0") == EXIT_DONE
    answer = json.loads(capsys.readouterr().out)
    assert answer["state"] == "curated"
    assert answer["warnings"] == ["lone: 1 of 1 reviews can be used, and 2 are asked for"]
    entry, _ = read_scholarideas(lab / "ideas.jsonl")
    assert (entry.idea.idea_id, entry.idea.group) == ("good", "ai")
    assert str(entry.idea.cutoff_date) == "2020-01-01"
    assert all((entry.idea.problem, entry.idea.method, entry.idea.experiment))
    assert {rubric.type for rubric in entry.rubrics} == {"strength", "weakness"}
    sheet = (lab / "ideas.datasheet.md").read_text()
    for told in ("CC0", "2020-01-01", "| ai | 2 |", "Not all of it is worded"):
        assert told in sheet
    run_id = RunId(answer["run"]["run_id"])
    warehouse = Warehouse(lab / "warehouse")
    with warehouse.reader() as connection:
        units = published_units(connection, kind_of(CURATIONS), run_id)
        reasons = connection.execute(
            "select reason from curated_drops where paper_id = 'hostile' and left_out_of = 'review'"
            " order by position"
        ).fetchall()
    assert reasons == [("empty",), ("too_long",)]
    found = {each.paper_id: each for each in units}
    assert (found["hostile"].review_count, found["hostile"].used_review_count) == (4, 2)
    report = curation_page(warehouse, run_id).markdown()
    assert "it is about the writing" in report
    for statement in found["good"].statements:
        assert statement.statement.split(",")[0] in report


def test_a_set_of_which_nothing_is_left_is_told_by_the_exit_code(
    lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = peerread_folder(lab / "set", lone=LONE)
    assert curated(folder, lab) == EXIT_FAILURES
    assert json.loads(capsys.readouterr().out)["state"] == "nothing_curated"
    assert (lab / "ideas.jsonl").read_text() == ""


def test_a_forum_becomes_a_rated_idea(
    lab: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with openreview_server() as server:
        for name, value in (("BASE_URLS", server.url), ("REQUESTS_PER_MINUTE", 60_000)):
            monkeypatch.setenv(f"ASSAY_SOURCES__{name}", json.dumps({NAME: value}))
        content = {"title": "Routing", "pdf": "/pdf/a.pdf"}
        server.notes["F"] = [
            note("F", "F", "Submission", 1_715_000_000_000, content, license="CC BY 4.0"),
            *(
                note(f"R{n}", "F", "Official_Review", n, {"weaknesses": text, "rating": 5})
                for n, text in enumerate(BOTH)
            ),
        ]
        server.edits["F"] = [
            {"id": "E", "tcdate": 1, "note": {"content": {"pdf": {"value": "/pdf/a.pdf"}}}}
        ]
        server.files["/attachment?id=F"] = paper_pdf()
        assert curated("openreview:F,missing", lab) == EXIT_DONE
    answer = json.loads(capsys.readouterr().out)
    assert answer["warnings"] == ["missing: OpenReview has no forum missing, or shows it to few"]
    line = json.loads((lab / "ideas.jsonl").read_text())
    assert (line["idea_id"], line["licence"]) == ("F", "CC BY 4.0")
    assert line["cutoff_date"] == "2024-05-06"
    assert line["url"] == "https://openreview.net/forum?id=F"


def test_what_may_change_a_set_names_it_and_what_it_may_cost_does_not(lab: Path) -> None:
    folder = peerread_folder(lab / "set", good=BOTH)

    def name(**options: Any) -> str:
        return run_id(CURATE, resolved(folder, lab, **options), "", Settings())

    same = name()
    assert {name(workers=3), name(max_cost_usd=1.0), name(max_requests=5)} == {same}
    others = {name(reviews_at_least=1), name(discipline="ai"), name(rating_spread=2.0)}
    assert len(others - {same}) == 3
    changed = folder / "reviews" / "good.json"
    changed.write_text(review_file(*BOTH, FIRST_REVIEW + SECOND_REVIEW))
    assert name() != same


def test_what_a_set_asks_is_known_before_it_is_paid_for(lab: Path) -> None:
    folder = peerread_folder(lab / "set", good=BOTH, lone=LONE)
    model = "litellm:openai/gpt-5"
    expected = estimate(CURATE, resolved(folder, lab, engine=model), Settings())
    assert (expected.counts["papers_asked"], expected.model_calls) == (1, 4)
    assert (expected.cost_usd or 0) > 0
    offline = estimate(CURATE, resolved(folder, lab), Settings())
    assert (offline.model_calls, offline.cost_usd) == (0, 0)
    assert not (lab / "warehouse").exists()


def test_a_paper_over_which_reading_fails_does_not_end_the_estimate(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ValueError("nobody foresaw this")

    folder = peerread_folder(lab / "set", good=BOTH, lone=LONE)
    monkeypatch.setattr("tasks.curation.work.parts_of_paper", fail)
    expected = estimate(CURATE, resolved(folder, lab), Settings())
    assert expected.counts == {"papers": 2, "papers_asked": 0, "requests": 0}


def behaving(request: Recorded) -> str:
    """A model that curates, and copies one sentence that no review has."""
    system = str(request.messages[0]["content"])
    if "back into the research idea" in system:
        return "text:" + json.dumps(
            {
                "problem": "Every token costs the same.",
                "method": "We will train a router. It reaches 87.31 on translation.",
                "experiment": "We will compare it with the full model.",
            }
        )
    if "extract from a review" in system:
        lack = "The comparison lacks a baseline that skips layers at random."
        quotes = (lack, "The proof of lemma 3 is wrong.")
        return "text:" + json.dumps(
            {"sentences": [{"quote": quote, "about": "idea"} for quote in quotes]}
        )
    if "turn sentences that reviewers wrote" not in system:
        return "good"
    statement = {
        "statement": "A baseline that skips layers at random is lacking.",
        "type": "Weakness",
        "axis": "soundness",
        "severity": "major",
        "sentences": ["s1"],
    }
    return "text:" + json.dumps({"statements": [statement]})


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-of-yours-1234")
    with start_openai_server() as running:
        running.behaviour = behaving
        yield running


def test_a_model_words_the_set_where_its_budget_ended_and_nothing_is_asked_twice(
    lab: Path, model: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = peerread_folder(lab / "set", good=BOTH)
    asked = {"engine": "litellm:openai/small", "api_base": model.url}
    assert curated(folder, lab, max_tokens=1, **asked) == EXIT_BUDGET
    assert json.loads(capsys.readouterr().out)["state"] == "incomplete"
    assert curated(folder, lab, max_tokens=1_000_000, **asked) == EXIT_DONE
    first = json.loads(capsys.readouterr().out)
    assert first["state"] == "curated"
    (row,) = first["rows"]
    assert "87.31" not in row["text"]
    assert (row["leak_count"], row["sentence_count"], row["statement_count"]) == (1, 1, 1)
    assert row["statements"][0]["is_verbatim"] is False
    reasons = [each["reason"] for each in row["drops"]]
    assert reasons.count("passage_not_found") == 3
    assert reasons.count("tells_results") == 1
    count = len(model.requests)
    landed = next((lab / "warehouse" / "landing").rglob("receipt.json"))
    written = landed.stat().st_mtime_ns
    assert curated(folder, lab, **asked) == EXIT_DONE
    assert len(model.requests) <= count + 1, "the look whether the model answers alone"
    assert json.loads(capsys.readouterr().out)["run"]["run_id"] == first["run"]["run_id"]
    assert landed.stat().st_mtime_ns == written
