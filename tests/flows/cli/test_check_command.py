"""What `assay check` prints, writes and exits with."""

import json
from pathlib import Path

import pypdfium2
import pytest

from dashboards.views.write_check import check_page
from flows.cli.answer import EXIT_DONE, EXIT_FAILURES
from flows.cli.quality.check import check
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.works.check_run import CheckOptions
from tests.support.manuscript_files import faulty_pdf, locked_pdf
from warehouse.warehouse import Warehouse

HOSTILE = """Pebbles

Abstract

<script>alert(1)</script> and ![x](https://example.org/x.png) stand here.
We found that 12 of 40 (25%) pebbles were round enough. Then we stopped.
"""
WHOLE = "Plain words about pebbles fill this text. " * 60
PARTS = r"""\documentclass{article}\title{Parts}\begin{document}\section{One}
\input{sections/a}\input{sections/b}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked")
    (folder / "faulty.pdf").write_bytes(faulty_pdf())
    (folder / "hostile.txt").write_text(HOSTILE)
    return folder


@pytest.fixture
def options(folder: Path) -> CheckOptions:
    return CheckOptions(warehouse=folder / "wh", review=True)


def report(warehouse: Path, answer: str) -> str:
    run_id = RunId(json.loads(answer)["run"]["run_id"])
    return check_page(Warehouse(warehouse), run_id).markdown()


def test_problems_are_printed_with_place_and_reason_and_what_was_not_read_costs_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "faulty.pdf").write_bytes(faulty_pdf())
    (papers / "locked.pdf").write_bytes(locked_pdf())
    options = CheckOptions(warehouse=tmp_path / "wh")
    assert check([papers], options) == EXIT_FAILURES
    printed = capsys.readouterr()
    assert "Where: page 1" in printed.out
    assert "the PDF needs a password" in printed.out
    assert "locked could not be read (encrypted)" in printed.err
    assert "without a language model" in printed.err

    assert check([papers], options, json=True) == EXIT_FAILURES
    told = capsys.readouterr().out
    answer = json.loads(told)
    assert answer["state"] == "checked"
    assert [one["manuscript_id"] for one in answer["rows"]] == ["faulty", "locked"]
    assert answer["rows"][0]["problems"][0]["location"].startswith("page 1")
    assert answer["warnings"] == ["locked could not be read (encrypted)"]
    assert "12 of 40" in report(tmp_path / "wh", told)
    assert "It could not be read: the PDF needs a password" in report(tmp_path / "wh", told)


def test_a_manuscript_read_in_part_is_no_all_clear_and_costs_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, content in (("clear", WHOLE), ("wrong", rf"Here 12 of 40 (25\%) improved. {WHOLE}")):
        (papers / name).mkdir()
        (papers / name / "main.tex").write_text(f"{PARTS}{content}\\end{{document}}")
    options = CheckOptions(warehouse=tmp_path / "wh")
    assert check([papers], options) == EXIT_FAILURES
    printed = " ".join(capsys.readouterr().out.split())
    missing = "2 included files are missing or cannot be followed: sections/a, sections/b"
    assert f"Not an all-clear: {missing}." in printed
    assert f"Not checked: {missing}" in printed

    assert check([papers], options, json=True) == EXIT_FAILURES
    told = capsys.readouterr().out
    answer = json.loads(told)
    rows = {row["manuscript_id"]: row for row in answer["rows"]}
    assert rows["clear"]["missing_files"] == ["sections/a", "sections/b"]
    part = "wrong was read in part, without sections/a, sections/b: no all-clear"
    assert part in answer["warnings"]
    assert report(tmp_path / "wh", told).count("sections/b") == 2
    assert "2 read only in part" in report(tmp_path / "wh", told)


def test_a_short_manuscript_read_in_whole_has_a_note_and_does_not_cost_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short.txt").write_text("A text of a few words alone.")
    assert check([tmp_path / "short.txt"], CheckOptions(warehouse=tmp_path / "wh")) == EXIT_DONE
    expected = "No critical problem found in 7 words. The manuscript has only 7 words."
    assert expected in " ".join(capsys.readouterr().out.split())


def test_an_all_clear_says_how_many_words_were_read_and_which_file_of_the_preamble_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\input{macros}\begin{document}" + WHOLE + r"\end{document}"
    )
    paper, options = tmp_path / "main.tex", CheckOptions(warehouse=tmp_path / "wh")
    assert check([paper], options) == EXIT_DONE
    printed = " ".join(capsys.readouterr().out.split())
    missing = "1 file of the preamble is missing or cannot be followed: macros"
    assert "No critical problem found in 420 words." in printed
    assert missing in printed
    assert check([paper], options, tmp_path / "a.html") == EXIT_DONE
    page = (tmp_path / "a.html").read_text()
    assert missing in page
    assert "0 of 1 checked manuscript with problems, 420 words read." in page


def test_problems_stand_beside_their_passage_in_a_page_that_loads_nothing(
    folder: Path, options: CheckOptions, tmp_path: Path
) -> None:
    check([folder / "hostile.txt"], options, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    beside = page[page.index('<div class="beside">') :]
    assert "<strong>We found that 12 of 40 (25%) pebbles were round enough.</strong>" in beside
    assert beside.index("Then we stopped.") < beside.index("12 of 40 are 30.0 %")
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "<img" not in page
    check([folder / "hostile.txt"], options, tmp_path / "a.md")
    assert "```" not in (tmp_path / "a.md").read_text()


def test_a_pdf_gets_a_comment_at_each_problem_and_a_note_of_what_was_done(
    folder: Path, options: CheckOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check([folder / "faulty.pdf"], options, tmp_path / "a.pdf")
    assert "3 of 3 comments are at the sentence they quote" in capsys.readouterr().err
    document = pypdfium2.PdfDocument(tmp_path / "a.pdf")
    counts = [pypdfium2.raw.FPDFPage_GetAnnotCount(page) for page in document]
    assert counts == [3, 1]


@pytest.mark.parametrize(
    ("paper", "output", "told"),
    [
        ("hostile.txt", "reasons.jsonl", "is one of the files given"),
        ("", "hostile.txt", "is one of the files given"),
        ("", "notes.log", "is a file of a folder given"),
        ("", "none/a.md", "there is no folder"),
        ("faulty.pdf", "faulty.pdf", "is one of the files given"),
        ("faulty.pdf", "a.bib", "it cites no works"),
    ],
)
def test_a_file_that_was_given_or_could_not_be_written_is_refused_before_anything_is_read(
    folder: Path, tmp_path: Path, paper: str, output: str, told: str
) -> None:
    (folder / "notes.log").write_text("of a person")
    reasons = folder / "reasons.jsonl"
    reasons.write_text('{"manuscript": "hostile", "reason": "The counts are wrong."}\n')
    given = reasons if output == reasons.name else None
    options = CheckOptions(warehouse=tmp_path / "wh", reasons=given)
    with pytest.raises(ConfigurationError, match=told):
        check([folder / paper], options, folder / output)
    assert not (tmp_path / "wh").exists()
