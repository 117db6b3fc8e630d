"""`assay report`: the format asked for, or that of the file's ending,
and one line where none fits.
"""

import sys
from pathlib import Path

import pytest

from flows.cli.command_line import EXIT_DONE, EXIT_USAGE, application, run_command
from flows.cli.evaluate.demo import print_first_page
from tests.support.report_lake import RUN, publish_report_lake
from tests.support.tiers import some
from warehouse.warehouse import Warehouse

BEGINNINGS = {
    "pdf": b"%PDF",
    "docx": b"PK",
    "bib": b"@",
    "json": b"[",
    "html": b"<!doc",
    "md": b"#",
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_report_lake(tmp_path_factory.mktemp("lake")).root


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))


def report(monkeypatch: pytest.MonkeyPatch, warehouse: Path, *arguments: str) -> int:
    monkeypatch.setattr(
        sys, "argv", ["assay", "report", RUN, "--warehouse", str(warehouse), *arguments]
    )
    return run_command(lambda: application()(standalone_mode=False))


@pytest.mark.parametrize("ending", some(BEGINNINGS, {"pdf", "bib"}.__contains__))
def test_the_ending_of_the_file_chooses_the_format(
    ending: str, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"review.{ending}"
    assert report(monkeypatch, warehouse, "--idea", "idea-00003", "-o", str(file)) == EXIT_DONE
    assert file.read_bytes().startswith(BEGINNINGS[ending])


def test_a_format_that_is_said_counts_more_than_the_ending(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "review.txt"
    assert report(monkeypatch, warehouse, "--format", "docx", "-o", str(file)) == EXIT_DONE
    assert file.read_bytes().startswith(b"PK")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-o", "review.odt"), "names no format"),
        (("--ranking", "--format", "bib"), "cannot be written as bib"),
        (("--data-docs", "--format", "pdf"), "Data Docs are one HTML file"),
        (("--full",), "--full is of one idea"),
        (("--full", "--json"), "--full is of one idea"),
    ],
)
def test_what_no_format_can_hold_is_one_line(
    arguments: tuple[str, ...],
    told: str,
    warehouse: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert report(monkeypatch, warehouse, *arguments) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


@pytest.mark.parametrize(
    "ending", ["md", *(pytest.param(each, marks=pytest.mark.long) for each in ("html", "docx"))]
)
def test_a_report_of_an_idea_is_its_first_page_unless_all_of_it_is_asked_for(
    ending: str, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, full = (tmp_path / f"{name}.{ending}" for name in ("first", "full"))
    assert report(monkeypatch, warehouse, "--idea", "idea-00003", "-o", str(first)) == EXIT_DONE
    told = ("--idea", "idea-00003", "--full", "-o", str(full))
    assert report(monkeypatch, warehouse, *told) == EXIT_DONE
    assert full.stat().st_size > first.stat().st_size
    if ending == "md":
        assert len(first.read_text("utf-8").split()) <= 900
        assert "## Provenance and cost" not in first.read_text("utf-8")
        assert "## Provenance and cost" in full.read_text("utf-8")


def test_the_demo_ends_with_the_first_page_of_the_idea_that_leads(
    warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_first_page(Warehouse(warehouse), RUN)
    printed = capsys.readouterr().out.strip()
    assert printed.startswith("# ")
    assert "**Closest prior work**" in printed
    assert "--full" in printed
