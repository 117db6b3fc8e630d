"""An answer from what was read: every sentence is carried, and what is not found is said to be so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.literature.survey import Survey
from schemas.literature.survey_review import ReviewPart, SurveySection, WhyRemoved, Written
from schemas.reasons import Reason
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.survey_questions import surveyed
from tests.support.survey_writer import LIE, Writer


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


async def answered(server: OpenAIServer, folder: Path, writer: Writer) -> Survey:
    return await surveyed(server, folder, writer, written=Written.ANSWER)


def part_of(found: Survey, part: ReviewPart) -> SurveySection | None:
    return next((section for section in found.sections if section.part is part), None)


async def test_an_answer_is_written_from_what_was_read_and_checked(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer()
    found = await answered(server, tmp_path, writer)
    assert writer.asked == ["plan", "reading", "answer", "check"]
    answer = part_of(found, ReviewPart.ANSWER)
    assert "[(Aarden, 2010)](https://example.org/a)" in answer.text
    assert (answer.checked_sentence_count, answer.unchecked_sentence_count) == (3, 0)
    assert set(answer.cited_paper_ids) == {"a", "b", "c"}
    assert part_of(found, ReviewPart.NOT_FOUND) is None


async def test_what_is_uncited_or_not_carried_is_no_part_of_an_answer(
    server: OpenAIServer, tmp_path: Path
) -> None:
    bare = "Everybody knows that bats are clever animals."
    found = await answered(server, tmp_path, Writer(answer=f"{LIE} [P1]. {bare} Bats call [P1]."))
    answer = part_of(found, ReviewPart.ANSWER)
    assert answer.text == "Bats call [(Aarden, 2010)](https://example.org/a)."
    assert {each.why for each in found.removed} == {WhyRemoved.UNCITED, WhyRemoved.UNSUPPORTED}


@pytest.mark.parametrize("answer", ["", f"{LIE} [P1].", "Bats are clever, as everybody knows."])
async def test_an_answer_of_which_nothing_is_left_is_none(
    server: OpenAIServer, tmp_path: Path, answer: str
) -> None:
    found = await answered(server, tmp_path, Writer(answer=answer))
    section = part_of(found, ReviewPart.ANSWER)
    assert (section.text, section.unscored_reason) == ("", Reason.NO_EVIDENCE)


async def test_what_is_not_found_is_asked_and_states_nothing(
    server: OpenAIServer, tmp_path: Path
) -> None:
    claims = "Nobody has ever filmed whales at sea. Do whales hunt moths?"
    writer = Writer(not_found=("Do bats hunt by day?", claims, "Whales hunt moths at night."))
    found = await answered(server, tmp_path, writer)
    section = part_of(found, ReviewPart.NOT_FOUND)
    assert section.text == "- Do bats hunt by day?"
    assert len(found.removed) == 2


async def test_an_engine_that_fails_leaves_the_passages_and_the_reason(
    server: OpenAIServer, tmp_path: Path
) -> None:
    writer = Writer(not_found=({"no": "text"},), answer=["no text"])  # type: ignore[arg-type]
    found = await answered(server, tmp_path, writer)
    section = part_of(found, ReviewPart.ANSWER)
    assert (section.text, section.unscored_reason) == ("", Reason.REPLY_UNPARSABLE)
    assert any(failure.reason is Reason.REPLY_UNPARSABLE for failure in found.failures)
    assert found.quotes
