"""A survey's written review, and an answer: what is read stands there, what is written is cited and carried."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge
from schemas.literature.survey import Survey
from schemas.literature.survey_review import Aspect, ReviewPart, SurveySection, WhyRemoved, Written
from schemas.reasons import Reason
from tasks.survey.reading import joins_of
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.survey_fakes import ABSTRACTS, LIE, Writer, surveyed


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


def part_of(found: Survey, part: ReviewPart) -> SurveySection:
    return next(section for section in found.sections if section.part is part)


def removed(found: Survey, why: WhyRemoved) -> list[str]:
    return [each.sentence for each in found.removed if each.why is why]


async def test_a_review_is_outlined_written_checked_and_cites_what_was_read(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer()
    found = await surveyed(server, tmp_path, writer)
    assert writer.asked == ["plan", "reading", "outline", "section", "check", "synthesis", "check"]
    body = part_of(found, ReviewPart.SECTION)
    assert body.heading == "How bats hunt"
    assert set(body.cited_paper_ids) == set(ABSTRACTS)
    assert "[(Aarden, 2010)](https://example.org/a)" in body.text
    assert (body.checked_sentence_count, body.dropped_sentence_count) == (3, 0)
    assert [section.section_id for section in found.sections] == ["s1", "s2", "s3", "s4"]
    assert found.sections[0].part is ReviewPart.SUMMARY
    assert [cluster.name for cluster in found.clusters] == ["Named c1"]
    assert (found.read_count, found.full_text_count, found.removed) == (3, 0, ())


async def test_what_is_uncited_unsupported_or_cites_nothing_shown_is_taken_out_and_kept_behind(
    server: OpenAIServer, tmp_path: Path
) -> None:
    bare = "Everybody knows that bats are clever animals."
    writer = Writer(section=f"{LIE} [P1]. {bare} Moths dive [P2, P77] (Smith et al., 2021).")
    found = await surveyed(server, tmp_path, writer)
    body = part_of(found, ReviewPart.SECTION)
    assert removed(found, WhyRemoved.UNCITED) == [bare]
    (unsupported,) = removed(found, WhyRemoved.UNSUPPORTED)
    assert unsupported.startswith(LIE)
    assert LIE not in body.text
    assert bare not in body.text
    assert "Smith" not in body.text
    assert "P77" not in body.text
    assert body.removed_citation_count == 2
    assert (body.uncited_sentence_count, body.dropped_sentence_count) == (1, 1)


async def test_a_sentence_without_a_verdict_stands_and_is_counted_as_unchecked(
    server: OpenAIServer, tmp_path: Path
) -> None:
    found = await surveyed(server, tmp_path, Writer(unchecked="dive away"))
    body = part_of(found, ReviewPart.SECTION)
    assert "dive away" in body.text
    assert (body.checked_sentence_count, body.unchecked_sentence_count) == (2, 1)


async def test_a_contradiction_has_two_sides_and_a_gap_names_what_comes_near(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer(
        contradictions=("Loud calls help [P1], faint ones too [P3].", "Only one says so [P2]."),
        gaps=("No work shown films bats by day [P2].", "Nobody studied whales at all."),
    )
    found = await surveyed(server, tmp_path, writer)
    contradictions = part_of(found, ReviewPart.CONTRADICTIONS)
    assert contradictions.text.count("\n") == 0
    assert len(contradictions.cited_paper_ids) == 2
    assert len(removed(found, WhyRemoved.ONE_SIDED)) == 1
    assert part_of(found, ReviewPart.GAPS).text.startswith("- No work shown films bats by day [(")
    assert removed(found, WhyRemoved.UNCITED) == ["- Nobody studied whales at all."]


async def test_where_nothing_is_contradicted_that_is_said_and_no_text_stands_in_its_place(
    server: OpenAIServer, tmp_path: Path
) -> None:
    found = await surveyed(server, tmp_path, Writer())
    contradictions = part_of(found, ReviewPart.CONTRADICTIONS)
    assert (contradictions.text, contradictions.unscored_reason) == ("", Reason.NO_EVIDENCE)
    assert contradictions.unscored_detail == "the engine named none"


async def test_a_passage_that_stands_in_no_work_is_no_quote(
    server: OpenAIServer, tmp_path: Path
) -> None:
    reading = {
        "papers": [
            {
                "key": "P1",
                "passages": [
                    {"aspect": "result", "quote": "Bats hunt moths by loud echo calls at night"},
                    {"aspect": "data", "quote": "Ten thousand bats were filmed for ten years"},
                    {"aspect": "colour", "quote": "The recorder is cheap."},
                ],
            },
            {"key": "P9", "passages": []},
        ]
    }
    found = await surveyed(server, tmp_path, Writer(reading=reading))
    own = [quote for quote in found.quotes if quote.aspect is not None]
    assert [(quote.aspect, quote.quote) for quote in own] == [
        (Aspect.RESULT, "Bats hunt moths by loud echo calls at night")
    ]
    told = " ".join(failure.detail for failure in found.failures)
    assert "1 passages do not occur in the work" in told
    assert "1 replies were for keys not in the prompt" in told
    assert "2 works had no reply" in told


@pytest.mark.parametrize(
    "sections",
    [
        [{"heading": "Nothing", "about": "", "keys": ["P8", "Q1"]}],
        [{"heading": "Nothing", "about": "", "keys": []}],
    ],
)
async def test_a_section_that_rests_on_no_work_is_not_written(
    server: OpenAIServer, tmp_path: Path, sections: Sequence[Any]
) -> None:
    writer = Writer(outline={"clusters": [], "sections": sections})
    found = await surveyed(server, tmp_path, writer)
    assert found.sections == ()
    assert "section" not in writer.asked
    assert any("cite no work of the prompt" in failure.detail for failure in found.failures)
    assert found.kept_count == 3


async def test_an_engine_that_fails_leaves_the_evidence_and_the_reason(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer(outline={"sections": "none"})
    found = await surveyed(server, tmp_path, writer)
    assert found.sections == ()
    assert Reason.REPLY_UNPARSABLE in {failure.reason for failure in found.failures}
    assert any(quote.aspect is Aspect.RESULT for quote in found.quotes)


async def test_no_review_is_written_where_none_is_asked_for(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer()
    found = await surveyed(server, tmp_path, writer, papers_read=0)
    assert (found.read_count, found.sections, writer.asked) == (0, (), ["plan"])


def test_two_works_are_joined_by_a_third_that_speaks_of_both_unless_one_cites_the_other() -> None:
    def edge(citing: str, cited: str, *contexts: str) -> CitationEdge:
        return CitationEdge(
            citing_paper_id=PaperId(citing), cited_paper_id=PaperId(cited), contexts=contexts
        )

    both = "Both [1] and [2] filmed bats."
    links = [
        edge("t", "a", both, "Only a is here."),
        edge("t", "b", both),
        edge("t", "c", both),
        edge("c", "a"),
    ]
    joins = joins_of([PaperId(name) for name in "abct"], links)
    assert [(join.paper_id, join.other_paper_id, join.said_in_paper_id) for join in joins] == [
        ("a", "b", "t"),
        ("b", "c", "t"),
    ]
    assert {join.passage for join in joins} == {both}


async def answered(server: OpenAIServer, folder: Path, writer: Writer) -> Survey:
    return await surveyed(server, folder, writer, written=Written.ANSWER)


def found_part(found: Survey, part: ReviewPart) -> SurveySection | None:
    return next((section for section in found.sections if section.part is part), None)


async def test_an_answer_is_written_from_what_was_read_and_checked(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer()
    found = await answered(server, tmp_path, writer)
    assert writer.asked == ["plan", "reading", "answer", "check"]
    answer = found_part(found, ReviewPart.ANSWER)
    assert "[(Aarden, 2010)](https://example.org/a)" in answer.text
    assert (answer.checked_sentence_count, answer.unchecked_sentence_count) == (3, 0)
    assert set(answer.cited_paper_ids) == {"a", "b", "c"}
    assert found_part(found, ReviewPart.NOT_FOUND) is None


async def test_what_is_uncited_or_not_carried_is_no_part_of_an_answer(
    server: OpenAIServer, tmp_path: Path
) -> None:
    bare = "Everybody knows that bats are clever animals."
    found = await answered(server, tmp_path, Writer(answer=f"{LIE} [P1]. {bare} Bats call [P1]."))
    answer = found_part(found, ReviewPart.ANSWER)
    assert answer.text == "Bats call [(Aarden, 2010)](https://example.org/a)."
    assert {each.why for each in found.removed} == {WhyRemoved.UNCITED, WhyRemoved.UNSUPPORTED}


@pytest.mark.parametrize("answer", ["", f"{LIE} [P1].", "Bats are clever, as everybody knows."])
async def test_an_answer_of_which_nothing_is_left_is_none(
    server: OpenAIServer, tmp_path: Path, answer: str
) -> None:
    found = await answered(server, tmp_path, Writer(answer=answer))
    section = found_part(found, ReviewPart.ANSWER)
    assert (section.text, section.unscored_reason) == ("", Reason.NO_EVIDENCE)


async def test_what_is_not_found_is_asked_and_states_nothing(
    server: OpenAIServer, tmp_path: Path
) -> None:
    claims = "Nobody has ever filmed whales at sea. Do whales hunt moths?"
    writer = Writer(not_found=("Do bats hunt by day?", claims, "Whales hunt moths at night."))
    found = await answered(server, tmp_path, writer)
    section = found_part(found, ReviewPart.NOT_FOUND)
    assert section.text == "- Do bats hunt by day?"
    assert len(found.removed) == 2


async def test_an_engine_that_fails_leaves_the_passages_and_the_reason(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer(not_found=({"no": "text"},), answer=["no text"])  # type: ignore[arg-type]
    found = await answered(server, tmp_path, writer)
    section = found_part(found, ReviewPart.ANSWER)
    assert (section.text, section.unscored_reason) == ("", Reason.REPLY_UNPARSABLE)
    assert any(failure.reason is Reason.REPLY_UNPARSABLE for failure in found.failures)
    assert found.quotes
