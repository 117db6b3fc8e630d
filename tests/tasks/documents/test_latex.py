import gzip
import io
import itertools
import tarfile
import zipfile
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import SectionKind
from schemas.settings import DocumentSettings
from tasks.documents.child import ChildEnd
from tasks.documents.document import ParsedDocument, paper_sections
from tasks.documents.full_text import DocumentCache, FullTextLibrary
from tasks.documents.latex import latex_content, read_latex, read_latex_source
from tasks.documents.latex_source import (
    LatexError,
    follow_inclusions,
    inner_name,
    main_file,
    read_files,
    whole_source,
    without_comments,
)
from tasks.documents.latex_text import document_of_latex, source_of_latex
from tests.support.document_server import Reply, Web
from tests.support.papers_with_links import paper
from tests.support.small_pdf import paper_pdf
from warehouse.stores.keyed_store import KeyedStore

MAIN = r"""
\documentclass[11pt]{article} % a comment
\usepackage{amsmath}
\newcommand{\ours}{MirrorNet}
\newcommand{\term}[1]{\emph{#1}}
\def\data{ImageNet}
\title[Short]{A \textbf{Small} Paper\thanks{Funded.}}
\author{Ann Lee}
\begin{document}
\maketitle
\begin{abstract}
We abstract what \ours{} does. % hidden
\end{abstract}
\section{Introduction}\label{sec:intro}
Words \cite{lee2020,roe21}, see Section~\ref{sec:method}; 50\% of them.
\input{parts/method}
\section*{Results}
\ours gains $x_1 = 3$ on \data.
\begin{table}\caption{Numbers} 1 & 2\end{table}
\input{../../../etc/passwd}
\input{missing}
\section{Related Work}
Others did \term{less}.
\begin{thebibliography}{9}\bibitem{a} Hidden.\end{thebibliography}
\end{document}
After the end.
"""
METHOD = "\\section{Method}\nWe train \\ours.\n\\subsection{Setup}\nGPUs.\n% \\section{Never}\n"
FILES = {
    "paper/main.tex": MAIN,
    "paper/parts/method.tex": METHOD,
    "paper/figure.png": "\x00",
    "README.txt": "\\documentclass no",
}


def tar_of(files: dict[str, str], mode: str = "w:gz") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def zip_of(files: dict[str, str], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def check(document: ParsedDocument | SourceFailure) -> None:
    assert isinstance(document, ParsedDocument), document
    assert (document.title, document.abstract, document.parser) == (
        "A Small Paper",
        "We abstract what MirrorNet does.",
        "latex",
    )
    assert [(section.level, section.heading, section.text) for section in document.sections] == [
        (0, "Introduction", "Words [lee2020, roe21], see Section [sec:method]; 50% of them."),
        (0, "Method", "We train MirrorNet."),
        (1, "Setup", "GPUs."),
        (0, "Results", "MirrorNet gains $x_1 = 3$ on ImageNet."),
        (0, "Related Work", "Others did less."),
    ]
    kinds = [section.section for section in paper_sections(PaperId("p"), document)]
    assert kinds == [
        SectionKind.ABSTRACT,
        SectionKind.METHODS,
        SectionKind.RESULTS,
        SectionKind.RELATED_WORK,
    ]


def parsed(content: bytes) -> ParsedDocument:
    return document_of_latex(whole_source(read_files(content)))


@pytest.mark.parametrize(
    "content", [tar_of(FILES), tar_of(FILES, "w"), zip_of(FILES)], ids=["tar.gz", "tar", "zip"]
)
def test_every_packing_of_a_source_gives_the_same_document(content: bytes) -> None:
    check(parsed(content))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_single_file_is_a_source(pack: type[bytes]) -> None:
    text = (
        "\\documentstyle{article}\\begin{document}\\section{Results} Good \\alpha-helices,"
        ' G\\"odel.\\end{document}'
    )
    document = parsed(pack(text.encode()))
    assert [section.text for section in document.sections] == ["Good α-helices, Gödel."]


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def test_folder_and_archive_on_disk_give_the_same_document(tmp_path: Path) -> None:
    secret = "\\documentclass{x}\\begin{document}Secret text of another folder" + " long" * 2000
    folder = written(tmp_path / "source", FILES)
    (written(tmp_path, {"secret.tex": secret}) / "source.tar.gz").write_bytes(tar_of(FILES))
    (folder / "main.tex").symlink_to(tmp_path / "secret.tex")
    check(await read_latex(folder, DocumentSettings()))
    check(await read_latex(tmp_path / "source.tar.gz", DocumentSettings()))


PARTS = {
    "main.tex": r"""\documentclass{article}
\input{macros.def}\input{glyphtounicode}
\begin{document}\section{Results}
\input{parts/one} \include{two} \subfile{parts/three}
\import{parts/}{four} \subimport*{parts}{five.tex}
\InputIfFileExists{six}{}{\input{never}} \IfFileExists{absent}{\input{absent}}{else}
\input seven
\end{document} \input{behind}
""",
    "parts/one.tex": "First words. \\input{inner}",
    "parts/inner.tex": "Inner words. \\input{parts/one}",
    "two.tex": "Second words.",
    "parts/three.tex": "\\documentclass[../main]{subfiles}\\begin{document}Third words.\\end{document}",
    "parts/four.tex": "Fourth words.",
    "parts/five.tex": "Fifth words.",
    "six.tex": "Sixth words.",
    "seven.tex": "Seventh words.",
}


def test_main_file_is_read_with_all_files_it_includes(tmp_path: Path) -> None:
    folder = written(tmp_path, PARTS)
    main = parsed(latex_content(folder / "main.tex", 200_000))
    (section,) = main.sections
    ordinals = ["First", "Inner", "Second", "Third", "Fourth", "Fifth", "Sixth"]
    for word in [*ordinals, "Seventh", "else"]:
        assert section.text.count(word) == 1, word
    assert follow_inclusions(PARTS, "main.tex").missing == []
    assert parsed(latex_content(folder, 200_000)) == main


async def test_missing_outside_linked_and_hidden_inclusions_are_named_and_not_read(
    tmp_path: Path,
) -> None:
    hidden = [".ssh/id_rsa", ".config/keys", "parts/.draft/a", "password", "notes.txt", ".main"]
    wanted = ["sections/a", "../secret", "link", f"{tmp_path}/secret", *hidden]
    inclusions = "".join(f"\\input{{{name}}}" for name in [*wanted, "plot.pgf"])
    main = (
        "\\documentclass{article}\\newcommand{\\part}[1]{\\input{parts/#1}}\\begin{document}"
        f"\\section{{A}} Some words. {inclusions}\\end{{document}}"
    )
    names = [".ssh/id_rsa", ".config/keys.tex", "parts/.draft/a.tex", "password", "notes.txt"]
    secrets = dict.fromkeys([*names, ".main.tex", "../secret.tex"], "A secret of this machine.")
    folder = written(tmp_path / "paper", {"main.tex": main, **secrets})
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    for path in (folder / "main.tex", folder):
        document = await read_latex(path, DocumentSettings())
        assert isinstance(document, ParsedDocument), document
        assert list(document.missing_files) == ["parts/#1", *wanted]
        assert "secret" not in str(document.sections)


def test_missing_files_of_the_preamble_are_named_apart() -> None:
    main = (
        "\\documentclass{article}\\input{macros}\\input{both}\\input{setup}"
        "\\newcommand{\\part}[1]{\\input{parts/#1}}\\begin{document}"
        "\\section{A} Some words of a text. \\input{results}\\input{both}\\end{document}"
    )
    found = follow_inclusions({"main.tex": main, "setup.tex": "\\input{colours}"}, "main.tex")
    assert found.missing == ["both", "parts/#1", "results"]
    assert found.missing_preamble == ["macros", "colours"]


async def test_a_main_file_without_any_of_its_parts_is_refused_with_their_names(
    tmp_path: Path,
) -> None:
    text = r"\documentclass{a}\begin{document}\input{intro}\input{results}\end{document}"
    folder = written(tmp_path, {"main.tex": text})
    answer = await read_latex(folder / "main.tex", DocumentSettings())
    assert isinstance(answer, SourceFailure)
    assert answer.detail == "the source holds no text; missing or not followed: intro, results"


def test_included_files_are_bounded_in_depth_and_size(tmp_path: Path) -> None:
    begin = "\\documentclass{a}\\begin{document}\\section{x} \\input{0}\\end{document}"
    deep = {f"{number}.tex": f"\\input{{{number + 1}}}" for number in range(30)}
    with pytest.raises(LatexError, match="more than 20 deep"):
        whole_source({"main.tex": begin, **deep, "30.tex": "words"})
    folder = written(tmp_path, {"main.tex": begin, "0.tex": "words " * 1000})
    with pytest.raises(LatexError) as refused:
        latex_content(folder / "main.tex", 2000)
    assert refused.value.reason == "too_large"


def tar_with(**pax_headers: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("main.tex")
        member.pax_headers = {name.replace("_", "."): text for name, text in pax_headers.items()}
        archive.addfile(member)
    return packed.getvalue()


def linked_tar(kind: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("main.tex")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not_latex"),
        (paper_pdf(), "not_latex"),
        (b"plain words without a command", "not_latex"),
        (b"\x1f\x8bgarbage behind the magic", "damaged"),
        (tar_of(FILES)[:200], "damaged"),
        (zip_of(FILES)[:200], "damaged"),
        (tar_with(GNU_sparse_map="a,b"), "damaged"),
        (tar_with(GNU_sparse_map="1,2", GNU_sparse_size="x"), "damaged"),
        (zip_of({"QQQQ": MAIN}).replace(b"QQQQ", b"\x00QQQ"), "damaged"),
        (zip_of({"main.tex": MAIN}, zipfile.ZIP_LZMA).replace(b"]\x00", b"\xff\x00"), "damaged"),
        (linked_tar(tarfile.SYMTYPE), "not_latex"),
        (linked_tar(tarfile.LNKTYPE), "not_latex"),
        (tar_of({"/etc/main.tex": MAIN, "../main.tex": MAIN}), "not_latex"),
        (tar_of({"data.csv": "1,2"}), "not_latex"),
        (b"\\documentclass{a}\\begin{document}\\end{document}", "no_text"),
        (b"\\documentclass{a}\\begin{document}" + b"{" * 50_000 + b"x" + b"}" * 50_000, "parser_limit"),
        (b"\\newcommand{\\a}{\\b\\b\\b\\b\\b\\b\\b\\b\\b\\b}\\section{x}", "no_text"),
    ],
    ids=[
        "empty", "pdf", "prose", "garbage", "cut tar", "cut zip", "map of no numbers",
        "size of no number", "no name", "no such packing", "symbolic link", "hard link",
        "paths outside", "no tex", "no words", "deep nesting", "commands only",
    ],
)  # fmt: skip
def test_unreadable_source_has_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(LatexError) as refused:
        parsed(content)
    assert refused.value.reason == reason


def gzip_bomb(megabytes: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="w", compresslevel=1) as stream:
        for _ in range(megabytes):
            stream.write(b"\\" * 1_000_000)
    return packed.getvalue()


def inclusion_bomb() -> dict[str, str]:
    rounds = {f"{number}.tex": f"\\input{{{number + 1}}}" * 12 for number in range(1, 12)}
    return {
        "main.tex": "\\documentclass{a}\\input{1}",
        **rounds,
        "12.tex": "\\section{x}" + "y" * 9999,
    }


def macro_bomb() -> bytes:
    names = "abcdefgh"
    rounds = [
        f"\\newcommand{{\\x{one}}}{{{f'{chr(92)}x{two}' * 20}}}"
        for one, two in itertools.pairwise(names)
    ]
    return (
        "".join(rounds) + "\\newcommand{\\xh}{boom}\\begin{document}\\section{a}" + "\\xa " * 50
    ).encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip_bomb(40), "too_large"),
        (zip_of({"main.tex": "\\" * 21_000_000}), "too_large"),
        (macro_bomb(), "parser_limit"),
        (tar_of(inclusion_bomb()), "parser_limit"),
    ],
    ids=["gzip", "zip", "macros", "inclusions"],
)
def test_bomb_is_refused_at_a_limit(content: bytes, reason: str) -> None:
    with pytest.raises(LatexError) as refused:
        parsed(content)
    assert refused.value.reason == reason


def test_an_abstract_before_the_document_begins_is_part_of_its_source() -> None:
    block = "\\begin{abstract}\nWe weighed forty round pebbles.\n\\end{abstract}"
    body = "\\section{Results}\nThe pebbles of the shore were round and heavy enough."
    inside = f"\\documentclass{{x}}\n\\begin{{document}}\n{block}\n{body}\n\\end{{document}}"
    above = f"\\documentclass{{x}}\n{block}\n\\begin{{document}}\n{body}\n\\end{{document}}"
    found = [" ".join(source_of_latex(text, {}).body.split()) for text in (inside, above)]
    assert found[0] == found[1]
    assert found[0].startswith("\\begin{abstract} We weighed")


def test_the_main_file_is_the_one_latex_would_start_from() -> None:
    assert main_file({"supplement.tex": MAIN + "longer" * 99, "ms.tex": MAIN}) == "ms.tex"
    assert main_file({"intro.tex": "\\section{x}", "x.tex": MAIN}) == "x.tex"
    assert (
        main_file({"template.tex": "% \\documentclass{a}\n\\section{x}", "a/b.tex": MAIN})
        == "a/b.tex"
    )
    figure = MAIN.replace("{article}", "{standalone}")
    assert main_file({"main.tex": figure, "b.tex": MAIN}) == "b.tex"
    chapter = MAIN + "longer" * 99
    book = MAIN.replace("parts/method", "chapter")
    assert main_file({"chapter.tex": chapter, "book.tex": book}) == "book.tex"
    with pytest.raises(LatexError):
        main_file({"a.txt": MAIN, "b.bbl": "\\section{x}"})


def test_a_file_that_includes_itself_is_read_once() -> None:
    assert "done" in whole_source(
        {
            "main.tex": "\\documentclass{a}\\begin{document}\\input{main}\\input{b}",
            "b.tex": "done \\input{b}",
        }
    )


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a % b\n  c", "a c"),
        (r"50\% d", r"50\% d"),
        ("\\\\% e\nf", "\\\\f"),
        ("\\begin{comment}x\\end{comment}y", "y"),
        ("% all", ""),
    ],
)
def test_comments_are_gone_and_percent_signs_stay(text: str, kept: str) -> None:
    assert without_comments(text) == kept


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        ("./a//b.tex", "a/b.tex"),
        ("a/../b.tex", "b.tex"),
        ("../b.tex", None),
        ("/b.tex", None),
        ("a\\..\\..\\b", None),
        ("", None),
    ],
)
def test_no_path_leads_out_of_the_archive(name: str, inner: str | None) -> None:
    assert inner_name(name) == inner


PIECES = [*MAIN.split(), "{", "}", "[", "$", "%", "\n", "\\begin{abstract}", "\\verb|"]
PIECES += ["\\href{a}", "\\newcommand{\\x}[2]{#1#3}\\x"]


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_text_is_a_document_or_refused(text: str) -> None:
    try:
        document = document_of_latex(whole_source(read_files(text.encode("utf-8", "replace"))))
    except LatexError as error:
        assert error.reason in ("not_latex", "no_text", "damaged")
    else:
        assert document.abstract or document.sections


async def test_source_at_arxiv_is_read_if_no_pdf_can_be(web: Web, tmp_path: Path) -> None:
    web.serve("/pdf/2305.09258", Reply(body=b"%PDF-1.4 broken"))
    packed = Reply(body=tar_of(FILES), headers={"Content-Type": "application/gzip"})
    web.serve("/e-print/2305.09258", packed)
    kinds = ("abstract", "methods", "results", "related_work")
    for cached in (False, True):
        library = FullTextLibrary(
            settings=DocumentSettings(),
            grobid_url=None,
            open_copies=None,
            store=KeyedStore(tmp_path / "store"),
            ledger=web.ledger,
            allow_private_addresses=True,
            arxiv_url=web.server.url,
        )
        answer = await library.sections([paper(arxiv_id="2305.09258")])
        assert answer.failures == ()
        assert [(each.section, each.text_source) for each in answer.items] == [
            (kind, "latex") for kind in kinds
        ]
        assert len(web.server.asked) == 2
        assert web.calls()[-1].cache_hit is cached


async def test_a_reader_that_was_taken_over_can_only_be_disbelieved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for code, output, errors in (
        (10, b"", "nonsense words"),
        (10, b"", ""),
        (0, b"{", ""),
        (0, b"\xff", ""),
        (77, b"", "x"),
    ):
        ended = ChildEnd(code, output, errors, 1)
        monkeypatch.setattr("tasks.documents.latex.run_child", AsyncMock(return_value=ended))
        answer = await read_latex_source(b"\\x", "name", DocumentSettings())
        assert isinstance(answer, SourceFailure)
        assert answer.reason == "damaged"


async def test_what_is_kept_for_one_address_is_not_given_for_another(tmp_path: Path) -> None:
    cache = DocumentCache(KeyedStore(tmp_path / "cache.sqlite"), DocumentSettings())
    await cache.put_content_hash("http://host/a", "0" * 64)
    for other in ("http://HOST/a", "http://host/A", "http://host/a?", "http://host/a#x"):
        assert await cache.content_hash_at(other) is None
