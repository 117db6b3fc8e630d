"""Nouns of the manuscript checker: problems found in papers, and judges' votes on them (quality
checker §2).
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.formats import CallUsd, PublicationDay, WebAddress, Year
from schemas.identifiers import PaperId
from schemas.literature.paper_state import PaperState
from schemas.literature.publication import DatePrecision, in_words
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason
from schemas.reasons import Reason

REVIEW_STAGES = frozenset(
    {
        *("read_section", "review_aspect", "refute_problem", "weigh_problem", "write_review"),
        "evidence_pool",
    }
)
"""Of failures: a question of a review that got no answer."""


FEWEST_WORDS = 300
"""Of a manuscript: an extended abstract has more, a main file without its parts has fewer."""


class ManuscriptForm(StrEnum):
    """Form in which the manuscript reached the engine (quality checker §2.2)."""

    PDF = "pdf"
    TEXT = "text"
    LATEX = "latex"


class Decision(StrEnum):
    """Decision of a person on a problem after reading the review."""

    ACCEPT = "accept"
    REJECT = "reject"
    LOOK_AGAIN = "look again"


class Problem(Noun):
    """One critical problem reported in one attempt."""

    problem_id: str = Field(description="a1p1, a1p2, …: attempt, and order within it.")
    attempt: int = Field(ge=1, description="The attempt that reported it.")
    rank: int = Field(ge=1, description="Order within the attempt, 1 is the most critical.")
    problem: Prose = Field(min_length=1, description="What is wrong.")
    location: Prose = Field(description="Where it stands.")
    explanation: Prose = Field(description="Why it is a problem.")
    location_found: bool | None = Field(
        default=None,
        description="Whether the manuscript has the place named; None: cannot be told.",
    )
    quote: Prose = Field(default="", description="The sentence that shows it; empty: none given.")
    quote_found: bool | None = Field(
        default=None,
        description="Whether the manuscript has the sentence word for word; None: cannot be told.",
    )
    passage: Prose = Field(
        default="",
        description="The quote with the sentences around it; empty: the text has no such quote.",
    )
    confidence_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="How sure it is after all looks; None: not asked."
    )
    refuted: bool | None = Field(
        default=None,
        description="Whether a second look refuted it; None: there was none.",
    )
    open_question: bool | None = Field(
        default=None,
        description="Whether a second look could not decide; it is a question to the authors then."
        " None: there was none.",
    )
    second_look: Prose = Field(default="", description="Why it stands or not; empty: no look.")
    dispute: Prose = Field(
        default="", description="In what reviewers disagree over it; empty: they do not."
    )
    optimistic: Prose = Field(
        default="", description="The disputed problem read for the authors; empty: not asked."
    )
    sceptical: Prose = Field(
        default="", description="The disputed problem read against them; empty: not asked."
    )
    would_decide: Prose = Field(
        default="", description="What would settle the dispute; empty: not asked."
    )
    decision: Decision | None = Field(
        default=None, description="What a person decided on it; None: nothing."
    )
    remark: Prose = Field(default="", description="What the person said of it; empty: nothing.")
    provenance: Provenance | None = Field(default=None, description="None for an imported problem.")

    @property
    def passage_parts(self) -> tuple[str, str, str]:
        """The passage before its quote, the quote, and behind it; the last two empty where the
        passage words it otherwise.
        """
        before, quote, behind = self.passage.partition(" ".join(self.quote.split()) or "\0")
        return before.strip(), quote, behind.strip()

    @property
    def stands(self) -> bool:
        """Return whether a person accepted it or, without a person's word, a second look, if there
        was one, neither refuted it nor left it open.
        """
        if self.is_decided:
            return self.decision is Decision.ACCEPT
        return self.refuted is not True and self.open_question is not True

    @property
    def is_open(self) -> bool:
        """Return whether neither a second look nor a person decided it."""
        return self.open_question is True and not self.is_decided

    @property
    def is_decided(self) -> bool:
        """Return whether a person said whether it stands."""
        return self.decision in (Decision.ACCEPT, Decision.REJECT)


class Attempt(Judged):
    """One reading of one manuscript by the checker.

    An attempt that found nothing is not one that failed.
    """

    JUDGEMENT = ("problem_count",)

    attempt: int = Field(ge=1, description="1 is the first.")
    problem_count: int | None = Field(
        ge=0,
        description="Problems that stand; 0: it found none; None when unscored.",
    )
    input_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Tokens sent; None: not known, or no model was asked.",
    )
    thinking_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Tokens of thinking; None: not told.",
    )
    output_tokens: int | None = Field(
        default=None,
        description="Tokens without thinking, in a release perhaps negative; None: not known.",
    )
    cost_usd: CallUsd = Field(default=None, description="None when no price is known.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(
        default=None, description="None where nothing was asked, or for an imported attempt."
    )


class Vote(Judged):
    """One judge's answer whether a problem is the one the authors gave as their reason."""

    JUDGEMENT = ("hit",)

    problem_id: Annotated[str, Stored(references="problems.problem_id")] = Field(
        description="The problem judged.",
    )
    judge: str = Field(description="Engine of the judge; of a release, the model it names.")
    repetition: int = Field(ge=1, description="1 is the first answer.")
    hit: bool | None = Field(description="Whether it is the same problem; None when unscored.")
    explanation: Prose = Field(default="", description="Why; empty where none was given.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(description="None for an imported vote.")


class ManuscriptReview(Judged):
    """Review of the whole by one attempt; its weaknesses are the problems that stand."""

    JUDGEMENT = ("summary",)

    attempt: int = Field(ge=1, description="The attempt that wrote it.")
    summary: Prose | None = Field(description="What was asked, done and found; None: unscored.")
    strengths: tuple[str, ...] = Field(default=(), description="Each in a sentence.")
    questions: tuple[str, ...] = Field(default=(), description="To the authors.")
    soundness_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="Whether the results follow; None: not rated."
    )
    clarity_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="Whether it can be followed; None: not rated."
    )
    confidence_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="How sure the ratings are; None: there are none."
    )
    novelty: Prose = Field(
        default="", description="What is new beside the works looked up; empty: not judged."
    )
    novelty_1_to_5: int | None = Field(
        default=None, ge=1, le=5, description="How new that is; None: not rated."
    )
    notes: Prose = Field(
        default="", description="What was noted of the text to its end; a revision writes from it."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(description="None: nothing was asked.")


class PooledWork(Noun):
    """A work of the evidence that was looked up before a manuscript was judged."""

    paper_id: PaperId = Field(min_length=1, description="The work, as the source names it.")
    title: str = Field(description="Title.")
    authors: tuple[str, ...] = Field(default=(), description="Names in printed order.")
    venue: str = Field(default="", description="Journal or conference; empty when unknown.")
    year: Year = Field(description="Year of publication.")
    publication_date: PublicationDay = Field(
        description="Day of publication, the last day of a month known alone."
    )
    date_precision: DatePrecision | None = Field(
        default=None,
        description="How much of the date is known; None: nothing, or the source does not say.",
    )
    url: WebAddress = Field(default="", description="Page of the work; empty when unknown.")
    doi: str | None = Field(default=None, description="DOI.")
    relevance_0_to_5: int | None = Field(
        ge=0, le=5, description="To the manuscript as a whole; None: found otherwise."
    )
    about_claim: Prose = Field(
        default="", description="The strong claim it was found for; empty: found otherwise."
    )
    cited_as: Prose = Field(
        default="",
        description="Its entry in the list of references; empty: it was not found there.",
    )
    retracted: bool = Field(
        description=(
            "Whether its title, the literature, OpenAlex or Crossref says it was retracted or"
            " withdrawn."
        )
    )
    state: PaperState | None = Field(
        default=None,
        description=(
            "What they say of it: retracted, withdrawn, under an expression of concern, or a"
            " notice; None: nothing of the kind is known."
        ),
    )
    uses: tuple[str, ...] = Field(
        default=(),
        description="Data sets, baselines and metrics that it names as used, each with its kind.",
    )
    abstract: Prose | None = Field(
        default=None,
        description="As the source has it: a revision shows it again; None: it had none.",
    )

    @property
    def mark(self) -> str:
        """The mark of a work that does not stand; empty for any other."""
        if self.state is not None:
            return self.state.mark
        return PaperState.RETRACTED.mark if self.retracted else ""

    def date_in_words(self, unknown: str) -> str:
        """Return its date as precisely as it is known."""
        return in_words(self.publication_date, self.date_precision, self.year, unknown)


class ManuscriptCheck(Noun):
    """Everything one check of one manuscript gave."""

    manuscript_id: str = Field(min_length=1, description="Given, or a content hash.")
    title: Prose = Field(description="Title as far as it is known; empty: it is not.")
    form: ManuscriptForm = Field(description="How it reached the engine.")
    content_sha256: str | None = Field(
        description="Hash of its content; None: not known to the release.",
    )
    word_count: Annotated[int, Stored(unit="words")] | None = Field(
        ge=0, description="Words of its text; None: not known to the release."
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
        description="Entries of its list of references; None: nothing was looked up.",
    )
    searched_reference_count: int | None = Field(
        default=None,
        ge=0,
        description="Entries that were looked for; None: nothing was looked up.",
    )
    unanswered_count: int | None = Field(
        default=None,
        ge=0,
        description="Questions and look-ups without an answer; None: nothing was looked up.",
    )
    missing_files: tuple[str, ...] = Field(
        default=(),
        description="Files its text includes that are missing or could not be followed, by name.",
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(),
        description="Files of macros its preamble includes that are missing, by name.",
    )
    page_count: Annotated[int, Stored(unit="pages")] | None = Field(
        default=None,
        ge=0,
        description="Pages; None: has none, or they are not known.",
    )
    known_reason: Prose | None = Field(
        default=None,
        description="The authors' own reason for retracting it; None: none is known.",
    )
    unread_reason: Reason | None = Field(
        default=None,
        description="Why it could not be read; None when it could.",
    )
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()

    @property
    def standing(self) -> tuple[Problem, ...]:
        """The problems that stand, in order."""
        return tuple(problem for problem in self.problems if problem.stands)

    @property
    def has_few_words(self) -> bool:
        """Return whether so few words were read that finding nothing in them says little."""
        return 0 < (self.word_count or 0) < FEWEST_WORDS

    @property
    def is_partly_read(self) -> bool:
        """Return whether files of its text are missing: no all-clear."""
        return bool(self.missing_files)
