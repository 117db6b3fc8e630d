"""`summarise_pages`: what web pages say that bears on the idea.

Baseline: the sentences of a page nearest to the idea, in the page's order.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.reasons import Reason
from tasks.judging.reply_fields import KeyedEntry, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import rank_sentences, sentences


class PageShown(Noun):
    """A web page's main text."""

    key: str
    title: str
    text: str = Field(min_length=1)


class SummariesInput(Noun):
    """What do these pages say that bears on the idea?"""

    idea: str = Field(min_length=1)
    pages: tuple[PageShown, ...] = Field(min_length=1)


class PageSummary(KeyedEntry):
    summary: Text
    passages: list[str] = Field(description="Copied from the page word for word.")


class SummariesReply(Reply):
    pages: Annotated[list[PageSummary], Field(min_length=1), SoundEntries]


SUMMARY_SENTENCES = 6
PASSAGES = 3
SENTENCES_READ = 200
SHORTEST_WORDS = 6


async def baseline_summaries(
    inputs: SummariesInput, tools: BaselineTools
) -> SummariesReply | NoAnswer:
    """Each page by itself; one without whole sentences gets no entry."""
    del tools
    pages = [summary for page in inputs.pages if (summary := _summary(page, inputs.idea))]
    return (
        SummariesReply(pages=pages)
        if pages
        else NoAnswer(Reason.NO_EVIDENCE, "the pages hold no whole sentences")
    )


def _summary(page: PageShown, idea: str) -> PageSummary | None:
    found = [
        sentence
        for sentence in dict.fromkeys(sentences(page.text))
        if len(sentence.split()) >= SHORTEST_WORDS
    ][:SENTENCES_READ]
    if not found:
        return None
    best = [sentence for _, sentence in rank_sentences(idea, found, SUMMARY_SENTENCES)]
    return PageSummary(
        key=page.key,
        summary=" ".join(sentence for sentence in found if sentence in best),
        passages=best[:PASSAGES],
    )


SUMMARISE_PAGES = Step(
    name="summarise_pages",
    version=1,
    package="tasks.committee",
    input_model=SummariesInput,
    output_model=SummariesReply,
    baseline=baseline_summaries,
    answer_tokens=LONG_ANSWER_TOKENS,
)
