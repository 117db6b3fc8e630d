"""Quotations in replies, which are excluded from the search for citations."""

from schemas.text.patterns import IGNORECASE, MULTILINE, Match, bounded
from tasks.citations.keys import ONLY_KEYS

REMOVED, MARK_BEGIN, MARK_END, _SHIELD = "\x00", "\x01", "\x02", "\x03"
_SIGNS = dict.fromkeys(map(ord, (REMOVED, MARK_BEGIN, MARK_END, _SHIELD)))

# No quotation goes beyond its line, so that a mark without its partner (`a 5" wheel`, a forgotten
# end) leaves the citations of the rest of the text alone. 2,000 characters: a long paragraph.
_QUOTATION = bounded(
    r"(?<![\w\"])\"(?=\S)[^\"\n]{1,2000}(?<=\S)\"(?!\w)"
    r"|“[^“”\n]{1,2000}”"
    r"|„[^„“”\n]{1,2000}(?<=\S)[“”](?!\w)"
    r"|«[^«»\n]{1,2000}»"
    # An apostrophe between letters does not end a quotation.
    r"|(?<!\w)‘(?=\S)(?:[^‘’\n]|(?<=\w)’(?=\w)){1,2000}(?<=\S)’(?!\w)"
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,2000}(?<=\S)'(?!\w)"
    r"|^[ \t]{0,3}>[^\n]*+$",
    MULTILINE,
)
_BRACKET = bounded(
    r"(?:(?<=[\]】])[,;])?[ \t]{0,9}\\?[\[【]([^\[\]【】\\\n]{1,600})\\?[\]】](?!\()"
)
_K_KEY = bounded(r"(?<!\w)K(?=\s?\d)", IGNORECASE)
_DIGIT = bounded(r"\d")
_LETTER = bounded(r"[^\W\d_]")


def shielded(text: str) -> str:
    """Shield the quotations of a reply, so that nothing in them reads as a citation.

    A quotation is enclosed in straight or curly quotation marks or guillemets, within one line, or
    is a line of a Markdown blockquote. Its words stay unchanged: `P1` may be player 1 there, and
    `(Smith, 2020)` and DOIs belong to the quoted author. There are two exceptions. Keys in square
    brackets are the writer's own and are moved behind the quotation (`“… [P2].”` becomes `“….”
    [P2]`), so that the citation counts and no reader sees a key. Addresses and links may be removed
    later.

    Pass the processed text to `plain` at the end.
    """
    return _QUOTATION.sub(_shield, text.translate(_SIGNS))


def plain(text: str) -> str:
    """Undo the shielding of a text or of a part of it."""
    return text.replace(_SHIELD, "")


def _shield(match: Match[str]) -> str:
    brackets: list[str] = []

    def own(bracket: Match[str]) -> str:
        if not ONLY_KEYS.fullmatch(_K_KEY.sub("P", bracket[1])):
            return bracket.group()
        brackets.append(bracket.group().strip(" \t,;"))
        return ""

    words = _BRACKET.sub(own, match.group())
    if not _LETTER.search(words):  # such as `"[P1]"`, which quotes no words
        return match.group()
    # Every citation, key or year, has a digit.
    return " ".join([_DIGIT.sub(rf"{_SHIELD}\g<0>", words), *brackets])
