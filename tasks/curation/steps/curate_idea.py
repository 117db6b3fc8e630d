"""`curate_idea`: the idea behind a paper: problem, method, experiment design, no results.

Baseline: the paper's own sentences, by section; people word them.
"""

from collections.abc import Callable, Iterable

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.reasons import Reason
from tasks.curation.leaks import claims_outcome
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.signs import CLAIM, GAP, read_sentence
from tasks.text.words import sentences

SENTENCES_PER_PART = 8
_LONGEST_SENTENCE = 600


class ShownSection(Noun):
    """A section of the paper, reduced to its plan."""

    part: str = Field(description="background, method or experiment.")
    heading: str
    text: str = Field(min_length=1)


class IdeaInput(Noun):
    """Input of `curate_idea`."""

    title: str
    sections: tuple[ShownSection, ...] = Field(min_length=1)


class IdeaReply(Reply):
    """Reply to `curate_idea`. An empty part: the paper does not say."""

    problem: Prose = Field(
        default="", description="Background, motivation, hypotheses, in two to six paragraphs."
    )
    method: Prose = Field(
        default="", description="What will be done, and why so, in two to six paragraphs."
    )
    experiment: Prose = Field(
        default="", description="How it will be tested, in two to six paragraphs."
    )


async def baseline_idea(inputs: IdeaInput, tools: BaselineTools) -> IdeaReply | NoAnswer:
    """Copy sentences by section; NoAnswer(nothing_to_judge) if none fits."""
    del tools
    texts: dict[str, list[str]] = {"background": [], "method": [], "experiment": []}
    for section in inputs.sections:
        texts.setdefault(section.part, []).extend(sentences(section.text))
    problem = _select(texts["background"], lambda each: bool(GAP.search(each)))
    method = _select(texts["method"], lambda each: read_sentence(each).procedure)
    experiment = _select(texts["experiment"], lambda each: read_sentence(each).condition)
    if not method:
        method = _select(texts["experiment"], lambda each: read_sentence(each).procedure)
    if not problem:
        problem = _select(texts["method"], lambda each: bool(CLAIM.search(each)))
    if not (problem or method or experiment):
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "no sentence of the paper could stand in an idea")
    return IdeaReply(problem=problem, method=method, experiment=experiment)


def _select(candidates: Iterable[str], fits: Callable[[str], bool]) -> str:
    """Return the first fitting sentences in order, filled up with the first others."""
    usable = [
        each for each in candidates if len(each) <= _LONGEST_SENTENCE and not claims_outcome(each)
    ]
    chosen_places = [place for place, each in enumerate(usable) if fits(each)][:SENTENCES_PER_PART]
    others = (place for place in range(len(usable)) if place not in set(chosen_places))
    for place in others:
        if len(chosen_places) >= SENTENCES_PER_PART // 2:
            break
        chosen_places.append(place)
    return " ".join(usable[place] for place in sorted(chosen_places))


CURATE_IDEA = Step(
    name="curate_idea",
    version=2,
    package="tasks.curation",
    input_model=IdeaInput,
    output_model=IdeaReply,
    baseline=baseline_idea,
    answer_tokens=LONG_ANSWER_TOKENS,
)
