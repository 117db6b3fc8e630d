"""Nouns of the manuscript checker: problems, judges' votes and reviews (quality checker §2)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.formats import CallUsd, PublicationDay, WebAddress, Year
from schemas.identifiers import PaperId
from schemas.literature.paper_state import PaperState
from schemas.literature.publication import DatePrecision, in_words
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason
from schemas.reasons import Reason

JUDGES = "judges"
"""Stage of failures of one of several judges, whose name is the subject."""
FEWEST_WORDS = 300
"""Minimum words of a manuscript: an extended abstract has more, an incomplete main file fewer."""


class ManuscriptForm(StrEnum):
    """Form of the manuscript for the engine (quality checker §2.2)."""

    PDF = "pdf"
    TEXT = "text"
    LATEX = "latex"


class Decision(StrEnum):
    """Decision of a person on a problem."""

    ACCEPT = "accept"
    REJECT = "reject"
    LOOK_AGAIN = "look again"


class Problem(Noun):
    """One critical problem reported in one attempt."""

    problem_id: str = Field(description="a1p1, a1p2, …: attempt, and order within it.")
    attempt: int = Field(ge=1, description="The attempt that reported it.")
    rank: int = Field(ge=1, description="Order within the attempt, 1 is the most critical.")
    problem: Prose = Field(min_length=1, description="The problem.")
    location: Prose = Field(description="Location in the manuscript.")
    explanation: Prose = Field(description="Why it is a problem.")
    location_found: bool | None = Field(
        default=None,
        description="Whether the location exists in the manuscript; None: unknown.",
    )
    quote: Prose = Field(default="", description="Quoted sentence; empty: none.")
    quote_found: bool | None = Field(
        default=None,
        description="Whether the quote is verbatim in the manuscript; None: unknown.",
    )
    passage: Prose = Field(
        default="",
        description="The quote with the sentences around it; empty: the quote was not found.",
    )
    confidence_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="Confidence after all checks; None: not requested."
    )
    refuted: bool | None = Field(
        default=None,
        description="Whether a second reading refuted it; None: no second reading.",
    )
    open_question: bool | None = Field(
        default=None,
        description="Whether a second reading could not decide, which makes it a question to the"
        " authors; None: no second reading.",
    )
    second_look: Prose = Field(
        default="", description="Result of the second reading; empty: no second reading."
    )
    dispute: Prose = Field(default="", description="Disagreement of reviewers; empty: none.")
    optimistic: Prose = Field(
        default="", description="Argument of a dispute for the authors; empty: not requested."
    )
    sceptical: Prose = Field(
        default="", description="Argument of a dispute against the authors; empty: not requested."
    )
    would_decide: Prose = Field(
        default="", description="Evidence that would settle the dispute; empty: not requested."
    )
    found_by: tuple[str, ...] = Field(
        default=(),
        description=(
            "Models that raised it, of several judges; empty: one model was asked. Its words and its"
            " provenance are those of the first."
        ),
    )
    decision: Decision | None = Field(default=None, description="Decision of a person; None: none.")
    remark: Prose = Field(default="", description="Remark of the person; empty: none.")
    provenance: Provenance | None = Field(default=None, description="None for an imported problem.")

    @property
    def passage_parts(self) -> tuple[str, str, str]:
        """Passage before, in and after the quote; the last two empty without a verbatim quote."""
        before, quote, behind = self.passage.partition(" ".join(self.quote.split()) or "\0")
        return before.strip(), quote, behind.strip()

    @property
    def stands(self) -> bool:
        """Return whether a person accepted it, or else a second reading did not reject it."""
        if self.is_decided:
            return self.decision is Decision.ACCEPT
        return self.refuted is not True and self.open_question is not True

    @property
    def is_open(self) -> bool:
        """Return whether it is undecided after a second reading."""
        return self.open_question is True and not self.is_decided

    @property
    def is_decided(self) -> bool:
        """Return whether a person accepted or rejected it."""
        return self.decision in (Decision.ACCEPT, Decision.REJECT)


class Attempt(Judged):
    """One attempt of the checker at one manuscript; finding no problem is no failure."""

    JUDGEMENT = ("problem_count",)

    attempt: int = Field(ge=1, description="1 is the first.")
    problem_count: int | None = Field(
        ge=0,
        description="Problems that stand; 0: it found none; None when unscored.",
    )
    answered_by: tuple[str, ...] = Field(
        default=(),
        description="Of several judges those whose problems are joined; empty: one model was asked.",
    )
    input_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Tokens sent; None: unknown, or no model.",
    )
    thinking_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Tokens of thinking; None: unknown.",
    )
    output_tokens: int | None = Field(
        default=None,
        description="Tokens without thinking, may be negative in a release; None: unknown.",
    )
    cost_usd: CallUsd = Field(default=None, description="None when no price is known.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(
        default=None, description="None without a call, or for an imported attempt."
    )


class Vote(Judged):
    """One judge's answer whether a problem is the authors' reason for withdrawal."""

    JUDGEMENT = ("hit",)

    problem_id: Annotated[str, ColumnInfo(references="problems.problem_id")] = Field(
        description="The problem judged.",
    )
    judge: str = Field(description="Engine of the judge; of a release, the model it names.")
    repetition: int = Field(ge=1, description="1 is the first answer.")
    hit: bool | None = Field(description="Whether it is the same problem; None when unscored.")
    explanation: Prose = Field(default="", description="Reason; empty without one.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(description="None for an imported vote.")


class ManuscriptReview(Judged):
    """Review of a manuscript by one attempt; its weaknesses are the problems that stand."""

    JUDGEMENT = ("summary",)

    attempt: int = Field(ge=1, description="The attempt that wrote it.")
    summary: Prose | None = Field(description="Question, method and results; None: unscored.")
    strengths: tuple[str, ...] = Field(default=(), description="Each in a sentence.")
    questions: tuple[str, ...] = Field(default=(), description="To the authors.")
    soundness_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="Soundness of the results; None: not rated."
    )
    clarity_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="Clarity of the text; None: not rated."
    )
    confidence_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="Confidence of the ratings; None: no ratings."
    )
    novelty: Prose = Field(
        default="", description="Novelty relative to the works looked up; empty: not judged."
    )
    novelty_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="Rating of the novelty; None: not rated."
    )
    notes: Prose = Field(default="", description="Notes on the whole text, for revisions.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(description="None: no call.")


class PooledWork(Noun):
    """Work in the evidence pool of a manuscript, looked up before the review."""

    paper_id: PaperId = Field(min_length=1, description="The source's identifier.")
    title: str = Field(description="Title.")
    authors: tuple[str, ...] = Field(default=(), description="Names in printed order.")
    venue: str = Field(default="", description="Journal or conference; empty when unknown.")
    year: Year = Field(description="Year of publication.")
    publication_date: PublicationDay = Field(
        description="Day of publication, or the last day of the month."
    )
    date_precision: DatePrecision | None = Field(
        default=None,
        description="Precision of the date; None: unknown.",
    )
    url: WebAddress = Field(default="", description="Page of the work; empty when unknown.")
    doi: str | None = Field(default=None, description="DOI.")
    relevance_0_to_5: int | None = Field(
        ge=0, le=5, description="Relevance to the whole manuscript; None: found otherwise."
    )
    about_claim: Prose = Field(
        default="", description="The strong claim it was found for; empty: found otherwise."
    )
    cited_as: Prose = Field(
        default="",
        description="Its entry in the list of references; empty: not listed.",
    )
    retracted: bool = Field(
        description=(
            "Whether it was retracted or withdrawn, by its title, the literature, OpenAlex or"
            " Crossref."
        )
    )
    state: PaperState | None = Field(
        default=None,
        description=(
            "State: retracted, withdrawn, under an expression of concern, or a notice; None: no"
            " known state."
        ),
    )
    uses: tuple[str, ...] = Field(
        default=(),
        description="Data sets, baselines and metrics that it names as used, each with its kind.",
    )
    abstract: Prose | None = Field(
        default=None,
        description="Abstract for revisions; None: missing.",
    )

    @property
    def mark(self) -> str:
        """Label of the state; empty without one."""
        if self.state is not None:
            return self.state.mark
        return PaperState.RETRACTED.mark if self.retracted else ""

    def date_in_words(self, unknown_text: str) -> str:
        """Return its date with the known precision."""
        return in_words(self.publication_date, self.date_precision, self.year, unknown_text)


class ManuscriptCheck(Noun):
    """Check of one manuscript."""

    manuscript_id: str = Field(min_length=1, description="Given by the user, or a content hash.")
    title: Prose = Field(description="Title; empty: unknown.")
    form: ManuscriptForm = Field(description="Form for the engine.")
    content_sha256: str | None = Field(
        description="Hash of its content; None: unknown, of a release.",
    )
    word_count: Annotated[int, ColumnInfo(unit="words")] | None = Field(
        ge=0, description="Words of its text; None: unknown, of a release."
    )
    attempts: tuple[Attempt, ...]
    problems: tuple[Problem, ...]
    votes: tuple[Vote, ...] = ()
    reviews: tuple[ManuscriptReview, ...] = ()
    works: tuple[PooledWork, ...] = ()
    failures: tuple[Failure, ...]
    reference_count: int | None = Field(
        default=None,
        ge=0,
        description="Entries of its list of references; None: no look-ups.",
    )
    searched_reference_count: int | None = Field(
        default=None,
        ge=0,
        description="Entries that were looked up; None: no look-ups.",
    )
    unanswered_count: int | None = Field(
        default=None,
        ge=0,
        description="Failed calls and look-ups; None: no look-ups.",
    )
    missing_files: tuple[str, ...] = Field(
        default=(),
        description="Names of included files that are missing or unreadable.",
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(),
        description="Names of missing macro files of the preamble.",
    )
    page_count: Annotated[int, ColumnInfo(unit="pages")] | None = Field(
        default=None,
        ge=0,
        description="Number of pages; None: none, or unknown.",
    )
    known_reason: Prose | None = Field(
        default=None,
        description="The authors' reason for withdrawal; None: unknown.",
    )
    unread_reason: Reason | None = Field(
        default=None,
        description="Why it could not be read; None when it could.",
    )
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()

    @property
    def standing(self) -> tuple[Problem, ...]:
        """Problems that stand, in order."""
        return tuple(problem for problem in self.problems if problem.stands)

    @property
    def has_few_words(self) -> bool:
        """Return whether the text is too short for a meaningful result."""
        return 0 < (self.word_count or 0) < FEWEST_WORDS

    @property
    def is_partly_read(self) -> bool:
        """Return whether files of its text are missing."""
        return bool(self.missing_files)
