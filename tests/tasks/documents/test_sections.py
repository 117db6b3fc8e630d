import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.identifiers import PaperId
from schemas.literature.paper import PaperSection, SectionKind
from tasks.documents.document import paper_sections
from tasks.documents.headings import kind_of, number_depth
from tasks.documents.pdf import Line, OutlineEntry, document_of
from tests.support.parsed_papers import parsed


def sections_of(
    *headed: tuple[int, str, str], abstract: str | None = None
) -> dict[SectionKind, PaperSection]:
    found = paper_sections(PaperId("p"), parsed(*headed, abstract=abstract))
    return {section.section: section for section in found}


KINDS = {
    SectionKind.METHODS: "Methods; 2. MATERIALS AND METHODS; III. PROPOSED METHOD; Our Approach;"
    "Experimental setup; 4.1 Experimental Design; Data and Methodology; Statistical analysis;"
    "M E T H O D S",
    SectionKind.RESULTS: "Results; 5 Results and Discussion; Experiments; Experimental Results;"
    "VI. EVALUATION; Findings; Ablation study",
    SectionKind.RELATED_WORK: "2 Related Work; Background and Related Work; Literature review",
    SectionKind.ABSTRACT: "ABSTRACT",
    SectionKind.DISCUSSION: "Discussion; 5.2 Limitations; Threats to Validity",
    None: "Introduction; Conclusion; Acknowledgements; References",
}


@pytest.mark.parametrize("kind", KINDS)
def test_kind_of_a_section_by_its_heading(kind: SectionKind | None) -> None:
    for heading in KINDS[kind].split(";"):
        assert kind_of(heading.strip()) is kind, heading


@pytest.mark.parametrize(
    ("heading", "depth"),
    [
        ("3 Results", 1),
        ("3.1 Data", 2),
        ("3.1.2. Data", 3),
        ("IV. RESULTS", 1),
        ("Results", None),
        ("A. Proofs", 1),
        ("Method", None),
    ],
)
def test_the_number_says_how_deep_a_heading_stands(heading: str, depth: int | None) -> None:
    assert number_depth(heading) == depth


def test_parts_belong_to_their_section_whatever_they_are_called() -> None:
    found = sections_of(
        (0, "4 Results", "Good."),
        (1, "4.1 Experimental setup", "GPUs."),
        (1, "4.2 Speed", "Fast."),
        (0, "5 Conclusion", "Done."),
    )
    assert list(found) == [SectionKind.RESULTS]
    assert (
        found[SectionKind.RESULTS].text
        == "Good.\n\n### 4.1 Experimental setup\n\nGPUs.\n\n### 4.2 Speed\n\nFast."
    )


def test_a_telling_part_of_a_silent_section_stands_for_itself() -> None:
    found = sections_of(
        (0, "4 Simulating a scientist", ""),
        (1, "4.1 Experiment setup", "GPUs."),
        (1, "4.2 Results", "Good."),
    )
    assert {kind: section.text for kind, section in found.items()} == {
        SectionKind.METHODS: "GPUs.",
        SectionKind.RESULTS: "Good.",
    }


def test_a_method_under_its_own_name_is_found_between_opening_and_results() -> None:
    found = sections_of(
        (0, "1 Introduction", "Why."),
        (0, "2 MirrorNet", "How."),
        (1, "2.1 Encoder", "In."),
        (0, "3 Experiments", "Good."),
    )
    assert found[SectionKind.METHODS].heading == "2 MirrorNet"
    assert found[SectionKind.METHODS].text == "How.\n\n### 2.1 Encoder\n\nIn."


def test_several_sections_of_a_kind_are_one_text_and_a_missing_kind_is_left_out() -> None:
    found = sections_of(
        (0, "Methods", "One."), (0, "Statistical analysis", "Two."), abstract="All in short."
    )
    assert found[SectionKind.METHODS].text == "One.\n\n## Statistical analysis\n\nTwo."
    assert list(found) == [SectionKind.ABSTRACT, SectionKind.METHODS]


def test_an_abstract_printed_in_the_text_ends_at_the_next_heading() -> None:
    lines = [
        Line(0, "Title of it all", 20.0, True, 700.0),
        Line(0, "Abstract—We did it", 9.0, True, 600.0),
        Line(0, "and it worked.", 9.0, True, 590.0),
    ]
    lines += [Line(0, "I. INTRODUCTION", 10.0, False, 560.0)] + [
        Line(0, "Body text of the paper in plain words.", 10.0, False, 500.0 - n) for n in range(30)
    ]
    document = document_of(lines, [], "")
    assert document.abstract == "We did it and it worked."
    assert [section.heading for section in document.sections] == ["I. INTRODUCTION"]


LINES = st.lists(
    st.builds(
        Line,
        st.integers(0, 4),
        st.text(min_size=1, max_size=40),
        st.sampled_from([8.0, 10.0, 12.0]),
        st.booleans(),
        st.floats(0, 800),
    ),
    min_size=1,
    max_size=25,
)
OUTLINES = st.lists(
    st.builds(
        OutlineEntry,
        st.text(max_size=20),
        st.integers(0, 3),
        st.integers(0, 5),
        st.none() | st.floats(0, 800),
    ),
    max_size=8,
)


@given(lines=LINES, outline=OUTLINES, title=st.text(max_size=20))
def test_any_lines_and_any_outline_give_a_document(
    lines: list[Line], outline: list[OutlineEntry], title: str
) -> None:
    document = document_of(lines, outline, title)
    assert all(section.text for section in paper_sections(PaperId("p"), document))
