"""Templates of strangers set a draft, and get nothing of this machine into it."""

import os
import shutil
from pathlib import Path

import pytest

from dashboards.render.drafts import programs
from dashboards.render.drafts.draft_folder import write_folder
from dashboards.render.drafts.latex import LATEXMK, NO_SANDBOX, compile_latex
from dashboards.render.drafts.programs import BUBBLEWRAP, run_bounded, run_typst
from dashboards.render.drafts.venues import read_venue
from schemas.errors import ConfigurationError
from tests.support.draft_lake import make_draft, make_draft_head

needs_latex = pytest.mark.skipif(
    not (shutil.which(LATEXMK) and shutil.which(BUBBLEWRAP)),
    reason="latexmk or bubblewrap is not installed",
)


def template(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    for name, text in {"venue__toml": 'title = "Ours"\n', **texts}.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_venue(str(folder))
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", ["env.cls", "venue.typ", "preamble.tex", "venue.toml"])
def test_links_in_a_template_are_refused(tmp_path: Path, name: str) -> None:
    folder = template(tmp_path / "own")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("/proc/self/environ")
    assert refusal(folder) == f"{folder}/{name} is a link: put the file itself there"


def test_pipes_large_files_and_names_of_the_draft_are_refused_in_a_template(
    tmp_path: Path,
) -> None:
    folder = template(tmp_path / "own", draft__fdb_latexmk="x")
    assert refusal(folder).endswith("is called like a file of the draft: rename it")
    (folder / "draft.fdb_latexmk").unlink()
    os.mkfifo(folder / "pipe")
    assert "is a pipe" in refusal(folder)
    (folder / "pipe").unlink()
    with (folder / "large.sty").open("wb") as file:
        file.truncate(30_000_000)
    assert "too large to be a template" in refusal(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" + "a." * 20_000 + "a]", "line 1 has more than 100 dots"),
        ("#" * 100_001, "more than 100,000 bytes"),
        ("title = " + "9" * 5_000, "cannot be read as TOML"),
        ("title = 0x" + "9" * 5_000, "cannot be read as TOML"),
    ],
)
def test_the_toml_of_a_template_is_bounded(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(template(tmp_path / "own", venue__toml=text))


def test_the_number_of_files_of_a_template_is_bounded(tmp_path: Path) -> None:
    folder = template(tmp_path / "own", **{f"part{number}__sty": "" for number in range(1_000)})
    assert refusal(folder) == (
        f"{folder} has more than 1,000 files: it is too large to be a template"
    )


def test_a_template_named_by_a_link_is_read_and_replaces_no_file_of_the_draft(
    tmp_path: Path,
) -> None:
    template(tmp_path / "own", references__bib="forged", claims__json="forged", ours__sty="ours")
    (tmp_path / "link").symlink_to("own")
    folder = tmp_path / "draft"
    write_folder(make_draft(), make_draft_head(), "[]", folder, read_venue(str(tmp_path / "link")))
    for name in ("references.bib", "claims.json"):
        assert "forged" not in (folder / name).read_text()
    assert (folder / "ours.sty").read_text() == "ours"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('#import "@preview/cetz:0.2.2"', "draft.typ:1: packages are not fetched"),
        ('#let name = "@pre" + "view/cetz:0.2.2"\n#import name', "packages are not fetched"),
        ("#nothing", "draft.typ:1: unknown variable: nothing"),
        ('#read("/etc/passwd")', "file not found"),
        ('#read("../secret")', "draft.typ:1: "),
    ],
)
def test_what_typst_refuses_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "draft").mkdir()
    source = tmp_path / "draft" / "draft.typ"
    source.write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        run_typst(source, source.with_suffix(".pdf"))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_endless_template_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SECONDS", 1)
    source = tmp_path / "draft.typ"
    source.write_text("#for a in range(100000) { for b in range(100000) { let c = a * b } }")
    with pytest.raises(ConfigurationError, match="longer than 1 seconds"):
        run_typst(source, source.with_suffix(".pdf"))


def test_programs_that_set_a_draft_get_no_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    monkeypatch.setenv("TEXINPUTS", ".:")
    code, output = run_bounded(["env"], tmp_path, {"openin_any": "p"})
    assert code == 0
    assert "canary" not in output
    assert {"TEXINPUTS=.:", "openin_any=p"} <= set(output.splitlines())


_HOSTILE = r"""\documentclass{article}
\begin{document}
\newread\r\newwrite\w
\catcode`\~=12
\def\try#1{\openin\r=#1 \ifeof\r\else \read\r to\l\errmessage{READ \meaning\l}\fi\closein\r}
\try{draft.tex}
\try{/etc/passwd}\try{../secret}\try{$HOME/.bashrc}\try{~/.bashrc}\try{.hidden}\try{|env}
\errmessage{BYTES\pdffiledump length 40{/etc/passwd}\pdffilesize{/etc/passwd}}
\IfFileExists{/etc/passwd}{\errmessage{READ passwd}}{}
\immediate\write18{touch ../pwned}
Words.
\immediate\openout\w=../written \immediate\write\w{x}
\end{document}
"""


@needs_latex
def test_latex_reads_and_writes_in_its_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "draft"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / ".hidden").write_text("secret")
    (folder / "draft.tex").write_text(_HOSTILE)
    for name in (".latexmkrc", "latexmkrc"):
        (folder / name).write_text(f'system("touch {tmp_path}/pwned");')
    (folder / "texmf.cnf").write_text("shell_escape = t\nopenin_any = a\nopenout_any = a\n")
    made = compile_latex(folder, "draft.tex")
    assert made.errors[:3] == (
        r"draft.tex:6: READ macro:->\documentclass {article} .",
        "draft.tex:8: BYTES.",
        "draft.tex:12: I can't write on file `../written.tex'.",
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == ["draft", "secret"]


@needs_latex
def test_latex_that_writes_without_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_MOST_FILE_BYTES", 2_000_000)
    (tmp_path / "draft.tex").write_text(
        "\\documentclass{article}\\begin{document}\\newwrite\\w\\immediate\\openout\\w=big.txt\n"
        "\\loop\\immediate\\write\\w{many words}\\iftrue\\repeat\\end{document}\n"
    )
    made = compile_latex(tmp_path, "draft.tex")
    assert made.pdf is None
    assert made.errors == ("latexmk made no PDF of draft.tex, and its log does not say why",)


@needs_latex
@pytest.mark.parametrize("name", ["{folder}/secret", "{folder}/link/secret"])
def test_latex_puts_no_file_of_the_machine_into_the_pdf(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "draft"
    folder.mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "secret").write_text("canary")
    (folder / "own").write_text("logo")
    for path in ("own", name.format(folder=tmp_path)):
        (folder / "draft.tex").write_text(
            "\\documentclass{article}\\begin{document}\\pdfcompresslevel=0\n"
            f"\\immediate\\pdfobj stream file {{{path}}}Words.\\end{{document}}\n"
        )
        made = compile_latex(folder, "draft.tex")
        if path == "own":
            assert b"logo" in (made.pdf or b"")
    assert b"canary" not in (made.pdf or b"")
    assert made.errors


@pytest.mark.parametrize(
    ("programs_there", "note"),
    [
        ({LATEXMK: ""}, NO_SANDBOX),
        (
            {LATEXMK: "", BUBBLEWRAP: "echo 'bwrap: No permission' >&2; exit 1"},
            "LaTeX was not compiled: bwrap: No permission",
        ),
    ],
)
def test_latex_stays_uncompiled_without_a_sandbox(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs_there: dict[str, str],
    note: str,
) -> None:
    (tmp_path / "bin").mkdir()
    for name, script in programs_there.items():
        path = tmp_path / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "draft").mkdir()
    made = compile_latex(tmp_path / "draft", "draft.tex")
    assert (made.pdf, made.errors, made.notes) == (None, (), (note,))
