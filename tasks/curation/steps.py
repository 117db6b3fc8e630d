"""Steps that make a paper with its reviews into a rated idea (ScholarEval, appendix D.2).

Baselines copy sentences of papers and reviews, classified by their words; people word them.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from schemas.works.curation import StatementAxis, StatementSeverity, StatementType
from tasks.curation.leaks import claims_outcome
from tasks.judging.reply_fields import Key, Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step, steps_in
from tasks.text.signs import CLAIM, GAP, read_sentence
from tasks.text.words import content_words, outcome_cue, sections_of_markdown, sentences

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
    other_places = (place for place in range(len(usable)) if place not in set(chosen_places))
    for place in other_places:
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


STEPS = steps_in(__name__)
