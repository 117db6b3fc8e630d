"""One LaTeX source → a document: title, abstract, and readable text under its headings (pylatexenc)."""

import logging
import re
from collections.abc import Iterator, Mapping

from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalkerError

from schemas.paper import SectionKind
from tasks.documents.document import HeadedSection, LatexSource, ParsedDocument
from tasks.documents.headings import kind_of
from tasks.documents.latex_files import LatexError
from tasks.documents.latex_source import balanced

PARSER = "latex"
_FEWEST_WORDS = 5
_DEPTHS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6}
_HEADING = re.compile(r"\\(part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?\s*(?:\[[^\[\]]*\]\s*)?(?=\{)")
_LEFT_OUT = re.compile(
    r"\\begin\{(figure|table|wrapfigure|wraptable|tikzpicture|algorithm|algorithmic|thebibliography|tabular|longtable|CCSXML)(\*?)\}"
    r".*?\\end\{\1\2\}",
    re.DOTALL,
)
_ABSTRACT_BLOCK = re.compile(r"\\begin\{abstract\}(.*?)\\end\{abstract\}", re.DOTALL)
_CITATION = re.compile(r"\\(?:no)?(?:[a-zA-Z]*cite[a-zA-Z]*)\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]*)\}")
_REFERENCE = re.compile(r"\\(?:[cC]ref|[vV]ref|autoref|nameref|eqref|pageref|ref)\*?\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{([^{}]*)\}\s*(?=\{)")
_VERB = re.compile(r"\\(?:verb\*?|lstinline)([^\sA-Za-z{*])(.*?)\1")
_BOX = re.compile(r"\\(?:mbox|hbox|fbox|makebox|texorpdfstring)\s*(?=\{)")
_DROPPED = re.compile(
    r"\\(?:label|vspace|hspace|bibliography|bibliographystyle|includegraphics|graphicspath|usepackage|input|pagestyle|thispagestyle|thanks"
    r"|author|affiliation|date|maketitle|tableofcontents|today|clearpage|newpage|noindent|centering)\*?\s*(?:\[[^\[\]]*\])?"
    r"\s*(?:\{[^{}]*\})?"
)
_APPENDIX = re.compile(r"\\appendix\b")

logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)


def document_of_latex(source: str) -> ParsedDocument:
    """Citations become `[keys]`, references `[labels]`; formulas stay as written; figures, tables, listings and bibliography go.

    Raises:
        LatexError: nested beyond what can be read, or a text without words.
    """
    preamble, _, body = source.partition("\\begin{document}")
    body = (body or preamble).partition("\\end{document}")[0]
    try:
        title = _title(source)
        abstract, body = _abstract(body, preamble)
        sections = tuple(_sections(_LEFT_OUT.sub(" ", body)))
    except RecursionError as error:
        raise LatexError("parser_limit", "the source nests too deeply") from error
    if not abstract and sections and kind_of(sections[0].heading) is SectionKind.ABSTRACT:
        abstract, sections = sections[0].text, sections[1:]
    if not abstract and not any(section.text for section in sections):
        raise LatexError("no_text", "the source holds no text")
    return ParsedDocument(title=title or None, abstract=abstract or None, sections=sections, parser=PARSER)


def source_of_latex(source: str, files: Mapping[str, str]) -> LatexSource:
    """The paper as LaTeX, from its title to its end.

    Raises:
        LatexError: a text without words.
    """
    preamble, _, body = source.partition("\\begin{document}")
    body = (body or preamble).partition("\\end{document}")[0]
    bibliography = "\n".join(text for name, text in sorted(files.items()) if name.lower().endswith(".bbl"))
    if len(re.findall(r"[A-Za-z]{2,}", body)) < _FEWEST_WORDS:
        raise LatexError("no_text", "the source holds no text")
    try:
        title = _title(source)
    except RecursionError as error:
        raise LatexError("parser_limit", "the source nests too deeply") from error
    return LatexSource(title=title or None, body=re.sub(r"\n\s*\n\s*", "\n\n", body).strip(), bibliography=bibliography)


def _title(source: str) -> str:
    for found in re.finditer(r"\\(?:icml)?title(?:running)?\*?\s*(?:\[[^\[\]]*\]\s*)?(?=\{)", source):
        text = " ".join(readable(balanced(source, found.end())[0]).split())
        if text:
            return text[:500]
    return ""


def _abstract(body: str, preamble: str) -> tuple[str, str]:
    """The abstract as readable text, and the body without it."""
    for text in (body, preamble):
        if block := _ABSTRACT_BLOCK.search(text):
            return readable(block.group(1)), body.replace(block.group(0), " ")
        if command := re.search(r"\\abstract\s*(?=\{)", text):
            content, end = balanced(text, command.end())
            return readable(content), body.replace(text[command.start() : end], " ")
    return "", body


def _sections(body: str) -> Iterator[HeadedSection]:
    """In reading order; what stands before the first heading is left out, as in a PDF."""
    found = [(match, *balanced(body, match.end())) for match in _HEADING.finditer(body)]
    headings = [(match, title, end) for match, title, end in found if end > match.end()]
    if not headings:
        text = readable(body)
        if text:
            yield HeadedSection(level=0, heading="Untitled", text=text)
        return
    highest = min(_DEPTHS[match.group(1)] for match, _, _ in headings)
    for place, (match, title, end) in enumerate(headings):
        stop = headings[place + 1][0].start() if place + 1 < len(headings) else len(body)
        heading = " ".join(readable(title).split())[:300] or "Untitled"
        yield HeadedSection(level=_DEPTHS[match.group(1)] - highest, heading=heading, text=readable(body[end:stop]))


def readable(latex: str) -> str:
    """A piece of LaTeX as text; paragraphs stay apart, lines within them flow.

    Raises:
        RecursionError: nested beyond what can be read.
    """
    text = _VERB.sub(lambda found: _escaped(found.group(2)), latex)
    text = _CITATION.sub(lambda found: f"[{_escaped(', '.join(key.strip() for key in found.group(1).split(',')))}]", text)
    text = _REFERENCE.sub(lambda found: f"[{_escaped(found.group(1).strip())}]", text)
    text = _APPENDIX.sub("", _DROPPED.sub(" ", _BOX.sub("", _LINK.sub("", text))))
    try:
        plain = LatexNodes2Text(math_mode="verbatim", keep_comments=False).latex_to_text(text, tolerant_parsing=True)
    except (LatexWalkerError, IndexError, KeyError, AttributeError, TypeError, ValueError):
        plain = re.sub(r"\\[A-Za-z]+\*?|[{}]", " ", text)
    paragraphs = (" ".join(each.split()) for each in re.split(r"\n\s*\n", plain))
    return "\n\n".join(each for each in paragraphs if each)


def _escaped(text: str) -> str:
    return re.sub(r"([#$%&_{}])", r"\\\1", text.replace("\\", "\\textbackslash "))
