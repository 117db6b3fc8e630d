import gzip
import io
import itertools
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import SectionKind
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.child import ChildEnd
from tasks.documents.document import ParsedDocument, paper_sections
from tasks.documents.full_text import DocumentCache, FullTextLibrary
from tasks.documents.latex import read_latex, read_latex_source
from tasks.documents.latex_source import (
    LatexError,
    inner_name,
    main_file,
    read_files,
    whole_source,
    without_comments,
)
from tasks.documents.latex_text import document_of_latex, source_of_latex
from tests.support.document_server import DocumentServer, Reply
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


def zip_of(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
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


@pytest.mark.parametrize(
    "content", [tar_of(FILES), tar_of(FILES, "w"), zip_of(FILES)], ids=["tar.gz", "tar", "zip"]
)
async def test_every_packing_of_a_source_gives_the_same_document(content: bytes) -> None:
    check(await read_latex_source(content, "name", DocumentSettings()))


async def test_a_folder_and_an_archive_on_disk_give_the_same_document_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    (tmp_path / "secret.tex").write_text(
        "\\documentclass{x}\\begin{document}Secret text of another folder" + " long" * 2000
    )
    folder = tmp_path / "source"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "main.tex").symlink_to(tmp_path / "secret.tex")
    (tmp_path / "source.tar.gz").write_bytes(tar_of(FILES))
    check(await read_latex(folder, DocumentSettings()))
    check(await read_latex(tmp_path / "source.tar.gz", DocumentSettings()))


async def test_a_single_file_is_a_source_packed_or_not(tmp_path: Path) -> None:
    text = (
        "\\documentstyle{article}\\begin{document}\\section{Results} Good \\alpha-helices,"
        ' G\\"odel.\\end{document}'
    )
    (tmp_path / "a.tex").write_text(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.tex", "a.gz"):
        document = await read_latex(tmp_path / name, DocumentSettings())
        assert isinstance(document, ParsedDocument), document
        assert [section.text for section in document.sections] == ["Good α-helices, Gödel."]


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


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def test_a_main_file_is_read_with_all_files_it_includes(tmp_path: Path) -> None:
    folder = written(tmp_path, PARTS)
    main = await read_latex(folder / "main.tex", DocumentSettings())
    assert isinstance(main, ParsedDocument), main
    (section,) = main.sections
    ordinals = ["First", "Inner", "Second", "Third", "Fourth", "Fifth", "Sixth"]
    for word in [*ordinals, "Seventh", "else"]:
        assert section.text.count(word) == 1, word
    assert main.missing_files == ()
    assert await read_latex(folder, DocumentSettings()) == main


async def test_included_files_that_are_missing_or_outside_the_folder_are_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "secret.tex").write_text("A secret of this machine.")
    main = (
        "\\documentclass{article}\\newcommand{\\part}[1]{\\input{parts/#1}}\\begin{document}"
        "\\section{A} Some words. \\input{sections/a}\\input{../secret}\\input{link}"
        f"\\input{{{tmp_path}/secret}}\\input{{plot.pgf}}\\end{{document}}"
    )
    folder = written(tmp_path / "paper", {"main.tex": main})
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    for path in (folder / "main.tex", folder):
        document = await read_latex(path, DocumentSettings())
        assert isinstance(document, ParsedDocument), document
        missing = ["parts/#1", "sections/a", "../secret", "link", f"{tmp_path}/secret"]
        assert list(document.missing_files) == missing
        assert "secret" not in str(document.sections)


async def test_missing_files_of_the_preamble_are_named_apart_from_those_of_the_text(
    tmp_path: Path,
) -> None:
    main = (
        "\\documentclass{article}\\input{macros}\\input{both}\\input{setup}"
        "\\newcommand{\\part}[1]{\\input{parts/#1}}\\begin{document}"
        "\\section{A} Some words of a text. \\input{results}\\input{both}\\end{document}"
    )
    folder = written(tmp_path, {"main.tex": main, "setup.tex": "\\input{colours}"})
    document = await read_latex(folder / "main.tex", DocumentSettings())
    assert isinstance(document, ParsedDocument), document
    assert document.missing_files == ("both", "parts/#1", "results")
    assert document.missing_preamble_files == ("macros", "colours")


async def test_files_that_are_hidden_or_no_latex_are_not_included_from_a_folder(
    tmp_path: Path,
) -> None:
    wanted = [".ssh/id_rsa", ".config/keys", "parts/.draft/a", "password", "notes.txt", ".main"]
    inclusions = "".join(f"\\input{{{name}}}" for name in wanted)
    main = f"\\documentclass{{a}}\\begin{{document}}Five words of a text. {inclusions}\\end{{document}}"
    names = [".ssh/id_rsa", ".config/keys.tex", "parts/.draft/a.tex", "password", "notes.txt"]
    secrets = dict.fromkeys([*names, ".main.tex"], "A secret of this machine.")
    folder = written(tmp_path, {"main.tex": main, **secrets})
    for path in (folder / "main.tex", folder):
        document = await read_latex(path, DocumentSettings())
        assert isinstance(document, ParsedDocument), document
        assert list(document.missing_files) == wanted
        assert "secret" not in str(document.sections)


async def test_a_main_file_without_any_of_its_parts_is_refused_with_their_names(
    tmp_path: Path,
) -> None:
    text = r"\documentclass{a}\begin{document}\input{intro}\input{results}\end{document}"
    folder = written(tmp_path, {"main.tex": text})
    answer = await read_latex(folder / "main.tex", DocumentSettings())
    assert isinstance(answer, SourceFailure)
    assert answer.detail == "the source holds no text; missing or not followed: intro, results"


async def test_included_files_are_bounded_in_depth_and_size(tmp_path: Path) -> None:
    begin = "\\documentclass{a}\\begin{document}\\section{x} \\input{0}\\end{document}"
    deep = {f"{number}.tex": f"\\input{{{number + 1}}}" for number in range(30)}
    folder = written(tmp_path, {"main.tex": begin, **deep, "30.tex": "words"})
    answer = await read_latex(folder / "main.tex", DocumentSettings())
    assert isinstance(answer, SourceFailure)
    assert answer.reason == "parser_limit"
    (folder / "0.tex").write_text("words " * 1000)
    answer = await read_latex(folder / "main.tex", DocumentSettings(maximum_bytes=2000))
    assert isinstance(answer, SourceFailure)
    assert answer.reason == "too_large"


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
        (linked_tar(tarfile.SYMTYPE), "not_latex"),
        (linked_tar(tarfile.LNKTYPE), "not_latex"),
        (tar_of({"/etc/main.tex": MAIN, "../main.tex": MAIN}), "not_latex"),
        (tar_of({"data.csv": "1,2"}), "not_latex"),
        (b"\\documentclass{a}\\begin{document}\\end{document}", "no_text"),
        (b"\\documentclass{a}\\begin{document}" + b"{" * 50_000 + b"x" + b"}" * 50_000, "parser_limit"),
        (b"\\newcommand{\\a}{\\b\\b\\b\\b\\b\\b\\b\\b\\b\\b}\\section{x}", "no_text"),
    ],
    ids=[
        "empty", "pdf", "prose", "garbage", "cut tar", "cut zip", "symbolic link", "hard link",
        "paths outside", "no tex", "no words", "deep nesting", "commands only",
    ],
)  # fmt: skip
async def test_what_is_no_readable_source_has_a_reason(content: bytes, reason: str) -> None:
    answer = await read_latex_source(content, "name", DocumentSettings(parse_seconds=10))
    assert isinstance(answer, SourceFailure), answer
    assert (answer.source, answer.endpoint, answer.reason) == ("latex", "name", reason)


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
        (gzip_bomb(400), "too_large"),
        (zip_of({"main.tex": "\\" * 50_000_000}), "too_large"),
        (macro_bomb(), "parser_limit"),
        (tar_of(inclusion_bomb()), "parser_limit"),
    ],
    ids=["gzip", "zip", "macros", "inclusions"],
)
async def test_a_bomb_costs_bounded_time_and_memory(content: bytes, reason: str) -> None:
    answer = await read_latex_source(
        content, "name", DocumentSettings(parse_seconds=5, parse_memory_bytes=400_000_000)
    )
    assert isinstance(answer, SourceFailure), answer
    assert answer.reason == reason


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


PIECES = [
    *MAIN.split(),
    "\\begin{abstract}",
    "{",
    "}",
    "[",
    "$",
    "\\verb|",
    "\\href{a}",
    "%",
    "\n",
    "\\newcommand{\\x}[2]{#1#3}\\x",
]


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_text_is_a_document_or_refused(text: str) -> None:
    try:
        document = document_of_latex(whole_source(read_files(text.encode("utf-8", "replace"))))
    except LatexError as error:
        assert error.reason in ("not_latex", "no_text", "damaged")
    else:
        assert document.abstract or document.sections


def library(server: DocumentServer, ledger: Ledger, store: Path) -> FullTextLibrary:
    return FullTextLibrary(
        settings=DocumentSettings(download_timeout_seconds=60),
        grobid_url=None,
        open_copies=None,
        store=KeyedStore(store),
        ledger=ledger,
        allow_private_addresses=True,
        arxiv_url=server.url,
    )


async def test_the_source_at_arxiv_is_read_where_no_pdf_can_be(
    server: DocumentServer, ledger: Ledger, tmp_path: Path
) -> None:
    server.replies["/pdf/2305.09258"] = [Reply(body=b"%PDF-1.4 broken")]
    server.replies["/e-print/2305.09258"] = [
        Reply(body=tar_of(FILES), headers={"Content-Type": "application/gzip"})
    ]
    for cached in (False, True):
        answer = await library(server, ledger, tmp_path / "store").sections(
            [paper(arxiv_id="2305.09258")]
        )
        assert answer.failures == ()
        assert [(section.section, section.text_source) for section in answer.items] == [
            (kind, "latex")
            for kind in (
                SectionKind.ABSTRACT,
                SectionKind.METHODS,
                SectionKind.RESULTS,
                SectionKind.RELATED_WORK,
            )
        ]
        assert len(server.asked) == 2
        assert ledger.api_calls[-1].cache_hit is cached


@pytest.mark.parametrize("packed", [str.encode, tar_of, zip_of], ids=["file", "tar", "zip"])
async def test_no_inclusion_reads_a_file_of_this_machine(packed: Callable[[Any], bytes]) -> None:
    commands = "\n".join(
        [
            "\\input{/etc/passwd}",
            "\\include{../../../etc/passwd}",
            "\\import{/etc/}{passwd}",
            "\\input /etc/passwd",
        ]
    )
    source = (
        "\\documentclass{article}\\begin{document}\\section{Methods}Some words of ours.\n"
        f"{commands}\n\\end{{document}}"
    )
    content = packed(source if packed is str.encode else {"main.tex": source})
    document = await read_latex_source(content, "name", DocumentSettings())
    assert isinstance(document, ParsedDocument)
    assert [section.text for section in document.sections] == ["Some words of ours."]


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
