"""`assay report`: the format asked for, or that of the file's ending, and one line where none fits."""

from pathlib import Path

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from flows.cli.evaluate.demo import print_first_page
from tests.flows.conftest import Assay
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


@pytest.fixture
def report(assay: Assay, warehouse: Path) -> Assay:
    return lambda *words: assay("report", RUN, "--warehouse", warehouse, *words)


@pytest.mark.parametrize("ending", some(BEGINNINGS, {"pdf", "bib"}.__contains__))
def test_the_ending_of_the_file_chooses_the_format(
    ending: str, tmp_path: Path, report: Assay
) -> None:
    file = tmp_path / f"review.{ending}"
    assert report("--idea", "idea-00003", "-o", file).returncode == EXIT_DONE
    assert file.read_bytes().startswith(BEGINNINGS[ending])


def test_a_format_that_is_said_counts_more_than_the_ending(tmp_path: Path, report: Assay) -> None:
    file = tmp_path / "review.txt"
    assert report("--format", "html", "-o", file).returncode == EXIT_DONE
    assert file.read_bytes().startswith(BEGINNINGS["html"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("-o review.odt", "names no format"),
        ("--ranking --format bib", "cannot be written as bib"),
        ("--data-docs --format pdf", "Data Docs are one HTML file"),
        ("--full", "--full is of one idea"),
        ("--full --json", "--full is of one idea"),
    ],
)
def test_what_no_format_can_hold_is_one_line(words: str, told: str, report: Assay) -> None:
    ended = report(*words.split())
    (line,) = ended.stderr.splitlines()
    assert (ended.returncode, told in line) == (EXIT_USAGE, True)


@pytest.mark.parametrize("ending", some(("md", "html", "docx"), "md".__eq__))
def test_a_report_of_an_idea_is_its_first_page_unless_all_of_it_is_asked_for(
    ending: str, tmp_path: Path, report: Assay
) -> None:
    first, full = (tmp_path / f"{name}.{ending}" for name in ("first", "full"))
    for file, words in ((first, ()), (full, ("--full",))):
        ended = report("--idea", "idea-00003", *words, "-o", file)
        assert ended.returncode == EXIT_DONE, ended.stderr
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
