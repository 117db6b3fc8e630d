"""Spells out the keys in a text that will be read away from the prompt whose papers they name."""

import re

from schemas.identifiers import PaperId
from tasks.citations.keys import Shown
from tasks.citations.patterns import BARE_REPORTING, KEY, LOWER_CASE_KEY, ONLY_KEYS

_BRACKET = re.compile(r"\s?(?P<open>[\[(【])(?P<inside>[^\[\]()【】]{1,200})[\])】]")
_NO_BRACKETS = str.maketrans(dict.fromkeys("[]()【】", " "))
_REPORTING = re.compile(rf"(?:'s)?\s+{BARE_REPORTING}")
_IN_PROSE = re.compile(rf"\b(?:[Pp]aper\s+)?(?P<key>P\d{{1,6}})(?=(?:'s)?\s+{BARE_REPORTING})|\b[Pp]aper\s+(?P<named>P\d{{1,6}})\b")


def without_keys(text: str, shown: Shown, subject: PaperId) -> str:
    """`text`, a reply about the paper `subject` to a prompt that showed `shown`, without citation keys.

    A key means nothing, or another paper, in the next prompt and in a report. In brackets `subject`'s own key and keys
    never shown go; another paper's key becomes its title. In a sentence (`P3 shows`) `subject` becomes `the paper`.
    Anything else that looks like a key (the P3 wave, the P53 gene) stays.
    """

    def bracket(match: re.Match[str]) -> str:
        inside = match["inside"]
        if not ONLY_KEYS.fullmatch(inside) or (match["open"] == "(" and LOWER_CASE_KEY.search(inside)):
            return match.group()
        if _REPORTING.match(match.string, match.end()):
            return match.group().replace(match.group().strip(), _subject_of(inside, shown, subject))
        titles = [title for key in KEY.finditer(inside) if (title := _title(int(key["first"]), shown, subject))]
        return f" ({'; '.join(dict.fromkeys(titles))})" if titles else ""

    def prose(match: re.Match[str]) -> str:
        number = int((match["key"] or match["named"])[1:])
        if shown.paper_at(number) is None:
            return match.group()
        return _title(number, shown, subject) or "the paper"

    before, spelled = "", text
    while spelled != before:  # what was taken out may have stood inside other brackets
        before, spelled = spelled, _BRACKET.sub(bracket, spelled)
    return _IN_PROSE.sub(prose, spelled).strip()


def _subject_of(inside: str, shown: Shown, subject: PaperId) -> str:
    """What bracketed keys stand for in front of a verb."""
    names = [_title(int(key["first"]), shown, subject) or "the paper" for key in KEY.finditer(inside)]
    return " and ".join(dict.fromkeys(names))


def _title(number: int, shown: Shown, subject: PaperId) -> str:
    """The title of another paper, in quotation marks and without brackets; empty for `subject` and for keys that were not shown."""
    paper = shown.paper_at(number)
    return f"“{' '.join(paper.title.translate(_NO_BRACKETS).split())}”" if paper is not None and paper.paper_id != subject else ""
