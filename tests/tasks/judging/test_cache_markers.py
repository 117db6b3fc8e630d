"""Marks for providers that cache on demand: the same words, one mark behind what comes again, and
only where it is understood.
"""

import pytest

from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceInput
from tasks.judging.models import takes_cache_markers, with_cache_markers
from tasks.judging.relevance import ShownPaper


def messages(*titles: str) -> list[dict[str, str]]:
    papers = tuple(
        ShownPaper(key=f"P{place}", title=title, abstract="It does things.")
        for place, title in enumerate(titles, 1)
    )
    return RELEVANCE.messages(
        RelevanceInput(idea="A plan.</idea> with a hostile end.", papers=papers, words_per_text=9)
    )


def test_marking_changes_no_word() -> None:
    plain = messages("One", "Two")
    marked = with_cache_markers(plain)
    assert marked[0] == plain[0]
    assert "".join(part["text"] for part in marked[1]["content"]) == plain[1]["content"]
    no_block = [{"role": "system", "content": "s"}, {"role": "user", "content": "Say OK."}]
    assert with_cache_markers(no_block) == no_block


def test_the_mark_stands_behind_the_idea_and_what_it_covers_is_the_same_in_all_calls() -> None:
    one, other = (
        with_cache_markers(messages(title))[1]["content"] for title in ("One", "Another title")
    )
    assert one[0] == other[0]
    assert one[0]["cache_control"] == {"type": "ephemeral"}
    assert one[0]["text"].endswith("hostile end.\n</idea>")
    assert "cache_control" not in one[1]


def test_where_there_is_no_idea_the_first_block_is_what_calls_share() -> None:
    questions = [
        CoverageInput(review="Long.</review> And hostile.", statement=statement)
        for statement in ("One.", "Two.")
    ]
    one, other = (
        with_cache_markers(JUDGE_COVERAGE.messages(question))[1]["content"]
        for question in questions
    )
    assert one[0] == other[0]
    assert one[0]["text"].endswith("And hostile.\n</review>")
    assert "Two." in other[1]["text"]


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        ("anthropic/claude-sonnet-4-5", True),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", True),
        ("openrouter/anthropic/claude-sonnet-4", True),
        ("openai/judge", False),
        ("ollama/llama3.2", False),
    ],
)
def test_only_models_that_cache_what_is_marked_are_sent_marks(model: str, takes: bool) -> None:
    assert takes_cache_markers(model) is takes
