"""From what a user names to manuscripts, in the form asked for; what cannot be read says why in one
line.
"""

import csv
import os
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.settings import DocumentSettings
from schemas.works.manuscripts import ManuscriptForm
from tasks.accounting.ledger import Ledger
from tasks.documents.document import Refusal
from tasks.manuscripts.collect import collect_manuscripts, read_reasons
from tasks.manuscripts.find import location_found
from tasks.manuscripts.read import Manuscript, read_manuscript
from tests.support.manuscript_files import (
    faulty_pdf,
    latex_folder,
    locked_pdf,
    scanned_pdf,
)

REAL = Path(__file__).parents[4] / "shared" / "data" / "pdf"


async def read(
    path: Path, form: str = "auto", *, takes_pdf: bool = False, grobid: str | None = None
) -> Manuscript | Refusal:
    (source,) = collect_manuscripts([path])
    return await read_manuscript(
        source, form, DocumentSettings(), grobid, Ledger(IdeaId("m")), lambda: takes_pdf
    )


async def good(path: Path, form: str = "auto", *, takes_pdf: bool = False) -> Manuscript:
    manuscript = await read(path, form, takes_pdf=takes_pdf)
    assert isinstance(manuscript, Manuscript), manuscript
    return manuscript


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.pdf"
    path.write_bytes(faulty_pdf())
    return path


async def test_a_pdf_is_read_with_its_pages_and_attached_where_the_engine_takes_one(
    pdf: Path,
) -> None:
    manuscript = await good(pdf)
    assert (manuscript.form, len(manuscript.pages), manuscript.attachment) == (
        ManuscriptForm.TEXT,
        2,
        None,
    )
    assert (
        manuscript.text.index("[page 1]")
        < manuscript.text.index("12 of 40")
        < manuscript.text.index("[page 2]")
    )
    attached = await good(pdf, takes_pdf=True)
    assert attached.form is ManuscriptForm.PDF
    assert attached.attachment == pdf.read_bytes()
    assert (await good(pdf, "text", takes_pdf=True)).attachment is None


async def test_latex_comes_as_one_source_or_as_text(tmp_path: Path) -> None:
    folder = latex_folder(tmp_path / "paper")
    manuscript = await good(folder)
    assert (manuscript.form, manuscript.title) == (ManuscriptForm.LATEX, "On Sums")
    assert r"\mathbb{R}" in manuscript.text
    assert r"\section{Results}" in manuscript.text
    assert "comment" not in manuscript.text
    as_text = await good(folder, "text")
    assert as_text.form is ManuscriptForm.TEXT
    assert "# Results" in as_text.text


@pytest.mark.parametrize(
    ("name", "content", "form", "reason"),
    [
        ("locked.pdf", locked_pdf(), "auto", "encrypted"),
        ("scan.pdf", scanned_pdf(), "auto", "no_text"),
        ("page.pdf", b"<html>no PDF</html>", "auto", "not_a_pdf"),
        ("empty.txt", b" \n", "auto", "no_text"),
        ("latin.txt", "naïve".encode("latin-1"), "auto", "damaged"),
        ("empty.zip", b"PK\x05\x06" + bytes(18), "auto", "not_latex"),
        ("good.pdf", faulty_pdf(), "latex", "wrong_form"),
        ("text.md", b"# A note", "pdf", "wrong_form"),
    ],
)
async def test_what_cannot_be_read_says_why(
    tmp_path: Path, name: str, content: bytes, form: str, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    found = await read(tmp_path / name, form)
    assert isinstance(found, Refusal)
    assert found.reason == reason
    assert found.detail
    assert "\n" not in found.detail


async def test_a_grobid_that_does_not_answer_is_passed_over_and_said_so(pdf: Path) -> None:
    found = await read(pdf, grobid="http://127.0.0.1:9")
    assert isinstance(found, Manuscript)
    assert found.pages
    assert found.passed_over is not None
    assert found.passed_over.retryable


def test_a_folder_of_manuscripts_is_taken_apart_and_a_folder_with_one_latex_paper_is_one(
    tmp_path: Path,
) -> None:
    latex_folder(tmp_path / "paper")
    (tmp_path / "paper" / "figure.pdf").write_bytes(faulty_pdf())
    (tmp_path / "a.pdf").write_bytes(faulty_pdf())
    (tmp_path / "b.md").write_text("# B")
    (tmp_path / "data.csv").write_text("1,2")
    found = collect_manuscripts([tmp_path, tmp_path / "a.pdf"])
    assert [source.manuscript_id for source in found] == ["a", "b", "paper"]


PROJECT = {
    "preprint.tex": r"\documentclass{article}\graphicspath{{figs/}}\begin{document}"
    r"\section{A} Own words. \input{parts/content}\includegraphics{plot}\end{document}",
    "journal.tex": r"\documentclass{gji}\begin{document}\input{parts/content}"
    r"\includegraphics[width=1cm]{scheme.pdf}\end{document}",
    "parts/content.tex": r"\section{B} Shared words. \input{values}",
    "values.tex": r"\newcommand{\x}{3}",
    "drawing.tex": r"\documentclass{standalone}\begin{document}\begin{tikzpicture}\end{tikzpicture}"
    r"\end{document}",
    "old.tex": r"\section{Old} Nobody includes this.",
    "figs/plot.pdf": "%PDF-",
    "figs/older.pdf": "%PDF-",
    "scheme.pdf": "%PDF-",
    "preprint.pdf": "%PDF-",
    "other.pdf": "%PDF-",
}


async def test_two_main_files_in_a_folder_are_two_manuscripts_with_their_own_includes(
    tmp_path: Path,
) -> None:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    sources = {one.manuscript_id: one for one in collect_manuscripts([tmp_path])}
    assert list(sources) == ["journal", "other", "preprint"]
    included = [one.name for one in sources["preprint"].included]
    assert included == ["parts/content.tex", "values.tex"]
    text = (await good(tmp_path / "preprint.tex")).text
    assert "Own words." in text
    assert "Shared words." in text
    before = sources["preprint"].content_sha256
    (tmp_path / "values.tex").write_text(r"\newcommand{\x}{4}")
    after = {one.manuscript_id: one for one in collect_manuscripts([tmp_path])}
    assert after["preprint"].content_sha256 != before
    assert after["other"].content_sha256 == sources["other"].content_sha256


def test_the_limit_on_size_holds_for_each_latex_manuscript_of_a_folder(tmp_path: Path) -> None:
    words = "word " * 1_000
    for number in range(4):
        text = f"\\documentclass{{a}}\\begin{{document}}{words}{number}\\end{{document}}"
        (tmp_path / f"paper-{number}.tex").write_text(text)
        (tmp_path / f"slides-{number}.tex").write_text(words)
    sources = collect_manuscripts([tmp_path], maximum_bytes=20_000)
    assert [each.path.stem for each in sources] == [f"paper-{number}" for number in range(4)]


def test_hidden_latex_files_and_pictures_of_a_folder_are_no_manuscripts(tmp_path: Path) -> None:
    text = r"\documentclass{a}\begin{document}Words.\end{document}"
    papers, pictures = tmp_path / "papers", tmp_path / "pictures"
    papers.mkdir()
    pictures.mkdir()
    for name in ("a.tex", "b.tex", ".c.tex"):
        (papers / name).write_text(text)
    assert [each.manuscript_id for each in collect_manuscripts([papers])] == ["a", "b"]
    (pictures / "a.tex").write_text(r"\begin{tikzpicture}\draw (0,0);\end{tikzpicture}")
    (pictures / "b.tex").write_text(PROJECT["drawing.tex"])
    with pytest.raises(ConfigurationError, match="holds no manuscript"):
        collect_manuscripts([pictures])


@pytest.mark.skipif(not REAL.is_dir(), reason="the real manuscripts are not beside this checkout")
async def test_a_real_main_file_is_read_with_its_parts() -> None:
    folder = REAL.parent / "manuscripts" / "eql-gradient-boosted" / "src"
    sources = collect_manuscripts([folder])
    assert [one.manuscript_id for one in sources] == ["gji", "preprint"]
    manuscript = await good(sources[0].path)
    assert manuscript.word_count > 9_000
    assert manuscript.missing_files == ()


def test_two_manuscripts_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder, text in (("one", "# One"), ("two", "# Two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "paper.md").write_text(text)
    found = collect_manuscripts([tmp_path / "one", tmp_path / "two"])
    assert len({source.manuscript_id for source in found}) == 2
    assert all(source.manuscript_id.startswith("paper-") for source in found)


@pytest.mark.parametrize(
    ("make", "said"),
    [(None, "is not there"), ("folder", "holds no manuscript"), ("x.docx", "is no manuscript")],
)
def test_a_path_without_manuscript_is_refused_in_one_line(
    tmp_path: Path, make: str | None, said: str
) -> None:
    path = tmp_path / (make or "nowhere")
    if make == "folder":
        path.mkdir()
    elif make:
        path.write_bytes(b"x")
    with pytest.raises(ConfigurationError, match=said):
        collect_manuscripts([path])


def test_reasons_come_from_json_lines_json_and_csv_and_name_manuscripts_that_are_there(
    tmp_path: Path,
) -> None:
    for name, text in (
        ("r.jsonl", '{"manuscript": "b", "reason": "Lemma 2 is wrong."}\n'),
        ("r.json", '{"b": "Lemma 2 is wrong."}'),
        ("r.csv", "manuscript,reason\nb,Lemma 2 is wrong.\n"),
    ):
        (tmp_path / name).write_text(text)
        assert read_reasons(tmp_path / name) == {"b": "Lemma 2 is wrong."}
    (tmp_path / "b.md").write_text("# B")
    (source,) = collect_manuscripts([tmp_path / "b.md"], {"b.md": "Lemma 2 is wrong."})
    assert source.known_reason == "Lemma 2 is wrong."
    with pytest.raises(ConfigurationError, match="no manuscript is called that"):
        collect_manuscripts([tmp_path / "b.md"], {"c": "why"})


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("page 2", True),
        ("p. 9", False),
        ("pages 1 and Section 2", True),
        ("Section 2, page 2", True),
        ("Section 7.1", False),
        ("Eq. (4)", True),
        ("equation 12", False),
        ("Lemma 3", True),
        ("Theorem 8, page 1", False),
        ("the Results section", True),
        ("throughout", None),
        ("", None),
    ],
)
def test_places_are_held_against_the_manuscript(location: str, expected: bool | None) -> None:
    manuscript = Manuscript(
        manuscript_id="m",
        name="m.pdf",
        title="",
        form=ManuscriptForm.TEXT,
        content_sha256="",
        text="[page 1]\nLemma 3. a = b (4)\n[page 2]\nall",
        pages=("Lemma 3. a = b (4)", "all"),
        headings=("1 Introduction", "2 Results"),
    )
    assert location_found(location, manuscript) is expected


def test_in_latex_only_labels_and_headings_can_be_held_against_the_text() -> None:
    manuscript = Manuscript(
        "m",
        "m.tex",
        "",
        ManuscriptForm.LATEX,
        "",
        r"\section{Main Results}\label{eq:one}",
        headings=("Main Results",),
    )
    assert location_found("eq:one", manuscript) is True
    assert location_found("eq:two", manuscript) is False
    assert location_found("Section 3, page 2", manuscript) is None


async def test_links_and_pipes_in_a_folder_of_manuscripts_are_listed_as_unreadable_and_never_opened(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (tmp_path / "secret").write_text("The secret of this machine.")
    (folder / "passwd.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe.md")
    os.mkfifo(folder / "pipe.tex")
    (folder / "good.txt").write_text("A manuscript of one line.")
    (folder / "nested").mkdir()
    os.mkfifo(folder / "nested" / "pipe.pdf")
    with pytest.raises(ConfigurationError, match="is a pipe"):
        collect_manuscripts([folder / "pipe.md"])
    sources = collect_manuscripts([folder])
    found = {
        source.manuscript_id: await read_manuscript(
            source, "auto", DocumentSettings(), None, Ledger(IdeaId("m")), bool
        )
        for source in sources
    }
    assert isinstance(found.pop("good"), Manuscript)
    assert len(found) == 4
    assert all(
        isinstance(each, Refusal) and each.reason == "wrong_type" and " there" in each.detail
        for each in found.values()
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.jsonl", ""),
        ("r.jsonl", "{"),
        ("r.jsonl", '{"manuscript": "a"}'),
        ("r.jsonl", 2 * '{"manuscript": "a", "reason": "x"}\n'),
        ("r.jsonl", "3"),
        ("r.csv", f"manuscript,reason\nm,{'x' * 200_000}\n"),
        ("r.json", "[" * 100_000),
        ("r.jsonl", '{"manuscript": "m", "reason": "\\ud800"}'),
        ("r.jsonl", '{"manuscript": "m", "reason": ' + "9" * 5000 + "}"),
    ],
    ids=[
        "empty", "no JSON", "no reason", "twice", "number",
        "long field", "deep", "lone surrogate", "large number",
    ],
)  # fmt: skip
def test_reasons_that_cannot_be_used_are_refused_in_one_line(
    name: str, content: str, tmp_path: Path
) -> None:
    csv.field_size_limit(131_072)
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigurationError, match="--reasons") as raised:
        read_reasons(tmp_path / name)
    assert "\n" not in str(raised.value)
