"""Closed list of reasons for missing values, and whether a retry may help.

Columns, charts and texts derive from it.
"""

from collections.abc import Iterable
from enum import Enum, StrEnum, auto


class Passes(StrEnum):
    """Condition under which a retry may succeed."""

    BY_ITSELF = "by_itself"
    WITH_OTHER_SETTINGS = "with_other_settings"
    NEVER = "never"


class About(Enum):
    """Kind of missing value."""

    SCORE = auto()
    LOOK_UP = auto()
    DOCUMENT = auto()
    ENTRY = auto()
    COMMAND = auto()


class Reason(StrEnum):
    """Reason for a missing value; if several apply, the first of this list counts.

    Attributes:
        sentence: text for people.
        passes: condition under which a retry may succeed.
        about: kind of the missing value.
        again_at_once: whether the same HTTP request may be retried after a moment.
        engine_failed: whether the engine was called and gave no usable reply.
    """

    sentence: str
    passes: Passes
    about: About
    again_at_once: bool
    engine_failed: bool

    def __new__(
        cls,
        word: str,
        sentence: str,
        passes: Passes,
        about: About,
        again_at_once: bool = False,
        engine_failed: bool = False,
    ) -> "Reason":
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        member.passes = passes
        member.about = about
        member.again_at_once = again_at_once
        member.engine_failed = engine_failed
        return member

    @property
    def is_lack_of_evidence(self) -> bool:
        """Return whether the literature has no evidence, which is no failure."""
        return self is Reason.NO_EVIDENCE or self is Reason.FIELD_NOT_COVERED

    # Reasons for a missing score.
    BUDGET_EXHAUSTED = (
        "budget_exhausted",
        "the budget was spent",
        Passes.WITH_OTHER_SETTINGS,
        About.SCORE,
    )
    ENGINE_UNAVAILABLE = (
        "engine_unavailable",
        "the engine did not answer",
        Passes.BY_ITSELF,
        About.SCORE,
        False,
        True,
    )
    TIMED_OUT = ("timed_out", "it took too long", Passes.BY_ITSELF, About.SCORE, False, True)
    WORKER_LOST = ("worker_lost", "the worker that did it was lost", Passes.BY_ITSELF, About.SCORE)
    # The failed look-up has a separate row, whose reason decides about a retry.
    SOURCE_UNAVAILABLE = (
        "source_unavailable",
        "the literature source did not answer",
        Passes.BY_ITSELF,
        About.SCORE,
    )
    # Unusable replies are final: the same call is not paid twice.
    REPLY_UNPARSABLE = (
        "reply_unparsable",
        "the engine's reply could not be read",
        Passes.NEVER,
        About.SCORE,
        False,
        True,
    )
    REPLY_EMPTY = (
        "reply_empty",
        "the engine replied nothing",
        Passes.NEVER,
        About.SCORE,
        False,
        True,
    )
    REPLY_CUT_OFF = (
        "reply_cut_off",
        "the engine's reply was cut off",
        Passes.NEVER,
        About.SCORE,
        False,
        True,
    )
    REFUSED = (
        "refused",
        "the engine refused to answer",
        Passes.NEVER,
        About.SCORE,
        False,
        True,
    )
    NO_EVIDENCE = ("no_evidence", "no relevant evidence was found", Passes.NEVER, About.SCORE)
    # Final for this literature; another one has another evaluation key.
    FIELD_NOT_COVERED = (
        "field_not_covered",
        "the literature does not cover the field of the idea",
        Passes.NEVER,
        About.SCORE,
    )
    # Final for this engine: a model translates.
    OTHER_LANGUAGE = ("other_language", "it is not in English", Passes.NEVER, About.SCORE)
    NOTHING_TO_JUDGE = (
        "nothing_to_judge",
        "there was nothing to judge",
        Passes.NEVER,
        About.SCORE,
    )
    # Final for this engine; another one has another evaluation key.
    OFFLINE_ENGINE = (
        "offline_engine",
        "not judged: offline baseline",
        Passes.NEVER,
        About.SCORE,
    )
    INPUT_TOO_LONG = (
        "input_too_long",
        "the text was too long for the engine",
        Passes.NEVER,
        About.SCORE,
        False,
        True,
    )

    # Executions are deterministic, so their failures are final.
    PROGRAM_FAILED = ("program_failed", "the program failed", Passes.NEVER, About.SCORE)
    PROGRAM_STOPPED = (
        "program_stopped",
        "the program took more than it may",
        Passes.NEVER,
        About.SCORE,
    )
    NO_ANSWER = (
        "no_answer",
        "the program left no answer that can be scored",
        Passes.NEVER,
        About.SCORE,
    )

    UNTRACED = (
        "untraced",
        "its text says what nothing carries",
        Passes.NEVER,
        About.SCORE,
    )

    ILLEGIBLE = (
        "illegible",
        "a figure of it cannot be read in print",
        Passes.NEVER,
        About.SCORE,
    )
    AGAINST_RULES = (
        "against_rules",
        "it does not keep to the rules of its venue",
        Passes.NEVER,
        About.SCORE,
    )

    # Reasons for dropping a version of an idea.
    NEAR_DUPLICATE = (
        "near_duplicate",
        "another version of the batch says nearly the same",
        Passes.NEVER,
        About.ENTRY,
    )
    NEAR_PUBLISHED = (
        "near_published",
        "a paper says nearly the same",
        Passes.NEVER,
        About.ENTRY,
    )
    FINDING_UNANSWERED = (
        "finding_unanswered",
        "it answers no finding about the version before it",
        Passes.NEVER,
        About.ENTRY,
    )

    # Reasons for a failed look-up, or an answer that was not used.
    RATE_LIMITED = (
        "rate_limited",
        "the source asked to slow down",
        Passes.BY_ITSELF,
        About.LOOK_UP,
        True,
    )
    SERVER_ERROR = ("server_error", "the source failed", Passes.BY_ITSELF, About.LOOK_UP, True)
    TIMEOUT = ("timeout", "the source took too long", Passes.BY_ITSELF, About.LOOK_UP, True)
    UNREACHABLE = (
        "unreachable",
        "the source could not be reached",
        Passes.BY_ITSELF,
        About.LOOK_UP,
        True,
    )
    CIRCUIT_OPEN = (
        "circuit_open",
        "the source had failed too often and was left alone",
        Passes.BY_ITSELF,
        About.LOOK_UP,
    )
    MALFORMED_ANSWER = (
        "malformed_answer",
        "the source's answer could not be read",
        Passes.BY_ITSELF,
        About.LOOK_UP,
        True,
    )
    FORBIDDEN = (
        "forbidden",
        "the source does not allow it",
        Passes.WITH_OTHER_SETTINGS,
        About.LOOK_UP,
    )
    NOT_CONFIGURED = (
        "not_configured",
        "the source is not set up here",
        Passes.WITH_OTHER_SETTINGS,
        About.LOOK_UP,
    )
    BAD_REQUEST = (
        "bad_request",
        "the source rejected the request",
        Passes.NEVER,
        About.LOOK_UP,
    )
    NOT_FOUND = ("not_found", "the source does not know it", Passes.NEVER, About.LOOK_UP)
    WITHHELD = (
        "withheld",
        "the publisher withholds it, or the source does not have it",
        Passes.NEVER,
        About.LOOK_UP,
    )
    AFTER_CUTOFF = (
        "after_cutoff",
        "it appeared after the cutoff date",
        Passes.NEVER,
        About.LOOK_UP,
    )
    NO_DATE = (
        "no_date",
        "it carries no date, so it cannot be shown to lie before the cutoff",
        Passes.NEVER,
        About.LOOK_UP,
    )
    RETRACTED = (
        "retracted",
        "it was retracted or withdrawn, or is under an expression of concern",
        Passes.NEVER,
        About.LOOK_UP,
    )
    THE_IDEA_ITSELF = (
        "the_idea_itself",
        "it is the idea's own publication",
        Passes.NEVER,
        About.LOOK_UP,
    )
    PASSAGE_NOT_FOUND = (
        "passage_not_found",
        "a quotation does not stand in its source",
        Passes.NEVER,
        About.LOOK_UP,
    )

    # Reasons for a missing or unreadable document.
    TOO_LARGE = ("too_large", "it is too large", Passes.WITH_OTHER_SETTINGS, About.DOCUMENT)
    TOO_MANY_PAGES = (
        "too_many_pages",
        "it has too many pages",
        Passes.WITH_OTHER_SETTINGS,
        About.DOCUMENT,
    )
    PARSER_LIMIT = (
        "parser_limit",
        "reading it took more time or memory than is allowed",
        Passes.WITH_OTHER_SETTINGS,
        About.DOCUMENT,
    )
    UNSAFE_ADDRESS = (
        "unsafe_address",
        "the link leads to an address that is not public",
        Passes.NEVER,
        About.DOCUMENT,
    )
    TOO_MANY_REDIRECTS = (
        "too_many_redirects",
        "the link leads from one place to the next",
        Passes.NEVER,
        About.DOCUMENT,
    )
    WRONG_TYPE = (
        "wrong_type",
        "the link leads to another kind of file",
        Passes.NEVER,
        About.DOCUMENT,
    )
    WRONG_FORM = (
        "wrong_form",
        "it has another form than was asked for",
        Passes.WITH_OTHER_SETTINGS,
        About.DOCUMENT,
    )
    NOT_A_PDF = ("not_a_pdf", "it is not a PDF", Passes.NEVER, About.DOCUMENT)
    NOT_LATEX = ("not_latex", "it is not LaTeX", Passes.NEVER, About.DOCUMENT)
    ENCRYPTED = ("encrypted", "it is encrypted", Passes.NEVER, About.DOCUMENT)
    DAMAGED = ("damaged", "it is damaged", Passes.NEVER, About.DOCUMENT)
    NO_TEXT = ("no_text", "it holds no text", Passes.NEVER, About.DOCUMENT)
    NO_SECTIONS = ("no_sections", "no sections were recognised", Passes.NEVER, About.DOCUMENT)
    NO_OPEN_ACCESS = (
        "no_open_access",
        "no open-access copy is known",
        Passes.NEVER,
        About.DOCUMENT,
    )
    NOT_LOOKED_FOR = (
        "not_looked_for",
        "nobody looked for it",
        Passes.WITH_OTHER_SETTINGS,
        About.DOCUMENT,
    )
    NO_ABSTRACT = ("no_abstract", "no abstract is known", Passes.NEVER, About.DOCUMENT)
    DOCUMENT = ("document", "the document could not be had or read", Passes.NEVER, About.DOCUMENT)

    # Reasons for a rejected entry of an idea file.
    EMPTY = ("empty", "the entry is empty", Passes.NEVER, About.ENTRY)
    TOO_SHORT = ("too_short", "the text is too short", Passes.NEVER, About.ENTRY)
    TOO_LONG = ("too_long", "the text is too long", Passes.NEVER, About.ENTRY)
    BAD_CUTOFF_DATE = (
        "bad_cutoff_date",
        "the cutoff date is not a date",
        Passes.NEVER,
        About.ENTRY,
    )
    DUPLICATE_ID = (
        "duplicate_id",
        "the identifier was taken already",
        Passes.NEVER,
        About.ENTRY,
    )
    DUPLICATE_TEXT = (
        "duplicate_text",
        "the text repeats another idea",
        Passes.NEVER,
        About.ENTRY,
    )
    UNREADABLE = ("unreadable", "the entry could not be read", Passes.NEVER, About.ENTRY)
    BAD_FIELD = (
        "bad_field",
        "a field holds something else than it should",
        Passes.NEVER,
        About.ENTRY,
    )

    # Reasons for excluding a paper, or parts of it or its reviews, from a curated set.
    TOO_FEW_REVIEWS = (
        "too_few_reviews",
        "it has fewer usable reviews than asked for",
        Passes.NEVER,
        About.ENTRY,
    )
    LATER_VERSION = (
        "later_version",
        "it is not the version that was reviewed first",
        Passes.NEVER,
        About.ENTRY,
    )
    REVIEWS_DISAGREE = (
        "reviews_disagree",
        "its reviewers' ratings lie further apart than asked for",
        Passes.NEVER,
        About.ENTRY,
    )
    NO_METHOD = ("no_method", "it describes no method", Passes.NEVER, About.ENTRY)
    NO_CRITICISM = (
        "no_criticism",
        "nothing in the reviews is about the idea",
        Passes.NEVER,
        About.ENTRY,
    )
    ABOUT_WRITING = ("about_writing", "it is about the writing", Passes.NEVER, About.ENTRY)
    ABOUT_RESULTS = ("about_results", "it is about results", Passes.NEVER, About.ENTRY)
    NOT_ABOUT_THE_IDEA = (
        "not_about_the_idea",
        "it is about nothing that the idea holds",
        Passes.NEVER,
        About.ENTRY,
    )
    AN_INSTRUCTION = (
        "an_instruction",
        "it tells its reader how to judge",
        Passes.NEVER,
        About.ENTRY,
    )
    REPEATED = ("repeated", "another one says the same", Passes.NEVER, About.ENTRY)
    WITHOUT_SOURCE = (
        "without_source",
        "it leads back to no sentence of a review",
        Passes.NEVER,
        About.ENTRY,
    )
    TELLS_RESULTS = (
        "tells_results",
        "it tells what came of the paper",
        Passes.NEVER,
        About.ENTRY,
    )

    # Reasons for the end of a command, or of all work on one idea.
    UNDECIDED = (
        "undecided",
        "people have not decided yet how it goes on",
        Passes.BY_ITSELF,
        About.COMMAND,
    )
    CONFIGURATION = (
        "configuration",
        "the settings do not allow it",
        Passes.WITH_OTHER_SETTINGS,
        About.COMMAND,
    )
    SNAPSHOT = (
        "snapshot",
        "the snapshot cannot be used",
        Passes.WITH_OTHER_SETTINGS,
        About.COMMAND,
    )
    PROMPT = ("prompt", "a prompt does not fit its step", Passes.NEVER, About.COMMAND)
    NOT_PUBLISHED = ("not_published", "it was not published", Passes.NEVER, About.COMMAND)
    FITTED_ON_IT = (
        "fitted_on_it",
        "the calibrator was fitted on it",
        Passes.NEVER,
        About.COMMAND,
    )
    INTERNAL_ERROR = ("internal_error", "Assay itself failed", Passes.BY_ITSELF, About.COMMAND)


BEYOND_THE_RUN = frozenset((Reason.OFFLINE_ENGINE, Reason.FIELD_NOT_COVERED))
"""Reasons that are no failure: this engine or literature cannot judge."""


def reason_named(word: object) -> Reason | None:
    """Return the reason called `word`; None if there is none."""
    return next((reason for reason in Reason if reason == word), None)


def may_pass(reason: Reason | None) -> bool:
    """Return whether a retry may help, possibly with other settings; False for None."""
    return reason is not None and reason.passes is not Passes.NEVER


def first_that_may_pass(reasons: Iterable[Reason | None]) -> Reason | None:
    """Return the first reason, in the order of the list, for which a retry may help.

    SOURCE_UNAVAILABLE is skipped, because the reason of the failed look-up decides.
    """
    candidates = set(reasons) - {Reason.SOURCE_UNAVAILABLE}
    return next((reason for reason in Reason if reason in candidates and may_pass(reason)), None)


def reasons_about(subject: About) -> tuple[Reason, ...]:
    """Return the reasons about `subject`, in the order of the list."""
    return tuple(reason for reason in Reason if reason.about is subject)
