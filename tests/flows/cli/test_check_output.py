"""What `assay check` prints and exits with, for a check that is already published."""

import asyncio
import json
from pathlib import Path

import pytest

from flows.cli.quality.check_output import print_check
from flows.run.campaign import conclude
from flows.works.check.check_request import resolve_check
from flows.works.check.checking import Check, CheckSummary
from schemas.options.commands import CheckOptions
from schemas.settings import Settings
from schemas.works.check_run import CheckRequest
from tasks.manuscripts.check_shard import check_job
from tasks.manuscripts.collect import CheckJob
from tests.support.manuscript_files import faulty_pdf, locked_pdf


def checked(request: CheckRequest) -> CheckSummary:
    """Run and publish the check."""
    check = Check(request)
    plan = check.plan()
    asyncio.run(
        check_job(
            CheckJob(run_id=plan.head.run_id, request=request, sources=request.sources), Settings()
        )
    )
    summary = conclude(check, plan)
    assert summary.published, summary.failed_expectations
    return summary


def test_problems_are_printed_with_place_and_reason_and_what_was_not_read_costs_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "faulty.pdf").write_bytes(faulty_pdf())
    (tmp_path / "locked.pdf").write_bytes(locked_pdf())
    request = resolve_check([tmp_path], CheckOptions(warehouse=tmp_path / "wh"), Settings())
    summary = checked(request)
    assert print_check(request, summary, as_json=False) == 1
    printed = capsys.readouterr()
    assert "where: page 1" in printed.out
    assert "not checked (encrypted): the PDF needs a password" in printed.out
    assert "text checks without a language model" in printed.err

    print_check(request, summary, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert [one["manuscript_id"] for one in answer["rows"]] == ["faulty", "locked"]
    assert answer["rows"][0]["problems"][0]["location"].startswith("page 1")

    html, markdown = (path.read_text() for path in summary.report_paths)
    assert "12 of 40" in markdown
    assert "It could not be read: the PDF needs a password" in markdown
    assert "<h2" in html
    assert not Check(request).plan().shards, "a finished check has nothing left to do"


WHOLE = "Plain words about pebbles fill this text. " * 60
PARTS = r"""\documentclass{article}\title{Parts}\begin{document}\section{One}
\input{sections/a}\input{sections/b}
"""


def test_a_manuscript_read_in_part_is_no_all_clear_and_costs_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, content in (("clear", WHOLE), ("wrong", rf"Here 12 of 40 (25\%) improved. {WHOLE}")):
        (papers / name).mkdir()
        (papers / name / "main.tex").write_text(f"{PARTS}{content}\\end{{document}}")
    request = resolve_check([papers], CheckOptions(warehouse=tmp_path / "wh"), Settings())
    summary = checked(request)
    assert print_check(request, summary, as_json=False) == 1
    printed = " ".join(capsys.readouterr().out.split())
    missing = "2 included files are missing or cannot be followed: sections/a, sections/b"
    assert f"Not an all-clear: {missing}." in printed
    assert f"not checked: {missing}" in printed

    assert print_check(request, summary, as_json=True) == 1
    answer = json.loads(capsys.readouterr().out)
    rows = {row["manuscript_id"]: row for row in answer["rows"]}
    assert rows["clear"]["missing_files"] == ["sections/a", "sections/b"]
    assert f"wrong: {missing}" in answer["warnings"]
    _, markdown = (path.read_text() for path in summary.report_paths)
    assert markdown.count("sections/b") == 2
    assert "2 read only in part" in markdown


def test_a_short_manuscript_read_in_whole_has_a_note_and_does_not_cost_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short.txt").write_text("A text of a few words alone.")
    request = resolve_check(
        [tmp_path / "short.txt"], CheckOptions(warehouse=tmp_path / "wh"), Settings()
    )
    summary = checked(request)
    assert print_check(request, summary, as_json=False) == 0
    expected = "No critical problem found in 7 words. The manuscript has only 7 words."
    assert expected in " ".join(capsys.readouterr().out.split())
    _, markdown = (path.read_text() for path in summary.report_paths)
    assert expected in markdown
    assert "| no problem found |" in markdown


def test_an_all_clear_says_how_many_words_were_read_and_which_file_of_the_preamble_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\input{macros}\begin{document}" + WHOLE + r"\end{document}"
    )
    request = resolve_check(
        [tmp_path / "main.tex"], CheckOptions(warehouse=tmp_path / "wh"), Settings()
    )
    summary = checked(request)
    assert print_check(request, summary, as_json=False) == 0
    printed = " ".join(capsys.readouterr().out.split())
    missing = "1 file of the preamble is missing or cannot be followed: macros"
    assert "No critical problem found in 420 words." in printed
    assert missing in printed
    html, markdown = (path.read_text() for path in summary.report_paths)
    assert missing in markdown
    for report in (html, markdown):
        assert "No critical problem found in 420 words." in report
        assert "0 of 1 checked manuscript with problems, 420 words read." in report
