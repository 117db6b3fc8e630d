"""What of a paper tells its plan: by headings, and by what a section stands below."""

from tasks.curation.paper_parts import FEWEST_METHOD_WORDS, Part, parts_of_paper
from tasks.documents.document import HeadedSection, ParsedDocument

TOLD = "We record calls of bats under two conditions in a cave."


def parts(*headings: tuple[int, str]) -> dict[str, str]:
    """The part of each section that is shown, by its heading."""
    sections = tuple(
        HeadedSection(level=level, heading=heading, text=f"{TOLD} {heading}.")
        for level, heading in headings
    )
    paper = ParsedDocument(title="T", abstract=None, sections=sections, parser="grobid")
    return {each.heading: each.part.value for each in parts_of_paper(paper).planned}


def test_an_analysis_below_the_methods_is_method_and_below_the_results_is_not_shown() -> None:
    shown = parts(
        (0, "Methodology"), (1, "Keyword analysis"), (0, "Results"), (1, "Drift analysis")
    )
    assert shown == {"Methodology": Part.METHOD, "Keyword analysis": Part.METHOD}


def test_a_section_stands_below_none_of_another_number() -> None:
    shown = parts((0, "1 Introduction"), (1, "2.1 Details of the router"), (1, "3.1 Router"))
    assert shown["1 Introduction"] == Part.BACKGROUND
    assert shown["2.1 Details of the router"] == shown["3.1 Router"] == Part.METHOD


def test_a_set_up_below_results_or_experiments_is_part_of_the_plan() -> None:
    shown = parts((0, "Results"), (1, "Experimental setup"), (0, "Experiments"), (1, "Data sets"))
    assert shown["Experimental setup"] == shown["Data sets"] == Part.EXPERIMENT
    assert "Results" not in shown


def test_results_named_within_a_section_on_the_method_are_not_shown() -> None:
    shown = parts((0, "Simulating bats"), (1, "Evaluation protocol"), (1, "Results and analysis"))
    assert shown == {"Simulating bats": Part.METHOD, "Evaluation protocol": Part.EXPERIMENT}


def test_discussion_related_work_and_what_follows_the_end_are_left_out() -> None:
    shown = parts(
        *((0, "Contents"), (0, "Introduction"), (0, "Related work"), (1, "Bats at night")),
        *((0, "Discussion"), (1, "Innovation of the study"), (0, "Conclusions")),
        *((0, "Author details"), (0, "Methods"), (1, "Participants")),
    )
    assert shown == {
        "Introduction": Part.BACKGROUND,
        "Methods": Part.METHOD,
        "Participants": Part.EXPERIMENT,
    }


def test_of_experiments_not_told_apart_from_results_only_procedures_are_shown() -> None:
    text = f"{TOLD} Our results show a gain of 87.31. Figure 3 is blue."
    section = HeadedSection(level=0, heading="4 Experiments", text=text)
    paper = ParsedDocument(title="T", abstract=None, sections=(section,), parser="grobid")
    found = parts_of_paper(paper)
    assert found.text_of(Part.EXPERIMENT) == TOLD
    assert any("87.31" in each for each in found.outcomes)


def test_methods_told_by_participants_and_protocols_alone_are_a_method() -> None:
    sections = tuple(
        HeadedSection(level=level, heading=heading, text=text)
        for level, heading, text in (
            (0, "Materials and methods", ""),
            (1, "Participants", TOLD * 5),
            (1, "Experimental protocol", TOLD * 5),
        )
    )
    told = ParsedDocument(title="T", abstract=None, sections=sections, parser="grobid")
    assert parts_of_paper(told).method_words >= FEWEST_METHOD_WORDS
    results = HeadedSection(level=0, heading="Experiments", text=TOLD * 20)
    alone = ParsedDocument(title="T", abstract=None, sections=(results,), parser="grobid")
    assert parts_of_paper(alone).method_words == 0
