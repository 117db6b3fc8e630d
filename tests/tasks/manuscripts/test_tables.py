"""Tables cell by cell, and claims that are made twice: what contradicts itself,
and what does not.
"""

import pytest

from tasks.manuscripts.steps.find_problems import CHECKS
from tasks.manuscripts.steps.reading import DetectedProblem, Reading
from tasks.manuscripts.steps.tables import tables_of, value_of

LATEX = r"""\section{Corpus}
As Table~\ref{tab:corpus} shows, the recall of Ovid is %(figure)s in our corpus.
\begin{table}\label{tab:corpus}\begin{tabularx}{\linewidth}{lrr}
\toprule Author & \textbf{lines} & recall \\ \midrule
Ovid & 12,009 & 71.5\%% \\
Vergil & 9840 & 60.0\%% \\[2pt]
Horace \& others & 2113 & 50.2\%% \\ \hline
Total & %(total)s & 99.0\%% \\
\end{tabularx}\end{table}
"""
MARKDOWN = """## 2 Results
Table 1 shows that the recall of Ovid is {figure} in all.

Table 1: Authors.

| Author | lines | recall |
|---|--:|--:|
| Ovid | 12009 | 0.715 |
| Vergil | 9840 | 0.600 |
| Horace | 2113 | 0.502 |
| **Total** | {total} | 0.99 |
"""


def findings(text: str, form: str = "text") -> list[DetectedProblem]:
    reading = Reading(form, text)
    return [finding for check in CHECKS for finding in check(reading)]


def kinds(text: str, form: str = "text") -> set[str]:
    return {finding.kind for finding in findings(text, form)}


def test_cells_are_read_without_markup() -> None:
    (table,) = tables_of(Reading("latex", LATEX % {"figure": "71.5", "total": "23962"}))
    assert table.names == ("tab:corpus",)
    assert table.rows[0] == ("Author", "lines", "recall")
    assert table.rows[3] == ("Horace & others", "2113", "50.2%")
    assert table.location == "section Corpus"
    (table,) = tables_of(Reading("text", MARKDOWN.format(figure="0.72", total=23962)))
    assert (table.names, table.rows[4]) == (("1",), ("Total", "23962", "0.99"))


def test_a_total_that_is_not_the_sum_of_its_rows_is_found_and_a_right_one_left_alone() -> None:
    assert kinds(LATEX % {"figure": "71.5", "total": "23,962"}, "latex") == set()
    (found,) = findings(LATEX % {"figure": "71.5", "total": "23,692"}, "latex")
    assert (found.kind, found.location) == ("table_total", "section Corpus, table tab:corpus")
    assert "23,962" in found.problem
    assert kinds(MARKDOWN.format(figure="0.715", total=32962)) == {"table_total"}


def test_a_total_over_two_rows_is_added_up() -> None:
    two = "| group | drones |\n|---|---|\n| with | 120 |\n| without | 120 |\n| total | {} |"
    assert kinds(two.format(250)) == {"table_total"}
    assert kinds(two.format(240)) == set()


def test_a_grand_total_counts_the_rows_above_earlier_totals() -> None:
    rows = "| a | 10 |\n| b | 20 |\n| Total | 30 |\n| c | 10 |\n| d | 15 |\n| Total | 25 |\n"
    text = "| who | n |\n|---|---|\n{}| e | 5 |\n| f | 6 |\n| Grand total | {} |"
    assert kinds(text.format(rows, 66)) == set()
    one = rows.replace("| Total | 25 |\n", "")
    assert kinds(text.format(one, 66)) == set()
    assert kinds(text.format(one, 65)) == {"table_total"}


def test_totals_that_are_no_sums_are_left_alone() -> None:
    for head, total in (("mean age", "43"), ("share (%)", "100"), ("words", "470377")):
        text = (
            f"| who | {head} |\n|---|---|\n| a | 40 |\n| b | 20 |\n| c | 30 |\n| Total | {total} |"
        )
        assert kinds(text) == set()
    with_gap = "| who | n |\n|---|---|\n| a | 40 |\n| b | lost |\n| c | 30 |\n| Total | 71 |"
    assert kinds(with_gap) == set()


def test_text_that_says_another_figure_than_the_cell_it_names_is_found() -> None:
    assert kinds(LATEX % {"figure": r"75.1\%", "total": "23962"}, "latex") == {"text_against_table"}
    assert kinds(MARKDOWN.format(figure="0.751", total=23962)) == {"text_against_table"}
    assert kinds(MARKDOWN.format(figure="0.72", total=23962)) == set()


RESTATED = """## 1 Introduction
Training with noisy labels of the Latin corpus {direction} the recall of our small network by {figure}% on test texts.

## 2 Methods
Something else is told here.

## 3 Results
Training with noisy labels of the Latin corpus increased the recall of our small network by 12% on test texts.
"""


def test_a_claim_made_twice_and_differently_is_found_where_a_paper_sums_up() -> None:
    assert kinds(RESTATED.format(direction="increased", figure=12)) == set()
    assert kinds(RESTATED.format(direction="decreased", figure=12)) == {"restated"}
    (found,) = findings(RESTATED.format(direction="increased", figure=21))
    assert "21 and 12 %" in found.problem
    assert "section 3 Results" in found.explanation
    siblings = RESTATED.replace("1 Introduction", "1 The first corpus")
    assert kinds(siblings.format(direction="decreased", figure=21)) == set()


def test_a_citation_beyond_the_list_of_references_is_found_where_the_list_is_whole() -> None:
    text = "The pebbles were sorted as others did [7].\n\n" + "All is well here. " * 30
    whole = "References\n" + "\n".join(f"[{number}] A. Stone." for number in range(1, 7))
    assert kinds(f"{text}\n{whole}") == {"missing_reference"}
    assert kinds(f"{text}\n{whole.replace('[2]', '').replace('[4]', '')}") == set()
    assert kinds(f"{text}\n{whole}\n[7] B. Stone.") == set()


@pytest.mark.parametrize(
    "damaged",
    [
        "Here 12 of 40 (25%) im(cid:31)proved.",
        "Here 12 of 40 (25%) improved by 1 .5 points.",
        "Here 12 of 40 (25%) w e s o r t e d t h e m again.",
        "Here 12 of 40 (25%) \N{REPLACEMENT CHARACTER}improved.",
    ],
)
def test_what_reading_damaged_is_not_held_against_the_authors(damaged: str) -> None:
    reading = Reading("text", damaged)
    assert kinds(damaged) == set()
    assert len(reading.damaged) == 1
    assert not reading.is_mostly_whole
    assert kinds("Here 12 of 40 (25%) improved.") == {"share"}


def test_figures_that_are_one_figure_rounded_twice_are_left_alone() -> None:
    assert kinds(RESTATED.format(direction="increased", figure="12.4")) == set()
    assert kinds(RESTATED.format(direction="increased", figure="0.4")) == {"restated"}


def test_a_cell_is_a_number_or_none() -> None:
    told = {"12,009": 12009, "71.5 %": 71.5, "−3": -3, "n/a": None, "3 ± 1": None, "": None}
    assert {cell: value_of(cell) for cell in told} == told
