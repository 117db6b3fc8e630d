"""The step by which a model names what papers used."""

import math
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.literature.recommendation import ResourceKind
from schemas.profile import ResourceParameters
from tasks.judging.expected import ExpectedCalls
from tasks.judging.reply_fields import Key, Prose, SoundEntries, Text, word_of
from tasks.judging.step import BaselineTools, Step, steps_in
from tasks.recommendation.uses import named_in

LEAST_QUOTED_CHARACTERS = 12
"""Least length of a quote: `We use BLEU.` suffices, because the name must occur in it."""


class PaperText(Noun):
    """One paper to read, under the key the reply must use."""

    key: str
    title: str
    text: str


class ResourcesInput(Noun):
    papers: tuple[PaperText, ...] = Field(min_length=1)
    maximum_per_paper: int = Field(ge=1)


class ProposedResource(Reply):
    """One thing a paper used. It holds where its kind is known and its quote names it."""

    key: Key
    kind: Annotated[ResourceKind | None, word_of(ResourceKind)]
    name: Text
    quote: Prose = Field(description="5 to 40 words of the paper, copied.")
    value: Prose = Field(default="", description="Of a hyper-parameter.")


class ResourcesReply(Reply):
    """Reply to `extract_resources`; empty where the papers name nothing they used."""

    resources: Annotated[tuple[ProposedResource, ...], SoundEntries]


async def baseline_resources(inputs: ResourcesInput, tools: BaselineTools) -> ResourcesReply:
    del tools
    return ResourcesReply(
        resources=tuple(
            ProposedResource(
                key=paper.key, kind=each.kind, name=each.name, quote=each.quote, value=each.value
            )
            for paper in inputs.papers
            for each in named_in(paper.text)[: inputs.maximum_per_paper]
            if len(each.quote) >= LEAST_QUOTED_CHARACTERS
        )
    )


EXTRACT_RESOURCES = Step(
    name="extract_resources",
    version=2,
    package="tasks.recommendation",
    input_model=ResourcesInput,
    output_model=ResourcesReply,
    baseline=baseline_resources,
    answer_tokens=LONG_ANSWER_TOKENS,
)


TOKENS_PER_WORD = 1.7
TITLE_TOKENS = 35.0
EXPECTED_ENTRIES = 6
"""Entries of the reply for each paper."""
ENTRY_TOKENS = 60.0
"""Tokens of a name, a quote of fifteen words, and the signs around them."""


def expected_resources(parameters: ResourceParameters) -> dict[str, ExpectedCalls]:
    papers = parameters.asked_papers
    if not papers:
        return {}
    entries = min(EXPECTED_ENTRIES, parameters.maximum_per_paper)
    return {
        EXTRACT_RESOURCES.name: ExpectedCalls(
            math.ceil(papers / parameters.papers_per_call),
            papers * (parameters.words * TOKENS_PER_WORD + TITLE_TOKENS),
            papers * entries * ENTRY_TOKENS,
        )
    }


STEPS = steps_in(__name__)
