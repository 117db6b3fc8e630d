"""`officer_review`: what a program officer asks of a plan, without a score.

Baseline: sentences of the plan that state an answer. It cannot tell what is missing.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.officer import OfficerQuestion, OfficerStatus
from schemas.judging import StepKind
from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.judging.reply_fields import Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, Step
from tasks.text.words import sentences

# With a plan of 700 tokens the prompt stays below 4,000 tokens.
PAPERS_SHOWN, PAPER_WORDS = 8, 60
ELEMENTS_SHOWN, ELEMENT_WORDS = 6, 25
_CASES = (
    r"(?:participants|patients|subjects|volunteers|respondents|students|families|mice|rats|animals|"
    r"specimens|samples|images|documents|sentences|papers|problems|tasks|items|cases|trials|runs|"
    r"seeds|repetitions)"
)
SIGNS: Mapping[OfficerQuestion, Pattern] = {
    question: bounded(signs, IGNORECASE)
    for question, signs in {
        OfficerQuestion.DATA_ACCESS: (
            r"\b(?:publicly available|open(?:ly)? (?:available|access|data)|licen[cs]ed?\b|CC[- ]BY|"
            r"data (?:use|sharing|access|transfer) (?:agreement|committee|request)|"
            r"available (?:on|upon) request)"
        ),
        OfficerQuestion.SAMPLE_SIZE: (
            r"\b(?:n ?= ?\d|sample size|power (?:analysis|calculation)|"
            rf"\d[\d,]{{0,9}} (?:[a-z-]{{1,20}} ){{0,2}}{_CASES}\b)"
        ),
        OfficerQuestion.BUDGET: (
            r"(?:[$€£] ?\d|\b\d[\d,.]{0,12} ?(?:USD|EUR|GBP|dollars|euros|pounds)\b|\bbudget of\b|"
            r"\b(?:GPU|CPU|compute|person|staff)[- ](?:hours|days|months|years)\b)"
        ),
        OfficerQuestion.TIME: (
            r"\b(?:(?:project|study|work) (?:takes|lasts|runs for) (?:about )?[\w-]{1,12} (?:weeks|"
            r"months|years)\b|\d{1,3}[- ](?:week|month|year) project\b|milestones?\b|timeline\b|"
            r"work plan\b|(?:by|in|until|after) (?:project )?(?:month|week|quarter) \d|go/no-go)"
        ),
        OfficerQuestion.RISKS: (
            r"\b(?:fall(?:s|ing)?[- ]?backs?\b|fall back (?:on|to)\b|contingency|mitigat|"
            r"if (?:this|that|it|they|these|the [a-z]{2,20}) fails?\b|should (?:this|it) fail\b)"
        ),
        OfficerQuestion.ETHICS: (
            r"\b(?:ethic(?:s|al)\b|institutional review board|IRB\b|informed consent|dual[- ]use|"
            r"misuse|anonymi[sz]|de-identif|pseudonymi[sz])"
        ),
        OfficerQuestion.REPRODUCIBILITY: (
            r"\b(?:pre-?regist|registered report|open[- ]sourc|zenodo|github|osf\.io|"
            r"(?:releas|publish|shar|deposit)(?:e|es|ed|ing)? (?:[a-z]{1,12} ){0,4}"
            r"(?:code|data|dataset|datasets|software|weights|scripts)\b|"
            r"(?:code|data|weights|scripts) (?:will be|is|are) (?:made )?(?:available|released|public))"
        ),
        OfficerQuestion.GAINS_AND_ERRORS: (
            r"\b(?:benefits? (?:to |for )?(?:the )?(?:patients|users|farmers|clinicians|teachers|"
            r"students|workers|communit|societ|public)|who (?:gains|benefits|bears)|bears? the "
            r"(?:cost|risk|error|harm)|(?:cost|harm)s? of (?:an |a )?(?:error|mistake|false )|"
            r"affected (?:groups|communities|people))"
        ),
    }.items()
}
"""Wording that states an answer."""


class OfficerPaper(Noun):
    """Sentences of a paper on the questions, under its key."""

    key: str
    title: str
    text: str


class OfficerInput(Noun):
    """Input of `officer_review`.

    Attributes:
        unstated: a line each, elements that the plan needs and does not state.
        efforts: number of reviewers' actions by effort, in our words.
        near_works: a line each, resources used by near works, with keys.
        sizes: a line each, sample size, effect and spread of a paper, with its key.
    """

    idea: str
    unstated: str = ""
    efforts: str = ""
    near_works: str = ""
    sizes: str = ""
    papers: tuple[OfficerPaper, ...] = ()


class ProposedAnswer(Reply):
    """Answer to one question. It holds where its quotes stand in the plan and in the paper."""

    question: Annotated[OfficerQuestion | None, word_of(OfficerQuestion)]
    status: Annotated[OfficerStatus | None, word_of(OfficerStatus)] = Field(
        description="null where it cannot be told."
    )
    quote: Prose = Field(default="", description="At most 25 words of the plan, copied.")
    paper: Prose = Field(
        default="", description="Key of the work that contradicts the plan; else empty."
    )
    paper_quote: Prose = Field(
        default="", description="At most 25 words of that work, copied; else empty."
    )

    @property
    def key(self) -> str:
        return self.question or ""


class OfficerReply(Reply):
    """Reply to `officer_review`: one answer for each question."""

    answers: Annotated[tuple[ProposedAnswer, ...], SoundEntries]


async def baseline_officer(inputs: OfficerInput, _tools: BaselineTools) -> OfficerReply:
    """Quote the first sentence that states an answer; otherwise it cannot be told."""
    plan = sentences(inputs.idea)
    quotes = {
        question: next((each for each in plan if signs.search(each)), "")
        for question, signs in SIGNS.items()
    }
    return OfficerReply(
        answers=tuple(
            ProposedAnswer(
                question=question, status=OfficerStatus.STATED if quote else None, quote=quote
            )
            for question, quote in quotes.items()
        )
    )


OFFICER_REVIEW = Step(
    name="officer_review",
    version=1,
    package="tasks.soundness",
    input_model=OfficerInput,
    output_model=OfficerReply,
    baseline=baseline_officer,
    kind=StepKind.JUDGEMENT,
)
