"""`--text full`: ideas of submissions from their papers, through the parsers."""

from pathlib import Path

import pytest

from flows.run.estimates.declared import estimate
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import SubmissionText
from schemas.judgement.run_request import RunRequest
from schemas.run import Run
from schemas.settings import Settings
from tasks.benchmarks.submissions import MOST_WORDS, submission_conditions
from tasks.benchmarks.suites.decisions import SUITE as DECISIONS
from tasks.benchmarks.suites.matches import PAIRS
from tasks.benchmarks.work import BENCHMARK
from tasks.ideas.read import read_ideas
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    write_pairs,
    write_points,
)
from tests.support.small_pdf import pdf_of

FULL = SubmissionText.FULL
LATEX = r"""\documentclass{article}\begin{document}
\section{Method} A lattice of owls is trained by hand.
\section{Acknowledgements} We thank the owls.
\end{document}"""


def paper(heading: str, text: str) -> bytes:
    lines = [(heading, 14.0, True), *((f"{text} Line {n}.", 10.0, False) for n in range(8))]
    return pdf_of([lines])


def write_papers(folder: Path, *names: str) -> Path:
    (folder / "papers").mkdir()
    for name in names:
        content = paper("3 Method", "A spline of otters is fitted.")
        (folder / "papers" / f"{name}.pdf").write_bytes(content)
    return folder


def test_ideas_are_made_from_papers_and_acknowledgements_are_left_out(tmp_path: Path) -> None:
    folder = write_papers(write_points(tmp_path, ("Reject", "Accept (Oral)")), "p0")
    (folder / "papers" / "p1.tex").write_text(LATEX)
    request = benchmark_request(folder, DECISIONS, text=FULL)
    evaluated: list[str] = []

    def evaluate(run: RunRequest) -> Run:
        evaluated.extend(
            idea.text for idea in read_ideas(run.ideas.path, default_cutoff=None).ideas
        )
        raise ConfigurationError("enough seen")

    with pytest.raises(ConfigurationError, match="enough seen"):
        run_small(DECISIONS, request, evaluate)
    otters, owls = evaluated
    assert otters.startswith("# On sparse attention")
    assert "A spline of otters is fitted." in otters
    assert "A lattice of owls is trained by hand." in owls
    assert "thank" not in owls


def test_a_paper_that_lacks_or_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    folder = write_papers(write_points(tmp_path, ("Reject", "Accept (Oral)")), "p0")
    request = benchmark_request(folder, DECISIONS, text=FULL)
    with pytest.raises(ConfigurationError, match=r"1 papers are not in .*such as p1"):
        run_small(DECISIONS, request, never_evaluate)
    (folder / "papers" / "p1.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    with pytest.raises(ConfigurationError, match=r"1 papers cannot be read: p1\.pdf"):
        run_small(DECISIONS, request, never_evaluate)


def test_pairs_are_judged_by_their_papers(tmp_path: Path) -> None:
    folder = write_papers(write_pairs(tmp_path, 1), "p0", "p1")
    request = benchmark_request(folder, PAIRS, modules=(), text=FULL)
    assert run_small(PAIRS, request, never_evaluate).published


def test_other_papers_make_another_benchmark_and_abstracts_need_none(tmp_path: Path) -> None:
    folder = write_papers(write_points(tmp_path, ("Reject",)), "p0")
    request = benchmark_request(folder, DECISIONS, text=FULL)
    before = request.units[0].conditions
    (folder / "papers" / "p0.pdf").write_bytes(paper("3 Method", "Another one."))
    again = benchmark_request(folder, DECISIONS, text=FULL)
    assert again.units[0].conditions != before
    abstracts = benchmark_request(folder, DECISIONS)
    parameters = abstracts.parameters
    assert submission_conditions(abstracts.profile, parameters, folder) == ()


def test_full_papers_are_planned_as_long_as_they_may_be(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path, 2)
    tokens = [
        estimate(
            BENCHMARK,
            benchmark_request(
                folder, PAIRS, modules=(), text=text, engine="litellm:openai/gpt-4o-mini"
            ),
            Settings(),
        ).prompt_tokens
        for text in SubmissionText
    ]
    assert tokens[1] > tokens[0] + MOST_WORDS
