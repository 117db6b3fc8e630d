"""The check over a finished draft: what is carried stands, and every injected fault is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import replace
from schemas.literature.naming import claim_span, one_space, shallow
from schemas.reasons import Reason
from schemas.works.draft import ClaimKind, Draft, DraftFigure
from schemas.works.draft_run import StoredText
from tasks.citations.quoted import plain
from tasks.writing.checking import check, numbers_in
from tasks.writing.figures import draw
from tasks.writing.parsing import CITATION, CLAIM, END, parse
from tasks.writing.work import plain_text
from tests.support.draft_lake import PASSAGES, make_draft, plan_draft

STORED = plan_draft().material.stored
NOTHING = '{"meta": {}, "blocks": []}'


@pytest.fixture(scope="module")
def draft() -> Draft:
    return make_draft()


def changed(draft: Draft, old: str, new: str) -> Draft:
    """The draft with the first `old` of its sections as `new`."""
    assert any(old in section.text for section in draft.sections), old
    sections = []
    for section in draft.sections:
        if old in section.text:
            section, old = replace(section, text=section.text.replace(old, new, 1)), "\x00"
        sections.append(section)
    return replace(draft, sections=tuple(sections))


def added(draft: Draft, text: str, place: int = -2) -> Draft:
    """The draft with another paragraph in one of its sections."""
    sections = list(draft.sections)
    sections[place] = replace(sections[place], text=f"{sections[place].text}\n\n{text}")
    return replace(draft, sections=tuple(sections))


def lines(draft: Draft) -> list[str]:
    return [failure.detail for failure in check(draft, STORED)]


def test_a_draft_that_is_carried_stands(draft: Draft) -> None:
    assert lines(draft) == []
    assert draft.word_count
    assert draft.failures == ()


@pytest.mark.parametrize(
    "brackets",
    ["[" * 40, "[@a " * 30, "[" * 15 + "a" + "]" * 15, "[`]` " * 25, "\\\\[" * 25, "![" * 25],
)
def test_brackets_of_a_section_without_end_do_not_act_as_markdown(
    draft: Draft, brackets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = added(draft, f"Bats win {brackets} here.").markdown
    paragraph = next(each for each in whole.split("\n\n") if each.startswith("Bats win "))
    assert paragraph == f"Bats win {brackets} here.".replace("[", "\\[")
    given: list[str] = []

    def convert(text: str, *_: object, **__: object) -> str:
        given.append(text)
        return NOTHING

    monkeypatch.setattr("pypandoc.convert_text", convert)
    for read in (parse, plain_text):
        read(f"Bats win {brackets} here.")
    assert given == [paragraph, paragraph]


def test_brackets_of_a_draft_that_close_stay_as_they_are(draft: Draft) -> None:
    for text in (draft.markdown, "In [0, 1), (0, 1] and [a [b [c](https://d.example)]{.e}]."):
        assert shallow(text) == text


TYPED = {
    "0.2": "The gain is 0.2.", "3": "Bats win 3 times.", "twenty": "About twenty bats came.",
    "half": "It takes half of it.", "½": "A share of ½ is enough.", "٣": "All ٣ of them.",
    "50": "A gain of &#53;0 bats.", "Bats2": "Bats^2^ win.", "doubled": "It doubled.",
    "0.7": "`0.7` is the gain.",
}  # fmt: skip


def test_false_and_typed_numbers_are_refused(draft: Draft) -> None:
    numbers = [claim for claim in draft.claims if claim.kind is ClaimKind.NUMBER][:3]
    whole = added(draft, "\n\n".join(TYPED.values()))
    for claim, more in zip(numbers, (1, 10, 1), strict=True):
        true = claim_span(claim.claim_key, claim.shown)
        false = claim_span(claim.claim_key, f"{(claim.value or 0) + more:.4g}")
        whole = changed(whole, true, false)
    found = lines(whole)
    for claim in numbers:
        assert any(f"is not what {claim.claim_key} says" in line for line in found)
    assert {line for line in found if "is no claim" in line} == {
        f"the number {number} is no claim" for number in TYPED
    }


@pytest.mark.parametrize("typed", ["Bats win &#1;7&#2; times.", "Bats win &#4;7&#2; times."])
def test_control_characters_are_no_citation_and_no_claim(draft: Draft, typed: str) -> None:
    assert lines(added(draft, typed)) == ["the number 7 is no claim"]


def test_marks_of_claims_outlast_the_removal_of_the_shields_of_quotations() -> None:
    (stretch,) = parse(f"The gain is {claim_span('gain', '0.2')} [@bats].").stretches
    assert plain(stretch.text) == stretch.text == f"The gain is {CLAIM}0{END} {CITATION}0{END}."


def test_a_number_that_is_another_fact_of_the_lake_is_refused_in_its_place(draft: Draft) -> None:
    mean = next(claim for claim in draft.claims if claim.claim_key == "task-0.parent.mean")
    other = next(claim for claim in draft.claims if claim.claim_key == "task-0.c001.mean")
    true = claim_span(mean.claim_key, mean.shown)
    (line,) = lines(changed(draft, true, claim_span(mean.claim_key, other.shown)))
    assert line == "'0.2' is not what task-0.parent.mean says: 0.4"


def test_swapped_citations_are_refused(draft: Draft) -> None:
    keys = [work.cite_key for work in draft.works]
    assert len(keys) == 20
    swapped = draft
    for key, other in zip(keys[::5], keys[1::5], strict=True):
        quote = next(
            c for c in draft.claims if c.kind is ClaimKind.QUOTE and c.cited_keys == (key,)
        )
        said = claim_span(quote.claim_key, quote.shown)
        swapped = changed(swapped, f"{said} [@{key}]", f"{said} [@{other}]")
    assert len(lines(swapped)) == 8


@pytest.mark.parametrize("is_hidden", [False, True])
def test_copied_sentences_are_refused(draft: Draft, is_hidden: bool) -> None:
    copies = [
        each.replace(" bats ", " *bats* ").upper() if is_hidden else each for each in PASSAGES[::5]
    ]
    found = lines(added(draft, "\n\n".join(copies)))
    assert len([line for line in found if "are repeated" in line]) == len(copies)


def test_a_copied_sentence_is_found_in_any_stored_text(draft: Draft) -> None:
    text = "Owls that hunt by night prefer the quiet edges of old forests."
    again = added(draft, text)
    assert lines(again) == []
    found = check(again, [StoredText(title="Owls", text=f"We know. {text}")])
    assert "words of 'Owls' are repeated" in found[0].detail


ASTRAY = {
    "[@nobody] is not in the bibliography": "As known [@nobody].",
    "is cited for what no stored text of it carries": "Bats win [@aberg2001].",
    "there is no claim task-0.gain": claim_span("task-0.gain", "0.1"),
    "a link leads to https://example.org": "[Here](https://example.org).",
    "a picture is https://example.org/x.png": "![x](https://example.org/x.png)",
    "a link leads to #fig-none": "See [Figure](#fig-none).",
}


def test_what_leads_nowhere_is_refused(draft: Draft) -> None:
    found = lines(added(draft, "\n\n".join(ASTRAY.values())))
    for said in ASTRAY:
        assert any(said in line for line in found), said


def test_raw_code_is_read_as_text(draft: Draft) -> None:
    parsed = parse(added(draft, "```{=latex}\n\\input{x}\n```").markdown)
    assert "\\input{x}" in "".join(each.text for each in parsed.stretches)


def test_who_cites_may_not_say_more_than_is_quoted(draft: Draft) -> None:
    quote = next(claim for claim in draft.claims if claim.kind is ClaimKind.QUOTE)
    said, key = claim_span(quote.claim_key, quote.shown), quote.cited_keys[0]
    longer = f"{said}, and so the method of bats is proven for good [@{key}]"
    found = lines(changed(draft, f"{said} [@{key}]", longer))
    assert any("says more than its claims" in line for line in found)


def test_a_quotation_has_to_stand_in_the_stored_text(draft: Draft) -> None:
    claims = tuple(
        replace(claim, passage="Something else was stored of this work.")
        if claim.kind is ClaimKind.QUOTE
        else claim
        for claim in draft.claims
    )
    assert len(lines(replace(draft, claims=claims))) == 20


def test_figures_have_to_be_shown_and_referred_to(draft: Draft) -> None:
    assert lines(changed(draft, "See [Figure](#fig-gains).", "")) == [
        "the figure gains is not referred to"
    ]
    sections = tuple(replace(section, figure_ids=()) for section in draft.sections)
    assert "the figure runs is not shown" in lines(replace(draft, sections=sections))


def test_captions_with_false_numbers_are_refused(draft: Draft) -> None:
    numbers = [claim for claim in draft.claims if claim.kind is ClaimKind.NUMBER]
    gains = next(figure for figure in draft.figures if figure.figure_id == "gains")
    drawn_rows = {"gain", "gain_low", "gain_high"}
    drawn = {each.shown for each in numbers if each.claim_key.rpartition(".")[2] in drawn_rows}
    undrawn = [each for each in numbers if each.shown not in drawn | {"2"}][:2]
    false = [each for each in numbers if each not in undrawn][:2]
    caption = (
        gains.caption,
        *(f"It is {claim_span(each.claim_key, each.shown)}." for each in undrawn),
        *(f"It is {claim_span(each.claim_key, '0.777')}." for each in false),
        *("It gains 0.3.", "Three of them gain.", "They gain ½.", "A gain of ٣."),
    )
    found = lines(with_figure(draft, replace(gains, caption=" ".join(caption))))
    assert len(undrawn) == len(false) == 2
    for each in undrawn:
        said = f"its caption says {each.shown} ({each.claim_key}), which it does not draw"
        assert said in found
    for each in false:
        assert any(line.startswith(f"'0.777' is not what {each.claim_key}") for line in found)
    assert len([line for line in found if "is no claim" in line]) == 4


def test_figures_whose_unit_rows_or_picture_are_not_those_of_the_lake_are_refused(
    draft: Draft,
) -> None:
    gains = next(figure for figure in draft.figures if figure.figure_id == "gains")
    wrong = gains.spec.replace("Gain in error over", "Gain in error (ms) over")
    (line,) = lines(with_figure(draft, draw(replace(gains, spec=wrong))))
    assert line == (
        "its x axis is called 'Gain in error (ms) over the parent', and its rows are 'Gain in error"
        " over the parent'"
    )
    other = gains.spec.replace('"gain": 0.2', '"gain": 0.25')
    (line,) = lines(with_figure(draft, draw(replace(gains, spec=other))))
    assert line == "it draws 0.25 as the gain of c001, which is 0.2"
    assert lines(with_figure(draft, replace(gains, spec=other)))[-1] == (
        "it is not what its specification draws"
    )
    assert lines(with_figure(draft, replace(gains, svg=""))) == ["it was not drawn"]
    assert check(with_figure(draft, replace(gains, svg="")), STORED)[0].reason is Reason.ILLEGIBLE


def with_figure(draft: Draft, figure: DraftFigure) -> Draft:
    figures = (figure if one.figure_id == figure.figure_id else one for one in draft.figures)
    return replace(draft, figures=tuple(figures))


def test_what_machines_wrote_has_to_be_declared(draft: Draft) -> None:
    assert lines(replace(draft, sections=draft.sections[:-1])) == [
        "the draft does not say what machines wrote: declaration"
    ]


def test_a_setting_that_would_read_a_file_is_refused(draft: Draft) -> None:
    found = lines(added(draft, "---\nbibliography: /etc/passwd\n---"))
    assert "the setting bibliography has no place in a draft" in found


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=30))
def test_any_text_stands_in_its_claim_as_it_is(texts: list[str]) -> None:
    wanted = [one_space(text) for text in texts if one_space(text)]
    markdown = "\n\n".join(
        f"As given: {claim_span(f'k{n}', text)}." for n, text in enumerate(wanted)
    )
    seen = [claim for stretch in parse(markdown).stretches for claim in stretch.claims]
    assert [each.text for each in seen] == [" ".join(text.split()) for text in wanted]


def test_words_that_are_no_numbers_pass() -> None:
    assert (
        list(numbers_in("No one of them, first or second, halted; often weight and tension.")) == []
    )
