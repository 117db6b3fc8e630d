"""Papers after a cutoff and retracted or withdrawn works, as commands treat them."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.cli.answer import EXIT_DONE
from tests.flows.conftest import Assay

IDEA = {
    "idea_id": "a",
    "title": "Moth scales hide drones from bats",
    "problem": "Drones disturb bats at night because bats detect drones by echoes.",
    "method": "We attach acoustic absorbers of moth scales to drones and measure how far bats detect"
    " drones with absorbers in a wind tunnel.",
    "experiment": "We compare the distance at which bats detect drones with and without absorbers.",
}
NEAR = (
    "We attach acoustic absorbers of moth scales to drones and measure how far bats detect drones"
    " with absorbers in a wind tunnel. Absorbers of moth scales work reliably."
)
QUESTION = "Do absorbers of moth scales hide drones from bats?"


def work(number: int, title: str, abstract: str, **fields: Any) -> dict[str, Any]:
    words: dict[str, list[int]] = {}
    for place, word in enumerate(abstract.split()):
        words.setdefault(word, []).append(place)
    return {
        "id": f"https://openalex.org/W{number}",
        "title": title,
        "abstract_inverted_index": words,
        "authorships": [{"author": {"display_name": f"Ann Author{number}"}}],
        "primary_location": {"landing_page_url": f"https://example.org/{number}"},
        "referenced_works": [],
        "publication_year": 2019,
        "publication_date": "2019-05-03",
        **fields,
    }


WORKS = [
    work(
        1,
        "Echoes of moths in the field",
        "Scales of moths absorb calls of bats by 40 percent. Acoustic absorbers on drones hide their"
        " echoes: we measure the distance at which bats detect drones at night in a wind tunnel.",
    ),
    work(2, "Hearing of moths", "Moths hear the calls of bats with two ear cells."),
    work(3, "Acoustic absorbers of moth scales on drones", NEAR, is_retracted=True),
    work(4, "RETRACTED: Absorbers that hide drones from bats", NEAR),
    work(5, "Retraction: Absorbers of moth scales near bats", "Retracted by the editors."),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_rows(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def whole_report(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("reports/**/*.md")))


def test_works_retracted_or_after_the_cutoff_count_in_no_module_and_the_report_says_how_many(
    here: Path, assay: Assay
) -> None:
    write_rows(here / "ideas.jsonl", {**IDEA, "cutoff_date": "2024-06-30"})
    late = {"publication_year": 2025, "publication_date": "2025-02-01"}
    write_rows(
        here / "works.jsonl",
        *WORKS,
        work(6, "Absorbers on drones", NEAR, **late, doi="10.48550/arxiv.2301.00004"),
        work(7, "Later absorbers on drones", NEAR, **late),
        work(8, "Absorbers of a year", NEAR, publication_year=2024, publication_date="2024-01-01"),
        work(9, "Absorbers at no time", NEAR, publication_year=None, publication_date=None),
    )
    modules = "soundness,contribution,novelty,committee"
    asked = ("--literature", "snapshot:works.jsonl", "--warehouse", "w", "--modules", modules)
    assert assay("evaluate", "ideas.jsonl", *asked).returncode == EXIT_DONE
    titles = assay("sql", "--warehouse", "w", "--json", "select title from papers").stdout
    assert {row["title"] for row in json.loads(titles)} == {
        "Echoes of moths in the field",
        "Hearing of moths",
        "Absorbers on drones",
    }
    report = whole_report(here / "w")
    assert "3 papers counted for nothing: retracted, withdrawn, under an expression of" in report
    assert report.count("Absorbers that hide drones") == report.count("RETRACTED: Absorbers that")
    assert "2 papers may have appeared after the cutoff 2024-06-30 and counted" in report
    assert "1 paper without a date that can be read counted for nothing" in report
    assert "Later absorbers" not in report


@pytest.mark.parametrize("command", ["survey", pytest.param("ask", marks=pytest.mark.long)])
def test_surveys_and_answers_leave_retracted_works_out_and_say_so(
    command: str, here: Path, assay: Assay
) -> None:
    write_rows(here / "works.jsonl", *WORKS)
    literature = ("--literature", "snapshot:works.jsonl", "--warehouse", "w")
    shown = assay(command, QUESTION, *literature)
    assert shown.returncode == EXIT_DONE, shown.stderr
    lines = (shown.stdout + shown.stderr).splitlines()
    named = [line for line in lines if "absorbers of moth scales" in line.lower()]
    assert all("papers counted for nothing" in line or QUESTION in line for line in named)
    report = whole_report(here / "w")
    assert "Echoes of moths in the field" in report
    assert "papers counted for nothing: retracted, withdrawn" in report


def test_a_draft_cites_no_retracted_work_of_its_bibliography(here: Path, assay: Assay) -> None:
    (here / "own.bib").write_text(
        "@article{lee2021, title={RETRACTED: Absorbers on drones}, author={Ann Lee}, year=2021}\n"
        "@article{li2020, title={Echoes of moths}, author={Bo Li}, year=2020, month=jun}\n"
    )
    write_rows(here / "idea.jsonl", IDEA)
    asked = ("--warehouse", "w", "--bib", "own.bib", "-o", "draft", "--json")
    answer = json.loads(assay("write", "idea.jsonl", *asked).stdout)
    (draft,) = answer["rows"]
    assert [one["cite_key"] for one in draft["works"]] == ["li2020"]
    assert "not cited, as it is retracted: “RETRACTED: Absorbers on drones”" in str(answer)
