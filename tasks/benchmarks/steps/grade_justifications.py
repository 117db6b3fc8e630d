"""Steps that grade the justification of a novelty score against an expert's.

`extract_aspects` lists a justification's arguments as known or novel (baseline: clauses, classified
by cue words); `judge_alignment` grades its agreement with the expert's (baseline: closeness of the
texts, shared words, and agreement on the share of novel arguments); `check_aspect` decides which
arguments texts support (baseline: a threshold of closeness).
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, Step
from tasks.novelty.closeness import closeness_of, measure
from tasks.text.words import overlap_0_to_1, sentences, words


class AspectsInput(Noun):
    """Input of `extract_aspects`."""

    justification: str = Field(min_length=1)


class AspectsReply(Reply):
    """Both lists may be empty: a justification need not argue."""

    known: list[Text] = Field(description="Arguments that something in the idea exists already.")
    novel: list[Text] = Field(description="Arguments that something in the idea is new.")


MINIMUM_WORDS = 5
_CLAUSE_BREAK = bounded(
    r"(?:[;:]|,)\s{1,9}(?=(?:but|while|whereas|although|though|yet|however|which|nor|instead)\b)"
    r"|;\s{1,9}"
    r"|\s{1,9}(?=(?:but|whereas|although)\b)|,\s{1,9}(?=(?:the|this|it|its|none|no)\b)",
    IGNORECASE,
)
_DENIED_NOUNS = "prior existing previous related work paper"
_DENIED_PARTICIPLES = "been present addressed explored studied considered found appear"


def _any(expressions: str, *more: str) -> Pattern:
    return bounded(rf"\b(?:{'|'.join([*expressions.split(), *more])})\b", IGNORECASE)


_NOVEL_CUES = _any(
    r"novel(?:ty)? new(?:ly)? first unexplored unprecedented original(?:ity)? innovati\w++"
    r" unique(?:ly)? distinct(?:ive)? differs? "
    r"departs? lacks? absent unlike neither nor introduc\w++ missing",
    r"(?:goes?|extends?) beyond",
    r"none of",
    r"(?:do|does|did|has|have) not",
    r"rather than",
    rf"no (?:{'|'.join(_DENIED_NOUNS.split())})",
    rf"not (?:{'|'.join(_DENIED_PARTICIPLES.split())})",
)
_KNOWN_CUES = _any(
    r"existing exists? prior previous(?:ly)? earlier already established known common(?:ly)?"
    r" similar(?:ly)? overlaps? standard incremental "
    r"variations? variants? extensions? resembles? straightforward widely combin(?:es|ing|ation)"
    r" adapts? borrow\w*+ well-known "
    r"well-studied",
    r"builds? (?:up)?on",
    r"based on",
    r"related works?",
    r"(?:has|have) been",
)


async def baseline_aspects(inputs: AspectsInput, tools: BaselineTools) -> AspectsReply:
    """Classify clauses by the number of cue words of each kind.

    Ties count as novel.
    """
    del tools
    existing: dict[str, None] = {}
    novel: dict[str, None] = {}
    for clause in _clauses(inputs.justification):
        for_novel, for_known = len(_NOVEL_CUES.findall(clause)), len(_KNOWN_CUES.findall(clause))
        if for_novel or for_known:
            (novel if for_novel >= for_known else existing).setdefault(clause)
    return AspectsReply(known=list(existing), novel=list(novel))


def _clauses(text: str) -> list[str]:
    """Split sentences into clauses.

    A clause that is too short joins the previous one.
    """
    clauses: list[str] = []
    for sentence in sentences(text):
        pieces: list[str] = []
        for piece in _CLAUSE_BREAK.split(sentence):
            if pieces and len(words(piece)) < MINIMUM_WORDS:
                pieces[-1] = f"{pieces[-1]}, {piece.strip()}"
            elif piece.strip():
                pieces.append(piece.strip())
        clauses += [piece for piece in pieces if len(words(piece)) >= MINIMUM_WORDS]
    return clauses


EXTRACT_ASPECTS = Step(
    name="extract_aspects",
    version=2,
    package="tasks.benchmarks",
    input_model=AspectsInput,
    output_model=AspectsReply,
    baseline=baseline_aspects,
)


class AlignmentInput(Noun):
    """Input of `judge_alignment`."""

    expected: str = Field(min_length=1, description="The expert's justification.")
    actual: str = Field(min_length=1, description="The justification to be graded.")


class AlignmentReply(Reply):
    reason: str = Field(default="", description="What agrees and what does not.")
    score: int = Field(
        ge=0,
        le=10,
        description="0 nothing in common, 10 the same arguments and the same conclusion.",
    )


CLOSENESS_WEIGHT = 0.5
OVERLAP_WEIGHT = 0.2
LEANING_WEIGHT = 0.3
"""The three weights were set by hand, not calibrated on a judge's scores."""


async def baseline_alignment(inputs: AlignmentInput, tools: BaselineTools) -> AlignmentReply:
    """Score by closeness, shared words and agreement of leaning.

    The score is ten times their weighted sum. Leaning is the share of novel arguments of a text;
    agreement is 1 minus the difference.
    """
    closeness = await measure(inputs.expected, [("", inputs.actual)], tools.embedder)
    overlap = overlap_0_to_1(inputs.expected, inputs.actual)
    mean_closeness = closeness.mean if closeness is not None else overlap
    theirs, ours = [
        _leaning(await baseline_aspects(AspectsInput(justification=text), tools))
        for text in (inputs.expected, inputs.actual)
    ]
    agreement = 1 - abs(theirs - ours)
    value = (
        CLOSENESS_WEIGHT * mean_closeness + OVERLAP_WEIGHT * overlap + LEANING_WEIGHT * agreement
    )
    reason = (
        f"closeness {mean_closeness:.2f}, shared words {overlap:.2f}, novel share of the arguments"
        f" {theirs:.2f} and {ours:.2f}"
    )
    return AlignmentReply(reason=reason, score=round(10 * min(value, 1.0)))


def _leaning(aspects: AspectsReply) -> float:
    total = len(aspects.known) + len(aspects.novel)
    return len(aspects.novel) / total if total else 0.5


JUDGE_ALIGNMENT = Step(
    name="judge_alignment",
    version=2,
    package="tasks.benchmarks",
    input_model=AlignmentInput,
    output_model=AlignmentReply,
    baseline=baseline_alignment,
    kind=StepKind.JUDGEMENT,
)


class SourceShown(Noun):
    """Text that may support an argument: justification, idea, or related work."""

    name: str
    text: str = Field(min_length=1)


class CheckInput(Noun):
    """Input of `check_aspect`: arguments are numbered from 1 in the order given."""

    sources: tuple[SourceShown, ...] = Field(min_length=1)
    arguments: tuple[str, ...] = Field(min_length=1)


class CheckedArgument(Reply):
    number: int = Field(ge=1, description="The number of the argument, as shown.")
    supported: bool


class CheckReply(Reply):
    arguments: Annotated[list[CheckedArgument], Field(min_length=1), SoundEntries]


SUPPORTED = 0.45
"""Closeness from which an argument is supported.

Lower than for covered statements, because arguments are shorter than the texts. Set by hand, not
calibrated on a judge's answers.
"""


async def baseline_check(inputs: CheckInput, tools: BaselineTools) -> CheckReply:
    """Compare each argument's closeness to its closest text with `SUPPORTED`."""
    texts = [("", source.text) for source in inputs.sources]
    closeness = await closeness_of(inputs.arguments, texts, tools.embedder)
    return CheckReply(
        arguments=[
            CheckedArgument(number=number, supported=value >= SUPPORTED)
            for number, value in enumerate(closeness.values, start=1)
        ]
    )


CHECK_ASPECT = Step(
    name="check_aspect",
    version=2,
    package="tasks.benchmarks",
    input_model=CheckInput,
    output_model=CheckReply,
    baseline=baseline_check,
    kind=StepKind.JUDGEMENT,
)
