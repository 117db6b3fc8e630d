"""A draft as files: every format holds it, names of any script and LaTeX in titles come to no harm."""

import json
import shutil
import zipfile
from pathlib import Path

import lxml.etree
import pypdfium2
import pytest
from markdown_it import MarkdownIt

from dashboards.render.drafts.draft_folder import write_folder
from dashboards.render.drafts.latex import LATEXMK, NO_SANDBOX, NOT_INSTALLED, compile_latex
from dashboards.render.drafts.programs import BUBBLEWRAP
from dashboards.render.drafts.venues import read_venue
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.works.draft import GraphArrow, GraphNode, MethodGraph
from tasks.writing.graphs import graph_svg
from tests.support.draft_lake import make_draft, make_draft_head

HOSTILE = r"Bats $\frac{1}{2}$ \input{x} </script> & 100% _of_ {them"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drafts") / "draft"
    draft = make_draft()
    works = (
        replace(draft.works[0], title=HOSTILE, authors=("דוד כהן", "李 明")),
        *draft.works[1:],
    )
    write_folder(replace(draft, works=works), make_draft_head(), "[]", folder)
    return folder


def text_of(pdf: Path) -> str:
    document = pypdfium2.PdfDocument(str(pdf))
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def test_every_format_holds_the_draft(folder: Path) -> None:
    pdf, html = text_of(folder / "draft.pdf"), (folder / "draft.html").read_text()
    latex = (folder / "draft.tex").read_text()
    with zipfile.ZipFile(folder / "draft.docx") as docx:
        word = docx.read("word/document.xml").decode()
        assert any(name.endswith(".png") for name in docx.namelist())
    for text in (pdf, html, word, latex):
        assert "supported within this task" in " ".join(text.split())
        assert "Programs on data that chose nothing" in " ".join(text.split())
    assert 'data-key="task-0.c001.gain"' in html
    assert r"\citep{aberg2001}" in latex
    assert r"\bibliography{references.bib}" in latex
    assert "Figure\xa01" in html or "Figure&nbsp;1" in html


def test_titles_with_latex_and_names_of_any_script_are_shown_as_they_are(folder: Path) -> None:
    assert r"\input{x}" in text_of(folder / "draft.pdf").replace("\u2010", "-")
    bib = (folder / "references.bib").read_text()
    assert r"\input{" not in bib
    assert "דוד כהן" in bib
    html = (folder / "draft.html").read_text()
    assert "כהן" in html
    assert "</script> &" not in html


def test_a_title_is_mere_text_in_the_readme(tmp_path: Path) -> None:
    title = "# Bats![x](http://x.example/y.png) <b>*so*</b> \n\n# `Two`"
    write_folder(replace(make_draft(), title=title), make_draft_head(), "[]", tmp_path / "draft")
    read = MarkdownIt().parse((tmp_path / "draft" / "README.md").read_text())
    assert [each.type for each in read[:3]] == ["heading_open", "inline", "heading_close"]
    assert {each.type for each in read[1].children or ()} <= {"text", "text_special"}
    assert "".join(each.content for each in read[1].children or ()) == " ".join(title.split())


def test_every_figure_lies_beside_its_rows(folder: Path) -> None:
    names = {path.name for path in (folder / "figures").iterdir()}
    for name in ("method", "gains", "runs"):
        assert {f"{name}.{kind}" for kind in ("svg", "pdf", "png", "json")} <= names
    assert (folder / "figures" / "gains.sql").read_text().startswith("select program_id, gain")
    claims = json.loads((folder / "claims.json").read_text())
    assert all(claim["query"] for claim in claims if claim["kind"] == "number")


def test_a_draft_is_written_again_over_itself_and_over_nothing_else(
    folder: Path, tmp_path: Path
) -> None:
    write_folder(make_draft(), make_draft_head(), "- one", folder)
    assert (folder / "outline.yaml").read_text() == "- one"
    (tmp_path / "mine.txt").write_text("mine")
    for taken in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(ConfigurationError, match="name another folder"):
            write_folder(make_draft(), make_draft_head(), "", taken)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_conference_has_two_columns_an_abstract_and_its_own_names_and_limits(
    tmp_path: Path,
) -> None:
    draft, venue = make_draft(venue="conference"), read_venue("conference")
    assert draft.word_count, draft.failures
    tight = replace(venue, most_pages=1)
    written = write_folder(draft, make_draft_head(), "[]", tmp_path / "draft", tight)
    pages = len(pypdfium2.PdfDocument(str(tmp_path / "draft" / "draft.pdf")))
    assert written.faults == (f"draft.pdf has {pages} pages, and conference allows 1",)
    latex = (tmp_path / "draft" / "draft.tex").read_text()
    assert r"\begin{abstract}" in latex
    assert "longtable}[]" not in latex
    assert latex.count(r"\begin{table*}") == latex.count(r"\begin{tabular}") == 1
    assert "4 Results" in text_of(tmp_path / "draft" / "draft.pdf")
    assert "Limitations" in text_of(tmp_path / "draft" / "draft.pdf")
    readme = (tmp_path / "draft" / "README.md").read_text()
    assert written.faults[0] in readme
    if (tmp_path / "draft" / "draft-latex.pdf") not in written.paths:
        assert written.notes == (NO_SANDBOX if shutil.which(LATEXMK) else NOT_INSTALLED,)


def test_a_template_of_ones_own_is_a_folder_whose_files_lie_beside_the_draft(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "venue.toml").write_text('title = "Ours"\nabstract_words = 60\n')
    (own / "venue.typ").write_text(
        '#import "layout.typ": layout\n#let conf = layout.with(running-head: [Of our own])\n'
    )
    (own / "ours.sty").write_text("% ours\n")
    venue = read_venue(str(own))
    write_folder(make_draft(), make_draft_head(), "[]", tmp_path / "draft", venue)
    assert "Of our own" in text_of(tmp_path / "draft" / "draft.pdf")
    assert (tmp_path / "draft" / "ours.sty").exists()
    for text, said in (
        ('title = "Ours"\npages = 3\n', "`pages`: unknown key"),
        ("title = [", "cannot be read as TOML"),
    ):
        (own / "venue.toml").write_text(text)
        with pytest.raises(ConfigurationError, match=said):
            read_venue(str(own))


def test_errors_of_latex_are_said_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "draft.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\nBats.\n\\bats\n\\cite{none}\n"
        "\\end{document}\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr("shutil.which", lambda _: None)
        assert compile_latex(tmp_path, "draft.tex").notes == (NOT_INSTALLED,)
    if not (shutil.which(LATEXMK) and shutil.which(BUBBLEWRAP)):
        pytest.skip("latexmk or bubblewrap is not installed")
    told = compile_latex(tmp_path, "draft.tex")
    assert told.pdf is None
    assert told.errors[0] == "draft.tex:4: Undefined control sequence."
    assert "none is cited or referred to, and is nowhere" in told.errors


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    found = lxml.etree.fromstring(svg.encode()).iterfind(".//{*}rect[@rx]")
    return [
        tuple(float(each.get(name)) for name in ("x", "y", "width", "height")) for each in found
    ]  # type: ignore[misc]


def test_boxes_of_a_method_figure_do_not_overlap_and_hold_their_words() -> None:
    names = ["a", "b", "c", "d", "e"]
    graph = MethodGraph(
        nodes=tuple(
            GraphNode(node_id=name, label="words that are many " * 2 + "<&>", group=name[0])
            for name in names
        ),
        arrows=(
            GraphArrow(source="a", target="b"),
            GraphArrow(source="a", target="c", label="both"),
            GraphArrow(source="b", target="d"),
            GraphArrow(source="c", target="d"),
            GraphArrow(source="d", target="a", label="again"),
            GraphArrow(source="a", target="e"),
            GraphArrow(source="d", target="nowhere"),
        ),
    )
    drawn = boxes(graph_svg(graph))
    assert len(drawn) == len(names)
    for place, (x, y, width, height) in enumerate(drawn):
        assert width >= 24 * 6
        for other_x, other_y, other_width, other_height in drawn[place + 1 :]:
            apart = x + width <= other_x or other_x + other_width <= x
            assert apart or y + height <= other_y or other_y + other_height <= y
