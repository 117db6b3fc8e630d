"""`curate_statements`: reviewers' sentences as distinct, classified statements.

Baseline: each sentence as it is, classified by its words; people word it.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.text.patterns import IGNORECASE, bounded
from schemas.works.curation import StatementAxis, StatementSeverity, StatementType
from tasks.judging.reply_fields import Key, Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, Step
from tasks.text.words import outcome_cue

_CONTRIBUTION = bounded(
    r"\b(?:novel\w{0,4}|new|original\w{0,4}|increment\w{0,5}|impact\w{0,3}|importan\w{1,3}"
    r"|interesting"
    r"|contribut\w{0,6}|significan\w{1,4}|prior work|related work|existing (?:work|methods)"
    r"|previous(?:ly)?|already|similar to|timely|motivat\w{0,5})\b",
    IGNORECASE,
)
_MAJOR = bounded(
    r"\b(?:major|main|serious|fundamental\w{0,2}|critical|crucial|severe|key (?:concern|issue"
    r"|weakness)"
    r"|important (?:concern|issue)|not convinc\w{1,4}|unconvinc\w{1,4}|very|highly|really|strongly"
    r"|significant (?:concern|limitation|weakness|contribution)|cannot be)\b",
    IGNORECASE,
)
_WEAKNESS = bounded(
    r"\b(?:lack\w{0,4}|miss\w{0,4}|unclear|not|n't|limit\w{0,7}|weak\w{0,6}|concern\w{0,3}"
    r"|fail\w{0,3}"
    r"|however|but|insufficient|should|why|could|would|problem(?:s|atic)|issue|flaw\w{0,2}"
    r"|question(?:able|ed)"
    r"|only|increment\w{0,5}|cannot|bias\w{0,3}|confound\w{0,4})\b|\?",
    IGNORECASE,
)
_STRENGTHS = ("strength", "pros", "positive")
_WEAKNESSES = ("weakness", "cons", "negative", "question", "limitation", "concern")


class ShownSentence(Noun):
    """A sentence of a review under its key."""

    key: str
    heading: str = Field(description="Of the review, above it; empty: none.")
    text: str = Field(min_length=1)


class StatementsInput(Noun):
    """Input of `curate_statements`."""

    idea: str = Field(min_length=1)
    sentences: tuple[ShownSentence, ...] = Field(min_length=1)


class GivenStatement(Reply):
    """One statement; None: a word outside its list."""

    statement: Prose = Field(default="", description="Understandable on its own.")
    type: Annotated[StatementType | None, word_of(StatementType)]
    axis: Annotated[StatementAxis | None, word_of(StatementAxis)]
    severity: Annotated[StatementSeverity | None, word_of(StatementSeverity)]
    sentences: tuple[Key, ...] = Field(default=(), description="Keys of the sentences it says.")


class StatementsReply(Reply):
    """Reply to `curate_statements`."""

    statements: Annotated[tuple[GivenStatement, ...], Field(min_length=1), SoundEntries]


async def baseline_statements(inputs: StatementsInput, tools: BaselineTools) -> StatementsReply:
    """Make one statement of each sentence, in its words."""
    del tools
    return StatementsReply(statements=tuple(_statement(each) for each in inputs.sentences))


def _statement(sentence: ShownSentence) -> GivenStatement:
    text = sentence.text
    of_contribution = _CONTRIBUTION.search(text) is not None
    return GivenStatement(
        statement=text,
        type=_type(sentence),
        axis=StatementAxis.CONTRIBUTION if of_contribution else StatementAxis.SOUNDNESS,
        severity=_severity(sentence),
        sentences=(sentence.key,),
    )


def _severity(sentence: ShownSentence) -> StatementSeverity:
    """Classify by the heading above the sentence, else by its words."""
    heading = sentence.heading.casefold()
    if heading.startswith(("major", "main")):
        return StatementSeverity.MAJOR
    if heading.startswith("minor") or not _MAJOR.search(sentence.text):
        return StatementSeverity.MINOR
    return StatementSeverity.MAJOR


def _type(sentence: ShownSentence) -> StatementType:
    """Classify by the heading above the sentence, else by its words."""
    heading = sentence.heading.casefold()
    strong = any(word in heading for word in _STRENGTHS)
    if strong != any(word in heading for word in _WEAKNESSES):
        return StatementType.STRENGTH if strong else StatementType.WEAKNESS
    criticises = _WEAKNESS.search(sentence.text) or outcome_cue(sentence.text) == "negative"
    return StatementType.WEAKNESS if criticises else StatementType.STRENGTH


CURATE_STATEMENTS = Step(
    name="curate_statements",
    version=3,
    package="tasks.curation",
    input_model=StatementsInput,
    output_model=StatementsReply,
    baseline=baseline_statements,
    answer_tokens=LONG_ANSWER_TOKENS,
)
