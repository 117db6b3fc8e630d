"""A venue's rules are held: what sections are called, which there have to be, how long an abstract is."""

from schemas.base import replace
from schemas.reasons import Reason
from schemas.works.draft_neighbour import SectionPart
from tasks.writing.checking import against_rules, outline_faults
from tests.support.draft_lake import make_draft, plan_draft


def test_an_outline_keeps_to_its_venue_and_an_edited_one_is_held_to_it() -> None:
    request = plan_draft(venue_name="conference")
    rules, outline = request.material.venue, request.outline
    assert [each.heading for each in outline] == [
        "Abstract", "Introduction", "Related Work", "Method", "Results", "Limitations",
        "Declaration",
    ]  # fmt: skip
    assert list(outline_faults(outline, rules)) == []
    renamed = replace(outline[2], heading="Others")
    assert list(outline_faults([*outline[1:2], renamed, *outline[3:5]], rules)) == [
        "conference asks for a section on discussion",
        "conference asks for an abstract",
        "conference calls the section 'Others' 'Related Work'",
    ]


def test_an_abstract_that_is_too_long_is_refused() -> None:
    draft, rules = (
        make_draft(venue="conference"),
        plan_draft(venue_name="conference").material.venue,
    )
    assert against_rules(draft, rules) == ()
    assert "abstract: |" in draft.markdown
    sections = tuple(
        replace(each, text="Bats win. " * 150) if each.part is SectionPart.ABSTRACT else each
        for each in draft.sections
    )
    (line,) = against_rules(replace(draft, sections=sections), rules)
    assert line.detail == "the abstract has 300 words, and conference allows 200"
    assert line.reason is Reason.AGAINST_RULES
