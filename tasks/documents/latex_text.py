"""Conversion of a LaTeX source to a document with readable text (pylatexenc).

As a module, it is the child process that reads a source from standard input.
"""

import logging
import sys
from collections.abc import Iterator, Mapping

from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalkerError

from schemas.base import replace
from schemas.literature.paper import SectionKind
from schemas.reasons import Reason
from schemas.text.patterns import DOTALL, bounded, linear
from tasks.documents.child import EXIT_REFUSED
from tasks.documents.document import HeadedSection, LatexSource, ParsedDocument
from tasks.documents.headings import kind_of
from tasks.documents.latex_source import (
    LatexError,
    balanced,
    follow_inclusions,
    main_file,
    read_files,
    whole_source,
    without_environments,
)

PARSER = "latex"
_FEWEST_WORDS = 5
_DEPTHS = {
    "part": 0,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_HEADING = bounded(
    r"\\(part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?\s{0,9}"
    r"(?:\[[^\[\]]{0,500}\]\s{0,9})?(?=\{)"
)
_LEFT_OUT = bounded(
    r"\\(begin|end)\{((?:figure|table|wrapfigure|wraptable|tikzpicture|algorithm|algorithmic"
    r"|thebibliography|tabular|longtable|CCSXML)\*?)\}"
)
_ABSTRACT_BLOCK = linear(r"\\begin\{abstract\}(.*?)\\end\{abstract\}", DOTALL)
_CITATION = linear(r"\\(?:no)?(?:[a-zA-Z]*cite[a-zA-Z]*)\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]*)\}")
_REFERENCE = linear(r"\\(?:[cC]ref|[vV]ref|autoref|nameref|eqref|pageref|ref)\*?\s*\{([^{}]*)\}")
_LINK = bounded(r"\\href\s{0,9}\{([^{}]{0,2000})\}\s{0,9}(?=\{)")
_VERB = bounded(r"\\(?:verb\*?|lstinline)([^\sA-Za-z{*])(.{0,2000}?)\1")
_BOX = bounded(r"\\(?:mbox|hbox|fbox|makebox|texorpdfstring)\s{0,9}(?=\{)")
_DROPPED_COMMANDS = linear(
    r"\\(?:label|vspace|hspace|bibliography|bibliographystyle|includegraphics|graphicspath"
    r"|usepackage|input|pagestyle|thispagestyle|thanks|author|affiliation|date|maketitle"
    r"|tableofcontents|today|clearpage|newpage|noindent|centering)\*?\s*(?:\[[^\[\]]*\])?"
    r"\s*(?:\{[^{}]*\})?"
)
_APPENDIX = bounded(r"\\appendix\b")

_TITLE = bounded(r"\\(?:icml)?title(?:running)?\*?\s{0,9}(?:\[[^\[\]]{0,500}\]\s{0,9})?(?=\{)")
_ABSTRACT_COMMAND = bounded(r"\\abstract\s{0,9}(?=\{)")
_COMMAND = bounded(r"\\[A-Za-z]+\*?|[{}]")
_WORDS = bounded(r"[A-Za-z]{2,}")
_SPECIAL = bounded(r"([#$%&_{}])")
_BLANK_LINES = linear(r"\n\s*\n\s*")

logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)


def document_of_latex(source: str) -> ParsedDocument:
    """Convert LaTeX to a document.

    Citations become `[keys]`, references `[labels]`; formulas are kept as written; figures, tables,
    listings and the bibliography are removed.

    Raises:
        LatexError: the source nests too deeply, or has no text.
    """
    preamble, body = _preamble_and_body(source)
    try:
        title = _title(source)
        abstract, body = _abstract(body, preamble)
        sections = tuple(_sections(without_environments(body, _LEFT_OUT, " ")))
    except RecursionError as error:
        raise LatexError(Reason.PARSER_LIMIT, "the source nests too deeply") from error
    if not abstract and sections and kind_of(sections[0].heading) is SectionKind.ABSTRACT:
        abstract, sections = sections[0].text, sections[1:]
    if not abstract and not any(section.text for section in sections):
        raise LatexError(Reason.NO_TEXT, "the source holds no text")
    return ParsedDocument(
        title=title or None, abstract=abstract or None, sections=sections, parser=PARSER
    )


def _preamble_and_body(source: str) -> tuple[str, str]:
    """Split a source; without a `document` environment, all of it is body and preamble."""
    preamble, _, body = source.partition("\\begin{document}")
    return preamble, (body or preamble).partition("\\end{document}")[0]


def source_of_latex(source: str, files: Mapping[str, str]) -> LatexSource:
    """Return the paper as LaTeX.

    Raises:
        LatexError: the source has no text.
    """
    preamble, body = _preamble_and_body(source)
    bibliography = "\n".join(
        text for name, text in sorted(files.items()) if name.lower().endswith(".bbl")
    )
    if (block := _ABSTRACT_BLOCK.search(preamble)) and not _ABSTRACT_BLOCK.search(body):
        body = f"{block.group(0)}\n\n{body}"  # some document classes require it in the preamble
    if len(_WORDS.findall(body)) < _FEWEST_WORDS:
        raise LatexError(Reason.NO_TEXT, "the source holds no text")
    try:
        title = _title(source)
    except RecursionError as error:
        raise LatexError(Reason.PARSER_LIMIT, "the source nests too deeply") from error
    return LatexSource(
        title=title or None, body=_BLANK_LINES.sub("\n\n", body).strip(), bibliography=bibliography
    )


def _title(source: str) -> str:
    for match in _TITLE.finditer(source):
        text = " ".join(readable(balanced(source, match.end())[0]).split())
        if text:
            return text[:500]
    return ""


def _abstract(body: str, preamble: str) -> tuple[str, str]:
    for text in (body, preamble):
        if block := _ABSTRACT_BLOCK.search(text):
            return readable(block.group(1)), body.replace(block.group(0), " ")
        if command := _ABSTRACT_COMMAND.search(text):
            content, end = balanced(text, command.end())
            return readable(content), body.replace(text[command.start() : end], " ")
    return "", body


def _sections(body: str) -> Iterator[HeadedSection]:
    """Yield sections in reading order; text before the first heading is dropped, as in a PDF."""
    matches = [(match, *balanced(body, match.end())) for match in _HEADING.finditer(body)]
    headings = [(match, title, end) for match, title, end in matches if end > match.end()]
    if not headings:
        text = readable(body)
        if text:
            yield HeadedSection(level=0, heading="Untitled", text=text)
        return
    highest = min(_DEPTHS[match.group(1)] for match, _, _ in headings)
    for place, (match, title, end) in enumerate(headings):
        stop = headings[place + 1][0].start() if place + 1 < len(headings) else len(body)
        heading = " ".join(readable(title).split())[:300] or "Untitled"
        yield HeadedSection(
            level=_DEPTHS[match.group(1)] - highest, heading=heading, text=readable(body[end:stop])
        )


def readable(latex: str) -> str:
    """Convert LaTeX to plain text with paragraphs.

    Raises:
        RecursionError: nested too deeply.
    """
    text = _VERB.sub(lambda match: _escape(match.group(2)), latex)
    text = _CITATION.sub(
        lambda match: f"[{_escape(', '.join(key.strip() for key in match.group(1).split(',')))}]",
        text,
    )
    text = _REFERENCE.sub(lambda match: f"[{_escape(match.group(1).strip())}]", text)
    text = _APPENDIX.sub("", _DROPPED_COMMANDS.sub(" ", _BOX.sub("", _LINK.sub("", text))))
    try:
        plain_text = LatexNodes2Text(math_mode="verbatim", keep_comments=False).latex_to_text(
            text, tolerant_parsing=True
        )
    except (LatexWalkerError, IndexError, KeyError, AttributeError, TypeError, ValueError):
        plain_text = _COMMAND.sub(" ", text)
    paragraphs = (" ".join(each.split()) for each in _BLANK_LINES.split(plain_text))
    return "\n\n".join(each for each in paragraphs if each)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("\\", "\\textbackslash "))


def main() -> int:
    """Run `latex_text document|source MAIN`, in a process with limits.

    Writes the document on standard input as JSON, or with `source` its LaTeX as one text, starting
    from the file MAIN if it exists. Exit codes are the contract with `latex.py`; a refusal writes
    reason and message to standard error.
    """
    kind, requested_main = sys.argv[1:3]
    missing: list[str] = []
    try:
        files = read_files(sys.stdin.buffer.read())
        main = requested_main if requested_main in files else main_file(files)
        _, missing, missing_preamble = follow_inclusions(files, main)
        source = whole_source(files, main)
        document = source_of_latex(source, files) if kind == "source" else document_of_latex(source)
        answer = replace(
            document,
            missing_files=tuple(missing),
            missing_preamble_files=tuple(missing_preamble),
        )
    except LatexError as error:
        note = f"; missing or not followed: {', '.join(missing[:5])}" if missing else ""
        sys.stderr.write(f"{error.reason} {error}{note}")
        return EXIT_REFUSED
    sys.stdout.write(answer.model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
