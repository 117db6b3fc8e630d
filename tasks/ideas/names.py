"""Field names used by people and programs, and their meanings."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from schemas.idea import AUTHORS
from schemas.literature.publication_fields import names_authors
from schemas.text.patterns import IGNORECASE, bounded

# First the names of the parts, then other names in the files of common tools.
NAMES: dict[str, tuple[str, ...]] = {
    "idea_id": ("idea_id", "id", "identifier", "uid", "uuid", "proposal_id"),
    "title": ("title", "headline"),
    "text": (
        *("text", "idea", "full_text_of_idea", "proposal", "plan", "pitch", "body", "content"),
        *("full_proposal", "free_text"),
    ),
    "problem": ("problem", "problem_statement", "question", "gap", "challenge"),
    "method": (
        *("method", "methodology", "approach", "solution", "solution_approach", "technique"),
        *("scientific_method", "method_description"),
    ),
    "experiment": (
        *("experiment", "experiment_design", "experimental_design", "experiment_plan"),
        *("experimental_plan", "experimental_setup", "experiment_setup", "evaluation_plan"),
        *("evaluation_design", "validation_plan", "test_plan", "study_design", "experimentation"),
        "step_by_step_experiment_plan",
    ),
    "cutoff_date": ("cutoff_date", "cutoff"),
    "group": ("group",),
    AUTHORS: (AUTHORS, "author", "author_name", "names_of_authors"),
}
"""Names by meaning, in lower-case words, singular or plural."""

FIRST_FILLED = ("abstract", "description", "summary", "tldr", "tl_dr", "overview")
"""The text of an idea without one: the first that is filled. Next to parts, a section."""

OPENING_SECTIONS = (
    *("background", "context", "background_context", "motivation", "rationale", "inspiration"),
    *("problem_rationale", "objective", "goal", "aim", "hypothesis", "hypotheses"),
    *("short_hypothesis", "related_work", "prior_work", "existing_method", "existing_work"),
    *("existing_approach", "current_method", "prior_method"),
    *("literature_review", "assumption", "contribution", "key_contribution"),
)
"""Sections placed before problem and method, under their own names."""

CLOSING_SECTIONS = (
    *("method_rationale", "experiment_rationale", "dataset", "data_set", "metric", "baseline"),
    *("test_case", "test_case_example", "fallback_plan", "expected_outcome", "expected_result"),
    *("expected_impact", "prediction", "implication", "limitation", "risk", "risk_factor"),
    *("risk_factor_and_limitation", "risk_and_limitation", "ethical_consideration"),
)
"""Sections placed after the experiment, under their own names."""

NAME = "name"
"""The title of a page of Notion; next to a title, the identifier of AI-Scientist."""

_KNOWN_METADATA = frozenset(
    (
        *("metadata", "file", "source", "url", "link", "doi", "keyword", "tag", "topic", "field"),
        *("area", "discipline", "domain", "venue", "journal", "conference", "email", "license"),
        *("email_address", "licence", "status", "decision", "label", "category", "score", "rating"),
        *("affiliation", "institution", "department", "submitted_by", "created_by", "owner"),
    )
)
"""Self-explanatory metadata: no remark says that it is not judged."""
_METADATA_ENDINGS = frozenset(("score", "id", "url", "link", "area"))

# From form questions ("What is your idea?") and longer names ("Proposed Method").
_FILLERS = frozenset(
    (
        *("a", "an", "and", "are", "be", "brief", "briefly", "can", "describe", "detail"),
        *("detailed", "do", "doe", "enter", "explain", "for", "full", "give", "how", "i", "in"),
        *("is", "it", "main", "my", "of", "our", "planned", "please", "propose", "proposed"),
        *("provide", "short", "solve", "state", "tell", "the", "this", "to", "us", "we", "what"),
        *("which", "will", "would", "you", "your", "key", "final", "suggested"),
    )
)
_VERBS = {"solve": "method"} | dict.fromkeys(
    ("test", "evaluate", "measure", "validate"), "experiment"
)
_SUBJECTS = frozenset(("idea", "research", "proposal", "project", "paper"))
_SCORES = frozenset(("score", "rating", "threshold"))
_OF_PAPERS = frozenset(("full_text",))

_BRACKETS = bounded(r"[(\[{][^()\[\]{}]{0,80}[)\]}]")
_CAMEL = bounded(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NON_WORD = bounded(r"[^\w]{1,200}|_{1,200}")
_LEADING_NUMBER = bounded(r"^\s{0,9}(?:Q?\d{1,2}[.):]\s{0,9})", IGNORECASE)
_PATHS = bounded(r"^(?:content|fields|properties|metadata)\.|\.value$", IGNORECASE)


def words_of(name: str) -> tuple[str, ...]:
    """Split a name: `experimentDesign`, `Experiment-Design (weeks)` give `experiment`, `design`."""
    return _words_of(name[:300].strip())


@lru_cache(maxsize=4096)  # The same few names come with every row of a table.
def _words_of(name: str) -> tuple[str, ...]:
    text = _LEADING_NUMBER.sub("", _PATHS.sub("", name))
    text = _NON_WORD.sub(
        " ", _CAMEL.sub(" ", _BRACKETS.sub(" ", text) if text[:1] != "(" else text)
    )
    return tuple(text.lower().split())


def _singular(word: str) -> str:
    return (
        word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2:] not in ("ss", "is") else word
    )


def _key(words: Iterable[str]) -> str:
    return "_".join(_singular(word) for word in words)


_MEANINGS = {
    _key(words_of(name)): meaning
    for meaning, names in (
        *NAMES.items(),
        *((name, (name,)) for name in FIRST_FILLED),
        ("opening", OPENING_SECTIONS),
        ("closing", CLOSING_SECTIONS),
    )
    for name in names
}
PARTS = frozenset({"text", "problem", "method", "experiment"})
TEXTS = PARTS | {"opening", "closing", *FIRST_FILLED}


@lru_cache(maxsize=4096)
def meaning_of(name: str, *, exactly: bool = False) -> str | None:
    """Return the meaning of a field of this name; None for metadata.

    Args:
        exactly: if False, filler words around the name (`What is your idea?`) are ignored.
    """
    if names_authors(name):
        return AUTHORS
    words = words_of(name)
    if words == (NAME,):
        return NAME
    if "cutoff" in words or ("cut", "off") in pairwise(words):
        return "cutoff_date" if _SCORES.isdisjoint(map(_singular, words)) else None
    if (meaning := _MEANINGS.get(_key(words))) is not None or exactly:
        return meaning
    if _key(words) in _OF_PAPERS:
        return None
    plain_words = tuple(word for word in words if _singular(word) not in _FILLERS)
    core = tuple(word for word in plain_words if _singular(word) not in _SUBJECTS)
    for each in (plain_words, core):
        # The `project_id` of an idea is not its identifier.
        if (meaning := _MEANINGS.get(_key(each))) in TEXTS or meaning == "title":
            return meaning
    # `Problem / Motivation`, `Method and Baselines`
    meanings = [_MEANINGS.get(_key((word,))) for word in plain_words]
    if words[:1] == ("how",):  # `How will you test it?`
        return next((_VERBS[word] for word in words if word in _VERBS), None)
    if not meanings or not all(each in TEXTS for each in meanings):
        return None
    return next((each for each in meanings if each in PARTS - {"text"}), meanings[0])


def is_known_metadata(name: str) -> bool:
    """Return whether a name is clearly no part of an idea."""
    words = words_of(name)
    return _key(words) in _KNOWN_METADATA or (bool(words) and words[-1] in _METADATA_ENDINGS)


def same_name(one: str, other: str) -> bool:
    """Return whether two names differ only in case, blanks and punctuation."""
    return one.strip() == other.strip() or words_of(one) == words_of(other) != ()


def heading_of(name: str) -> str:
    """Return `short_hypothesis` as a heading: `Short Hypothesis`."""
    return " ".join(word.capitalize() if len(word) > 3 else word for word in words_of(name))


def has_part(names: Iterable[str]) -> bool:
    """Return whether any of these fields is a text of an idea or one of its main parts."""
    return any(meaning_of(name) in PARTS for name in names)


def has_text(names: Iterable[str], *, exactly: bool = False) -> bool:
    """Return whether any of these fields can contain an idea or a part of one."""
    return any(meaning_of(name, exactly=exactly) in TEXTS for name in names)
