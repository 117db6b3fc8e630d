"""LaTeX of a draft: adaptation to a venue, compilation, and log messages."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dashboards.render.drafts.programs import (
    BUBBLEWRAP,
    IN_BUBBLEWRAP,
    SECONDS,
    in_bubblewrap,
    run_bounded,
)
from schemas.text.patterns import MULTILINE, bounded
from schemas.works.draft_venue import Venue
from warehouse.scrubbing import one_line

LATEXMK = "latexmk"
NOT_INSTALLED = f"LaTeX was not compiled: {LATEXMK} is not installed"
NO_SANDBOX = (
    "LaTeX was not compiled: it runs in bubblewrap only, which is not installed"
    " (apt install bubblewrap)"
)
_MOST_LINES, _MOST_LOG_BYTES = 12, 20_000_000
_NO_START = f"{BUBBLEWRAP}: "
_FONTS = ("\\usepackage[T1]{fontenc}", "\\usepackage{lmodern}")
_ERROR = bounded(
    r"^(?:\./)?([^\n:]{1,200}\.(?:tex|bbl|sty|cls|bib|aux)):(\d{1,7}): ([^\n]{1,300})", MULTILINE
)
_FATAL = bounded(r"^! ([^\n]{1,300})", MULTILINE)
_UNSET = bounded(r"Unicode character [^\n]{0,12}\(U\+([0-9A-F]{4,6})\)")
_BIBTEX = bounded(r"^([^\n]{0,200})---line (\d{1,7}) of file ([^\n]{1,200})", MULTILINE)
_MISSING = bounded(
    r"LaTeX Warning: (?:Citation|Reference) [`']([^\n']{1,120})'[^\n]{0,80} undefined"
)

# Bitmap fonts cannot be expanded.
_WITHOUT_FONTS = (
    "\\IfFileExists{lmodern.sty}{}{\\PassOptionsToPackage{expansion=false}{microtype}}\n"
)


class LatexResult(NamedTuple):
    """Result of LaTeX: the PDF if there is one, and messages."""

    pdf: bytes | None
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def for_venue(latex: str, venue: Venue) -> str:
    """Adapt Pandoc's LaTeX to a venue.

    Fonts that small TeX installations lack become optional. In two columns, tables and figures span
    both, since `longtable` cannot be set in one.
    """
    latex = _WITHOUT_FONTS + latex
    for line in _FONTS:
        latex = latex.replace(line, f"\\IfFileExists{{lmodern.sty}}{{{line}}}{{}}", 1)
    if venue.columns == 1:
        return latex
    latex = latex.replace("\\begin{figure}", "\\begin{figure*}[t]")
    latex = latex.replace("\\end{figure}", "\\end{figure*}")
    before, *tables = latex.split("\\begin{longtable}[]{")
    return before + "".join(_table(each) for each in tables)


def _table(rest: str) -> str:
    """Turn one of Pandoc's long tables into a floating one; return it with its rest.

    Pandoc writes the head twice, and the bottom rule before the rows.
    """
    inner, _, after = rest.partition("\\end{longtable}")
    columns, _, body = inner.partition("\\toprule\\noalign{}")
    columns, _, caption = columns.partition("\\caption{")
    head = body.partition("\\midrule\\noalign{}")[0]
    rows = body.partition("\\endlastfoot")[2]
    parts = ["\\begin{table*}[t]\\centering"]
    if caption:
        parts.append(f"\\caption{{{caption.rpartition('}')[0]}}}")
    parts += [f"\\begin{{tabular}}{{{columns.strip()}", "\\toprule", head.strip()]
    parts += ["\\midrule", rows.strip(), "\\bottomrule", "\\end{tabular}\\end{table*}"]
    return "\n".join(parts) + after


def compile_latex(folder: Path, source: str) -> LatexResult:
    """Compile `source` with latexmk in bubblewrap, in a copy of `folder`.

    A note explains if one of the two is not installed or does not start. Characters that the fonts
    lack are replaced by their code points, and a note lists them.
    """
    program = shutil.which(LATEXMK)
    if program is None:
        return LatexResult(None, notes=(NOT_INSTALLED,))
    bubblewrap = shutil.which(BUBBLEWRAP)
    if bubblewrap is None:
        return LatexResult(None, notes=(NO_SANDBOX,))
    with tempfile.TemporaryDirectory(prefix="assay-latex-") as name:
        place = Path(name) / "draft"
        shutil.copytree(folder, place)
        command = in_bubblewrap(bubblewrap, program, place)
        log = _run(command, place, source)
        if log.startswith(_NO_START):
            return LatexResult(None, notes=(f"LaTeX was not compiled: {one_line(log)}",))
        unset = sorted(set(_UNSET.findall(log)))
        notes: tuple[str, ...] = ()
        if unset:
            path = place / source
            path.write_text(with_codes(path.read_text("utf-8"), unset), "utf-8")
            shutil.copy(path, folder / source)
            log = _run(command, place, source)
            signs = ", ".join(f"U+{code} {chr(int(code, 16))}" for code in unset)
            notes = (f"{source}: pdfLaTeX has no sign for {signs}; code points are shown instead",)
        pdf = (place / source).with_suffix(".pdf")
        errors = tuple(_lines(log))
        if not errors and not pdf.exists():
            errors = (f"{LATEXMK} made no PDF of {source}, and its log does not say why",)
        return LatexResult(pdf.read_bytes() if pdf.exists() and not errors else None, errors, notes)


def with_codes(latex: str, codes: list[str]) -> str:
    """Declare a code-point box for each character that pdfLaTeX lacks."""
    declarations = "\n".join(
        f"\\DeclareUnicodeCharacter{{{code}}}{{{{\\tiny\\fbox{{{code}}}}}}}" for code in codes
    )
    return latex.replace(
        "\\begin{document}", f"\\ifPDFTeX\n{declarations}\n\\fi\n\\begin{{document}}", 1
    )


def _run(program: Sequence[str], folder: Path, source: str) -> str:
    """Return the logs of TeX and BibTeX, or why bubblewrap did not start."""
    command = [*program, "-pdf", "-f", "-interaction=nonstopmode", "-file-line-error"]
    command += ["-no-shell-escape", "-norc", source]
    safe = {"openin_any": "p", "openout_any": "p", "max_print_line": "1000", **IN_BUBBLEWRAP}
    code, output = run_bounded(command, folder, safe)
    if code is None:
        return f"! {LATEXMK} took longer than {SECONDS} seconds"
    if code != 0 and output.startswith(_NO_START):
        return output
    logs = [(folder / source).with_suffix(kind) for kind in (".log", ".blg")]
    return "\n".join(_start_of(log) for log in logs if log.exists())


def _start_of(log: Path) -> str:
    with log.open("rb") as file:
        return file.read(_MOST_LOG_BYTES).decode("utf-8", "replace")


def _lines(log: str) -> Iterator[str]:
    messages = dict.fromkeys(
        [
            *(f"{file}:{line}: {message.strip()}" for file, line, message in _ERROR.findall(log)),
            *(message.strip() for message in _FATAL.findall(log)),
            *(f"{file}:{line}: {message}" for message, line, file in _BIBTEX.findall(log)),
            *(f"{name} is cited or referred to, and is nowhere" for name in _MISSING.findall(log)),
        ]
    )
    yield from list(messages)[:_MOST_LINES]
    if len(messages) > _MOST_LINES:
        yield f"and {len(messages) - _MOST_LINES:,} more"


def variables(venue: Venue) -> list[str]:
    """Return a venue's variables as Pandoc options."""
    values = [
        (name, each)
        for name, one in venue.latex.items()
        for each in ([one] if isinstance(one, str) else one)
    ]
    return [part for name, each in values for part in ("-V", f"{name}={each}")]
