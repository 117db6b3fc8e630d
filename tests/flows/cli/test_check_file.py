"""A check as a file: the report in the format of its ending, or comments on the PDF's own pages."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pytest

from flows.cli.quality.check_file import check_output, write_check
from flows.run.campaign import conclude
from flows.works.check.check_request import resolve_check
from flows.works.check.checking import Check
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.options.commands import CheckOptions
from schemas.settings import Settings
from schemas.works.check_run import CheckRequest
from tasks.manuscripts.check_shard import check_job
from tasks.manuscripts.collect import CheckJob
from tests.support.manuscript_files import faulty_pdf

HOSTILE = """Pebbles

Abstract

<script>alert(1)</script> and ![x](https://example.org/x.png) stand here.
We found that 12 of 40 (25%) pebbles were round enough. Then we stopped.
"""


@dataclass(frozen=True)
class Checked:
    request: CheckRequest
    run_id: RunId


def checked(warehouse: Path, paper: Path) -> Checked:
    request = resolve_check([paper], CheckOptions(warehouse=warehouse, review=True), Settings())
    check = Check(request)
    plan = check.plan()
    job = CheckJob(run_id=plan.head.run_id, request=request, sources=request.sources)
    asyncio.run(check_job(job, Settings()))
    assert conclude(check, plan).published
    return Checked(request, plan.head.run_id)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked")
    (folder / "faulty.pdf").write_bytes(faulty_pdf())
    (folder / "hostile.txt").write_text(HOSTILE)
    return folder


@pytest.fixture(scope="module")
def pdf(folder: Path) -> Checked:
    return checked(folder / "wh", folder / "faulty.pdf")


@pytest.fixture(scope="module")
def text(folder: Path) -> Checked:
    return checked(folder / "wh", folder / "hostile.txt")


def test_problems_stand_beside_their_passage_in_a_page_that_loads_nothing(
    text: Checked, tmp_path: Path
) -> None:
    write_check(tmp_path / "a.html", text.request, text.run_id)
    page = (tmp_path / "a.html").read_text()
    beside = page[page.index('<div class="beside">') :]
    assert "<strong>We found that 12 of 40 (25%) pebbles were round enough.</strong>" in beside
    assert beside.index("Then we stopped.") < beside.index("12 of 40 are 30.0 %")
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "<img" not in page
    write_check(tmp_path / "a.md", text.request, text.run_id)
    assert "```" not in (tmp_path / "a.md").read_text()


def test_json_holds_every_problem_with_quote_passage_and_second_look(
    text: Checked, tmp_path: Path
) -> None:
    write_check(tmp_path / "a.json", text.request, text.run_id)
    (one,) = json.loads((tmp_path / "a.json").read_text())
    (problem,) = one["problems"]
    assert problem["quote"] in problem["passage"]
    assert problem["second_look"]


def test_a_pdf_gets_a_comment_at_each_problem_and_a_note_of_what_was_done(
    pdf: Checked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_check(tmp_path / "a.pdf", pdf.request, pdf.run_id)
    assert "3 of 3 comments stand at the sentence they quote" in capsys.readouterr().err
    document = pypdfium2.PdfDocument(tmp_path / "a.pdf")
    counts = [pypdfium2.raw.FPDFPage_GetAnnotCount(page) for page in document]
    assert counts == [3, 1]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.pdf", "comments go on the pages of a PDF, and hostile.txt is none"),
        ("a.bib", "a check cites no papers"),
        ("a.xyz", "its ending names no format"),
    ],
)
def test_a_file_that_could_not_be_written_is_refused_before_anything_is_read(
    text: Checked, tmp_path: Path, name: str, told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        check_output(tmp_path / name, text.request)


def test_the_manuscript_itself_is_not_overwritten(pdf: Checked, folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="is the manuscript itself"):
        check_output(folder / "faulty.pdf", pdf.request)


def test_several_manuscripts_have_no_common_pdf(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other.pdf").write_bytes(faulty_pdf() + b"\n")
    options = CheckOptions(warehouse=tmp_path / "wh")
    request = resolve_check([folder / "faulty.pdf", tmp_path / "other.pdf"], options, Settings())
    with pytest.raises(ConfigurationError, match="2 manuscripts are named"):
        check_output(tmp_path / "a.pdf", request)
