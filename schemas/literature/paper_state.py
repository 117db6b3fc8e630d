"""States of works: retracted, withdrawn, of concern, or a notice about another work."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo

from schemas.literature.source_text import plain_text
from schemas.text.patterns import IGNORECASE, bounded


class PaperState(StrEnum):
    """State of a work that does not count as evidence; other works have no state."""

    RETRACTED = "retracted"
    WITHDRAWN = "withdrawn"
    OF_CONCERN = "of_concern"
    NOTICE = "notice"

    @property
    def mark(self) -> str:
        """Label of the state for readers."""
        return _MARKS[self]


_MARKS = {
    PaperState.RETRACTED: "retracted",
    PaperState.WITHDRAWN: "withdrawn",
    PaperState.OF_CONCERN: "under an expression of concern",
    PaperState.NOTICE: "a notice about another work",
}

# The words before a colon, bracket, quotation mark or dash, as publishers put them before a title:
# “Retraction of the proboscis in Drosophila” is an ordinary title, “Retraction: Moths” is not.
_HEAD = bounded(
    r"^([\W_]{0,4})(\w[\w ']{4,60}?)(\s?(?:[:\])}>“”\"«|—–]|\.\s|\s-\s|\s[‘']|[\W_]{0,4}$)[\W_]{0,4})"
)
# Of these alone, “Removal: a new approach” or “Retracted—now what?” are ordinary titles.
_BARE = bounded("retracted|retraction|withdrawal|(withdrawn|removed|removal)", IGNORECASE)
_DASH = bounded(r"\s?[-–—]")
_OF = "(?: to| of| for| on| about| regarding| and replacement)?"
_NOTICE = "(?: notice| note| statement)?"
_WORK = (
    r"(?: (?:research|original|review|short|journal|book))?"
    r"(?: (?:article|paper|chapter|manuscript|publication|study|report|letter|preprint))?"
)
_THIS = "(?:(?:this )?(?:article|paper|chapter|manuscript) (?:has been |was |is )?)?"
_HEADS = {
    PaperState.RETRACTED: bounded(
        f"(?:{_THIS}retracted{_WORK}(?: and (?:replaced|republished))?|(?:partial )?retraction{_NOTICE}{_OF}"
        f"|(?:notice|statement|note) of (?:partial )?retraction{_OF})",
        IGNORECASE,
    ),
    PaperState.WITHDRAWN: bounded(
        f"(?:{_THIS}(?:withdrawn|removed){_WORK}|withdrawal{_NOTICE}{_OF}|(?:temporary )?removal"
        f"|removal notice{_OF}|(?:notice|statement|note) of (?:withdrawal|removal){_OF})",
        IGNORECASE,
    ),
    PaperState.OF_CONCERN: bounded(
        f"(?:notice of )?(?:editorial |editor's |publisher's )?"
        f"(?:expression of (?:editorial )?concern{_NOTICE}|notice of concern){_OF}",
        IGNORECASE,
    ),
    PaperState.NOTICE: bounded(
        "(?:(?:author|publisher|editorial)(?:'s)? )?"
        f"(?:correction|corrigend(?:um|a)|errat(?:um|a)|addendum){_NOTICE}{_OF}",
        IGNORECASE,
    ),
}
# Words that begin no ordinary title, so that nothing need follow them.
_WITHOUT_END = {
    PaperState.RETRACTED: bounded(
        r"^[\W_]{0,4}(?:retraction (?:notice|note) (?:to|of|for) |(?:notice|statement) of"
        r" retraction\b|retraction for [^,:]{1,60} et al\b)[\W_]{0,4}",
        IGNORECASE,
    ),
    PaperState.WITHDRAWN: bounded(
        r"^[\W_]{0,4}(?:withdrawal (?:notice|note) (?:to|of|for) |notice of withdrawal\b)"
        r"[\W_]{0,4}",
        IGNORECASE,
    ),
    PaperState.OF_CONCERN: bounded(
        r"^[\W_]{0,4}(?:editorial )?expression of concern (?:to|about|regarding|for|on) "
        r"[\W_]{0,4}",
        IGNORECASE,
    ),
    PaperState.NOTICE: bounded(
        r"^[\W_]{0,4}(?:erratum|corrigendum) (?:to|for) [\W_]{0,4}", IGNORECASE
    ),
}
_CAPITALS = bounded(r"^[\W_]{0,4}(RETRACTED|WITHDRAWN)(?: ARTICLE| PAPER)? (?=.{0,40}[a-z])")
_DATE = r" (?:(?:on|in) )?(?:\d{1,2}\.? )?(?:[a-z]{3,9}\.? )?(?:\d{1,2}, )?\d{4}(?:-\d\d-\d\d)?"
_TAIL = bounded(
    rf"[\[(]\s?(retracted|withdrawn){_WORK}(?:[.,:;][^\])]{{0,200}}|{_DATE})?\s?[\])][\W_]{{0,4}}$"
    r"|\s[-–—]\s?(RETRACTED|WITHDRAWN)$",
    IGNORECASE,
)
_NOTICE_HEAD = bounded(r"\b(?:retraction|withdrawal|removal|concern)\b", IGNORECASE)
_ABSTRACT = bounded(
    r"^[\W_]{0,4}(?:abstract\W{1,4})?(?:(?:this|the) (?:\w{1,12} ){0,2}?(?:article|paper|manuscript"
    r"|submission|preprint|chapter|work|version)s?(?: \[[^\]]{1,80}\])? (?:has|have|was|were|is)"
    r"(?: now| since)?(?: been)?(?: \w{3,20}ly)? |(?:article|paper) )?(withdrawn|retracted)\b"
    r"(?=[\W_]{0,3}$|\s?[:.;,]| by | at | due | because | from | as | and | for | in | since "
    r"| on )",
    IGNORECASE,
)
_LONGEST_TITLE = 1_000


def state_of_title(title: str) -> PaperState | None:
    """Return the state in a title, in the usual wording of publishers; None without one."""
    return _read_title(plain_text(title))[0]


def _or_of_title(state: PaperState | None, info: ValidationInfo) -> PaperState | None:
    return state or state_of_title(info.data.get("title", ""))


StateOrOfTitle = Annotated[PaperState | None, AfterValidator(_or_of_title)]
"""State of the source, else that in the model's `title` field, which must come before it."""


def unmarked_title(title: str) -> str:
    """Return a title without the words of its state."""
    return _read_title(title)[1]


def title_of_notice(title: str) -> str | None:
    """Return the title of the work that a notice is about; None for other titles."""
    state, rest = _read_title(title)
    beginning = title[: len(title) - len(rest)] if title.endswith(rest) else title
    return rest if state and rest and _NOTICE_HEAD.search(beginning) else None


def _is_mark(opening: str, words: str, end: str) -> bool:
    """Return whether the first words of a title may state its state."""
    bare = _BARE.fullmatch(words)
    if bare is None or words.isupper() or set(opening) & set("[({<*") or not end:
        return True
    return bare[1] is None and not _DASH.match(end)


def _read_title(title: str) -> tuple[PaperState | None, str]:
    text = title.strip()[:_LONGEST_TITLE]
    if (head := _HEAD.match(text)) and _is_mark(*head.groups()):
        for state, phrase in _HEADS.items():
            if phrase.fullmatch(head[2]):
                return state, text[head.end() :] or text
    for state, opening in _WITHOUT_END.items():
        if match := opening.match(text):
            return state, text[match.end() :] or text
    if capitals := _CAPITALS.match(text):
        return PaperState(capitals[1].lower()), text[capitals.end() :]
    if tail := _TAIL.search(text):
        return PaperState((tail[1] or tail[2]).lower()), text[: tail.start()].strip(" .")
    return None, text


_STATES = {
    "true": PaperState.RETRACTED,
    "retracted": PaperState.RETRACTED,
    "retraction": PaperState.RETRACTED,
    "partial retraction": PaperState.RETRACTED,
    "retracted publication": PaperState.RETRACTED,
    "retraction of publication": PaperState.RETRACTED,
    "retraction notice": PaperState.RETRACTED,
    "is retracted by": PaperState.RETRACTED,
    "is retraction of": PaperState.RETRACTED,
    "retracts": PaperState.RETRACTED,
    "withdrawn": PaperState.WITHDRAWN,
    "withdrawal": PaperState.WITHDRAWN,
    "removal": PaperState.WITHDRAWN,
    "expression of concern": PaperState.OF_CONCERN,
    "concern": PaperState.OF_CONCERN,
    "of concern": PaperState.OF_CONCERN,
    "notice": PaperState.NOTICE,
    "erratum": PaperState.NOTICE,
    "corrigendum": PaperState.NOTICE,
    "published erratum": PaperState.NOTICE,
}
"""Kinds of works and notices by Crossref, Retraction Watch, OpenAlex and PubMed."""
_NOT_LETTERS = bounded(r"[\W_]{1,4}")


def flagged_state(*words: Any) -> PaperState | None:
    """Return the most severe state among words, lists of words and flags of a source."""
    states = [state for word in words for state in _states_in(word)]
    return gravest(states) if states else None


def gravest(states: Iterable[PaperState]) -> PaperState:
    """Return the most severe state."""
    return min(states, key=list(PaperState).index)


def _states_in(flag: Any) -> Iterable[PaperState]:
    if isinstance(flag, Mapping):
        flag = flag.get("type")
    if isinstance(flag, list | tuple):
        return [state for one in flag for state in _states_in(one)]
    if flag is True or flag == 1:
        return [PaperState.RETRACTED]
    words = _NOT_LETTERS.sub(" ", flag).strip().casefold() if isinstance(flag, str) else ""
    return [_STATES[words]] if words in _STATES else []


def state_of(title: str, abstract: str | None = None, *flags: Any) -> PaperState | None:
    """Return the state of a work by the source's flags, else by title or abstract."""
    state = flagged_state(*flags) or state_of_title(title)
    if state is None and abstract and (match := _ABSTRACT.match(plain_text(abstract))):
        state = PaperState(match[1].lower())
    return state
