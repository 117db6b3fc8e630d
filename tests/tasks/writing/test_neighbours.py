"""Papers nearby are measured by what is printed in them, and an outline follows them where enough
were measured.
"""

from statistics import median

import pytest

from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from schemas.works.draft_neighbour import LEAST_NEIGHBOURS, NeighbourSection, SectionPart, habits_of
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.writing.neighbours import citations_in, measure, past_share, plan_by_habits
from tests.support.draft_lake import plan_draft

OUTLINE = plan_draft().outline


def paper(number: int) -> Paper:
    return Paper(paper_id=PaperId(f"p{number}"), title=f"Bats {number}")


def document(*told: tuple[str, str], parser: str = "pdf") -> ParsedDocument:
    sections = tuple(HeadedSection(level=0, heading=name, text=text) for name, text in told)
    return ParsedDocument(title=None, abstract=None, sections=sections, parser=parser)


def paper_of(methods: int, *, related_last: bool = True) -> ParsedDocument:
    related = ("Related work", "Others count bats [1, 2]. " * 20)
    told = [
        ("1 Introduction", "Bats are fast, as Figure 1 gives an overview of. " * 20),
        ("2 Methods", "We counted bats and we found moths. " * methods),
        ("3 Results", "There were many, as Table 1 and Fig. 2 show. " * 20),
        ("References", "[1] Somebody, of bats. " * 200),
    ]
    told.insert(3 if related_last else 1, related)
    return document(*told)


def rows_of(count: int, **how: bool) -> list[NeighbourSection]:
    return [row for n in range(count) for row in measure(paper(n), paper_of(40 + 10 * n, **how))]


def test_a_paper_is_measured_section_by_section_up_to_its_references() -> None:
    rows = measure(paper(0), paper_of(40))
    assert [(row.section_number, row.part, row.word_count) for row in rows] == [
        (1, SectionPart.INTRODUCTION, 200), (2, SectionPart.METHOD, 280),
        (3, SectionPart.RESULTS, 200), (4, SectionPart.RELATED_WORK, 100),
    ]  # fmt: skip
    introduction, method, results, related = rows
    assert (introduction.figure_count, introduction.diagram_count) == (1, 1)
    assert (results.figure_count, results.diagram_count, results.table_count) == (1, 0, 1)
    assert related.citation_count == 40
    assert (method.past_share, method.first_person_share) == (1.0, 1.0)
    assert (introduction.past_share, introduction.first_person_share) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "is_latex", "count"),
    [
        ("Known [1], [2, 3] and [4-7].", False, 7),
        ("As Kay et al. (2020) and others (Lee, 2019a; Doe et al., 2018) say in 2021.", False, 3),
        ("Known [kay2020, lee:2019], see [fig:one] and [sec:two].", True, 2),
        ("No one is cited in 2020.", False, 0),
    ],
)
def test_citations_are_counted_as_their_parser_writes_them(
    text: str, is_latex: bool, count: int
) -> None:
    assert citations_in(text, is_latex=is_latex) == count


def test_of_too_few_verbs_no_tense_is_told() -> None:
    assert past_share(["It was.", "It is."]) is None
    assert past_share(["It was.", "We also built it.", "We may go.", "We use it."] * 2) == 4 / 6


def test_what_could_not_be_measured_says_why_and_counts_for_nothing() -> None:
    lost = SourceFailure(
        source="download", endpoint="p9", reason=Reason.NOT_LOOKED_FOR, detail="no stored copy"
    )
    (row,) = measure(paper(9), lost)
    assert (row.word_count, row.unmeasured_reason) == (None, Reason.NOT_LOOKED_FOR)
    (short,) = measure(paper(8), document(("Methods", "Short.")))
    assert short.unmeasured_reason is Reason.NO_SECTIONS
    habits = habits_of([*rows_of(LEAST_NEIGHBOURS - 1), row, short])
    assert (habits.measured, habits.looked_up) == (4, 6)
    planned = plan_by_habits(OUTLINE, habits, 4_000)
    assert [each.planned_words for each in planned] == [each.planned_words for each in OUTLINE]
    assert planned[0].planned_from == (
        "fixed, since 4 of 6 nearby papers could be measured, and 5 are needed"
    )


def test_enough_neighbours_decide_words_order_and_style() -> None:
    planned = plan_by_habits(OUTLINE, habits_of(rows_of(7)), 4_000)
    by_heading = {each.heading: each for each in planned}
    assert by_heading["Method"].planned_words == median(7 * (40 + 10 * n) for n in range(7))
    assert by_heading["Method"].style == "past tense, first person"
    assert "median of 7 neighbours, 490 words" in by_heading["Method"].planned_from
    assert [each.heading for each in planned] == [
        "Introduction", "Method", "Results", "Related work", "Limits and gaps", "Declaration",
    ]  # fmt: skip
    assert "0 of 7 neighbours have such a section" in by_heading["Limits and gaps"].planned_from
    assert by_heading["Limits and gaps"].planned_words == 220
    first = plan_by_habits(OUTLINE, habits_of(rows_of(7, related_last=False)), 4_000)
    assert [each.heading for each in first[:2]] == ["Introduction", "Related work"]


def test_an_outline_that_is_too_long_keeps_its_shares() -> None:
    planned = plan_by_habits(OUTLINE, habits_of(rows_of(7)), 600)
    assert sum(each.planned_words for each in planned if each.part) <= 600
    words = {each.part: each.planned_words for each in planned}
    assert words[SectionPart.METHOD] > 2 * words[SectionPart.INTRODUCTION]
