"""`curate_criticism`: copy the sentences of a review that judge the idea, and classify them.

Baseline: every judging sentence of the review, by its words and the heading above it.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.reply_fields import Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import content_words, outcome_cue, sections_of_markdown, sentences

MOST_SENTENCES = 60
_FEWEST_WORDS = 6
_WRITING = bounded(
    r"\b(?:typos?|grammar|grammatical|english|spelling|writing|(?:well|clearly|poorly)[- ]written"
    r"|readability|easy to (?:read|follow)|hard to (?:read|follow)|presentation|proofread\w{0,4}"
    r"|captions?|fonts?|formatting|notations?|figures?|fig\.|tables?|lines? \d|page \d|section \d"
    r"|appendix|references? (?:is|are)|citation style|organi[sz]ed|abstract)\b",
    IGNORECASE,
)
_RESULTS = bounded(
    r"\b(?:results?|performance (?:is|gain|improve)\w{0,8}|improvements? (?:is|are|over|seem)"
    r"|reported|gains?|outperform\w{0,4}|numbers?|accuracy (?:is|of)|error bars?"
    r"|ablations? show\w{0,2}"
    r"|released?|code (?:is|was|not)|software)\b",
    IGNORECASE,
)
_JUDGES = bounded(
    r"\b(?:novel\w{0,4}|new|original\w{0,4}|increment\w{0,5}|interesting|important|timely"
    r"|significant"
    r"|impact\w{0,3}|contribut\w{0,6}|motivat\w{0,5}|convinc\w{0,4}|sound\w{0,4}|rigorous"
    r"|principled"
    r"|well[- ]designed|appropriate|strong\w{0,3}|weak\w{0,6}|limit\w{0,7}|lack\w{0,4}|missing"
    r"|fail\w{0,3}"
    r"|unclear|not clear|unjustified|justif\w{0,8}|assum\w{0,7}|bias\w{0,3}|confound\w{0,4}"
    r"|concern\w{0,3}"
    r"|problem\w{0,6}|issue|flaw\w{0,2}|question\w{0,6}|should|would be|could|cannot|why|how does"
    r"|however|instead|baselines?|compar\w{0,6}|control\w{0,3}|generali[sz]\w{0,7}|scal\w{0,6}"
    r"|simple"
    r"|elegant|creative|useful|insufficient|only|existing work|prior work|already)\b",
    IGNORECASE,
)
_DESCRIBES = bounded(
    r"^(?:(?:in )?(?:the|this) (?:paper|article|work|manuscript|submission|study)|the authors?"
    r"|they)"
    r" (?:\w{1,20} )?(?:describ|propos|present|introduc|stud(?:y|ies)|address|investigat|develop"
    r"|aim|consider|deal|evaluat|appl)\w{0,6}\b",
    IGNORECASE,
)
"""A summary of the paper, even if it includes words of praise."""
_SUMMARY = bounded(r"^(?:paper )?summary\b", IGNORECASE)


class About(StrEnum):
    """What a sentence of a review is about."""

    IDEA = "idea"
    RESULTS = "results"
    WRITING = "writing"
    OTHER = "other"


class CriticismInput(Noun):
    """Input of `curate_criticism`."""

    idea: str = Field(min_length=1)
    review: str = Field(min_length=1)


class CopiedSentence(Reply):
    """One sentence; None: a word outside the list."""

    quote: Prose = Field(default="", description="The review's own words, copied.")
    about: Annotated[About | None, word_of(About)] = Field(description="What it is about.")


class CriticismReply(Reply):
    """Reply to `curate_criticism`; empty where the review judges nothing."""

    sentences: Annotated[tuple[CopiedSentence, ...], SoundEntries] = Field(
        description="In the review's order."
    )


async def baseline_criticism(
    inputs: CriticismInput, tools: BaselineTools
) -> CriticismReply | NoAnswer:
    """Copy the judging sentences; NoAnswer(nothing_to_judge) if the review has no sentence."""
    del tools
    copied_sentences = [
        CopiedSentence(quote=each, about=_about(each, inputs.idea))
        for heading, body in sections_of_markdown(inputs.review)
        if not _SUMMARY.match(heading)
        for each in sentences(body)
        if len(each.split()) >= _FEWEST_WORDS and _judges(each)
    ]
    if not copied_sentences and not sentences(inputs.review):
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "the review has no sentence")
    return CriticismReply(sentences=tuple(copied_sentences[:MOST_SENTENCES]))


def _judges(sentence: str) -> bool:
    if _DESCRIBES.search(sentence) and outcome_cue(sentence) != "negative":
        return False
    cues = (_JUDGES, _WRITING, _RESULTS)
    return any(each.search(sentence) for each in cues) or outcome_cue(sentence) != "neutral"


def _about(sentence: str, idea: str) -> About:
    if _RESULTS.search(sentence):
        return About.RESULTS
    if _WRITING.search(sentence):
        return About.WRITING
    shares = set(content_words(sentence)) & set(content_words(idea))
    return About.IDEA if shares else About.OTHER


CURATE_CRITICISM = Step(
    name="curate_criticism",
    version=3,
    package="tasks.curation",
    input_model=CriticismInput,
    output_model=CriticismReply,
    baseline=baseline_criticism,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
