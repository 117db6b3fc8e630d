"""Step `extract_aspects`: arguments of a justification, as known or novel.

Baseline: clauses, classified by cue words.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.judging.reply_fields import Text
from tasks.judging.step import BaselineTools, Step
from tasks.text.words import sentences, words


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
