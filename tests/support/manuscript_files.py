"""Small manuscripts with known faults, made for tests."""

from pathlib import Path

from tests.support.small_pdf import pdf_of

LATEX = r"""\documentclass{article}
\newcommand{\R}{\mathbb{R}}
\title{On Sums}
\begin{document}
\begin{abstract}We prove that sums of even numbers in $\R$ are odd.\end{abstract}
\section{Introduction}\label{sec:intro}
% a comment that no reader sees
As Theorem~\ref{thm:missing} says, and Section~\ref{sec:intro} repeats, sums behave well.
\input{parts/results}
\end{document}
"""
RESULTS = r"\section{Results} We prove the main result by looking at it closely, as in \cite{lee}."


def faulty_pdf() -> bytes:
    """Two pages: a wrong percentage and a wrong p-value on the first, a reference to nowhere on the
    second.
    """
    first = [
        ("A Study of Things With Numbers", 18.0, True),
        ("1 Introduction", 12.0, True),
        ("We found that 12 of 40 (25%) people improved.", 10.0, False),
        ("The test was clear, t(28) = 2.20, p = .36, so we stop.", 10.0, False),
    ]
    second = [
        ("2 Results", 12.0, True),
        ("As Section ?? says, this holds for all people.", 10.0, False),
    ]
    return pdf_of([first, second])


def locked_pdf() -> bytes:
    return pdf_of([[("Nobody reads this.", 10.0, False)]], encrypted=True)


def scanned_pdf() -> bytes:
    return pdf_of([[], []])


def latex_folder(folder: Path) -> Path:
    (folder / "parts").mkdir(parents=True)
    (folder / "main.tex").write_text(LATEX)
    (folder / "parts" / "results.tex").write_text(RESULTS)
    return folder
