"""Plain text from the titles, abstracts, venues and names of literature sources."""

import html
import unicodedata
from typing import Annotated

from pydantic import AfterValidator

from schemas.text.patterns import IGNORECASE, Match, bounded, linear

_PASSES = 4
"""Maximum layers of encoding; each pass removes one."""

_UNUSUAL = linear(
    r"[<&\\{\x00-\x1f\x7f-\xa0\u00ad\u0300-\u036f\u061c\u2000-\u200f\u2028-\u202f\u205f-\u2069"
    r"\u3000\ufe00-\ufe0f\ufeff\ufffd]|  |^ | \Z"
)
_INVISIBLE_SIGNS = bounded(
    r"[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\ufffd"
    r"\U000e0000-\U000e007f]+"
)
_CONTROL = bounded(r"[\x00-\x1f\x7f-\x9f]+")
_ENTITY = bounded(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_COMMENT = bounded(r"<!--[^<>]{0,500}-->|<!\[CDATA\[|\]\]>")

_HEADING_ELEMENT = linear(
    r"<(?:jats:)?title>\s*(?:abstract|summary)\s*[:.]?\s*</(?:jats:)?title>", IGNORECASE
)
# Elements by their replacement. Other names in angle brackets are text.
_BLOCK_NAMES = """
p br break div title sec section li ul ol list list-item label hr table tr td th tbody blockquote
h1 h2 h3 h4 h5 h6 disp-formula abstract
"""
_PHRASE_NAMES = """
i em italic b bold strong a cite q math inline-formula named-content styled-content ext-link xref
"""
_JOINED_NAMES = """
sub sup inf sc scp small-caps span u s tt font abbr small big monospace roman sans-serif strike
overline underline alternatives inline-graphic graphic tex-math mi mo mn mrow msub msup msubsup
mfrac msqrt mroot mtext mspace mstyle mover munder munderover mfenced mtable mtr mtd mmultiscripts
mprescripts mpadded mphantom menclose maction merror ms semantics
"""
BLOCKS = frozenset(_BLOCK_NAMES.split())
_PHRASES = frozenset(_PHRASE_NAMES.split())
_HIDDEN_ELEMENTS = frozenset({"annotation", "annotation-xml"})
_UNCLOSED_ELEMENTS = frozenset(
    {"p", "br", "hr", "li", "tr", "td", "th", "break", "sec", "list", "label", "disp-formula"}
)
"""Elements that need no closing tag in HTML or in truncated abstracts."""
_NAMES = sorted(
    (*BLOCKS, *_PHRASES, *_HIDDEN_ELEMENTS, *_JOINED_NAMES.split()), key=len, reverse=True
)
TAG = linear(
    rf"</?(?:[a-z]{{1,10}}:)?({'|'.join(_NAMES)})"
    r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*/?>""",
    IGNORECASE,
)
_BARE_TAG = bounded(r"</?\w{1,20}>")
_BEFORE_WORD = bounded(r"[\s(\[\"'`“‘]?")
_BEHIND_WORD = bounded(r"[\s)\]\"'`”’.,;:?!]?")
_ALTERNATIVE = linear(r"""\salttext\s*=\s*(?:"([^"]*)"|'([^']*)')""", IGNORECASE)
# Control characters mark the ends of phrases; those of the text are removed before.
_OPENS, _CLOSES = "\x01", "\x02"
_NESTED_MARKS = bounded(r"([\x01\x02])[\x01\x02]{0,50}")
_OPENED_IN_WORD = bounded(r"(?<=[^\W\d_])\x01")
_CLOSED_IN_WORD = bounded(r"(?<=[^\W\d_]{3})\x02(?=[^\W\d_])")
_MARKS = bounded(r"[\x01\x02]+")

_ACCENTS = dict(
    zip(
        "\"'`^~=.uvHcdbkr",
        "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u0328\u030a",
        strict=True,
    )
)
_ACCENT = bounded(
    r"""\{?\\(?:(["'`^~=.])\s?\{?\\?([A-Za-z])\}?|([uvHcdbkr])(?:\{\\?([A-Za-z])\}|"""
    r"""\s([A-Za-z])(?=\})))\}?"""
)
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ",
    "OE": "Œ", "aa": "å", "AA": "Å", "i": "i", "j": "j",
}  # fmt: skip
_LETTER = bounded(r"\{?\\(ss|oe|OE|ae|AE|aa|AA|o|O|l|L|i|j)(?:\{\}|\}|(?![A-Za-z])\s?)")
_STYLE_COMMAND = bounded(r"\\(?:emph|text[a-z]{0,6})\{([^{}]{0,300})\}")
_ESCAPED_SIGN = bounded(r"\\([&%#_])")
_KEPT_CAPITALS = bounded(r"(?<![\\\w^_}$])\{([A-Z][\w -]{0,60})\}")


def plain_text(text: str) -> str:
    """Return a source's text on one line, without markup, entities and invisible characters.

    A `<` that belongs to no known element is kept as text.
    """
    for _ in range(_PASSES):
        if not _UNUSUAL.search(text):
            return text
        cleaned_text = _clean(text)
        if cleaned_text == text:
            break
        text = cleaned_text
    return text


def _clean(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    text = _CONTROL.sub(" ", _INVISIBLE_SIGNS.sub("", text))
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "<" in text or "]]>" in text:
        text = _HEADING_ELEMENT.sub(" ", _COMMENT.sub("", text))
        text = _without_tags(_CONTROL.sub(" ", text))
    if "\\" in text or "{" in text:
        text = _without_latex(text)
    text = _CONTROL.sub(" ", _INVISIBLE_SIGNS.sub("", text))
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _tags_in(text: str) -> list[Match[str]]:
    """Return the tags of a text; an unpaired tag without attributes among words is text."""
    tags = list(TAG.finditer(text))
    closed_names = {tag[1].lower() for tag in tags if tag[0].startswith("</")}
    opened_names = {tag[1].lower() for tag in tags if not tag[0].startswith("</")}
    markup = _UNCLOSED_ELEMENTS | (opened_names & closed_names)
    return [
        tag
        for tag in tags
        if tag[1].lower() in markup
        or not _BARE_TAG.fullmatch(tag[0])
        or not _BEFORE_WORD.fullmatch(text[max(tag.start() - 1, 0) : tag.start()])
        or not _BEHIND_WORD.fullmatch(text[tag.end() : tag.end() + 1])
    ]


def _without_tags(text: str) -> str:
    pieces: list[str] = []
    at, hidden_name = 0, ""
    tags = _tags_in(text)
    with_math = any(tag[1].lower() == "math" for tag in tags)
    for tag in tags:
        name, closing = tag[1].lower(), tag[0].startswith("</")
        if not hidden_name:
            pieces.append(text[at : tag.start()])
        at = tag.end()
        # The TeX alternative is used only without a MathML tree.
        tree_follows = not tag[0].endswith("/>")
        alternative = _ALTERNATIVE.search(tag[0]) if name == "math" and not hidden_name else None
        if hidden_name:
            if not (closing and name == hidden_name):
                continue
            hidden_name = ""
        elif not closing and (name in _HIDDEN_ELEMENTS or (name == "tex-math" and with_math)):
            hidden_name = name
        elif alternative is not None and not ("\\" in alternative[0] and tree_follows):
            hidden_name = name if tree_follows else ""
            pieces += [_OPENS, (alternative[1] or alternative[2] or "").strip("$ ")]
            continue
        if name in BLOCKS:
            pieces.append(" ")
        elif name in _PHRASES:
            pieces.append(_CLOSES if closing else _OPENS)
    if hidden_name:  # an unclosed element: its content is more likely text
        return TAG.sub(" ", text)
    joined_text = _NESTED_MARKS.sub(lambda marks: marks[1], "".join((*pieces, text[at:])))
    return _MARKS.sub("", _CLOSED_IN_WORD.sub(" ", _OPENED_IN_WORD.sub(" ", joined_text)))


def _without_latex(text: str) -> str:
    text = _ACCENT.sub(_accent_letter, text)
    text = _LETTER.sub(lambda letter: _LETTERS[letter[1]], text)
    text = _ESCAPED_SIGN.sub(
        lambda match: match[1], _STYLE_COMMAND.sub(lambda match: match[1], text)
    )
    return _KEPT_CAPITALS.sub(lambda word: word[1], text)


def _accent_letter(match: Match[str]) -> str:
    letter = match[2] or match[4] or match[5]
    return letter + _ACCENTS[match[1] or match[3]]


_WORDS = bounded(r"[^\W_]+")
_MOST_PLACEHOLDER_WORDS = 24
_PLACEHOLDER_TEXT = """
a abstract abstracts access added an and announced applicable are article as at available be been by
click content contain contains currently data description disponible display displayed do does
document empty entry exist exists extract file for found from full given has have here html image in
include included increase information is it item kein keine large missing n na nan nil no none not
null of on online only or page paper pas pdf please present preview provided publication published
publisher record resume resumen résumé see sin size so source summary supplied tba tbd text the
there this to unavailable undefined unknown verfügbar view vorhanden was were with withheld without yet you
zusammenfassung
"""
_PLACEHOLDER_WORDS = frozenset(_PLACEHOLDER_TEXT.split())
_MISSING_TEXT = """
announced click empty kein keine missing n na nan nil no none not null pas preview see sin tba tbd
unavailable undefined unknown withheld without
"""
_MISSING_WORDS = frozenset(_MISSING_TEXT.split())
"""A text of placeholder words only, with one of these, is a placeholder."""
_HEADING = bounded(
    r"^[\[(]?(?:Abstract|ABSTRACT|abstract|Summary|SUMMARY)[\])]?"
    r"(?: ?[:.—–|] ?| - |(?=[A-Z][a-z]{0,20}\b)(?<=[tTyY])| (?=(?:Abstract|ABSTRACT|Summary|We|The"
    r"|This|These|In|A|An|Background|Objectives?|Purpose|Aims?|Introduction|Motivation|Context|Our"
    r"|To|For|Recent|Recently|Here|Although|While|With|On|It|There|Many|Most|As|By|From|Using"
    r"|Despite|When|How|Is|Are|Can|Do|Does|Why|What)\b))"
)
# Copyright notices at the end or the beginning of an abstract.
_NOTICE_CHARACTERS = 400
_NOTICE_WORDS = 45
_FEWEST_WORDS = 4
"""Minimum words after a leading notice; shorter rests belong to the notice."""
_NOTICE = bounded(
    r"(?:Crown )?(?:\b(?:Copyright|COPYRIGHT) ?)?(?:©|\([Cc]\) ?(?=\d{4}))"
    r"|\b(?:Copyright|COPYRIGHT) (?=\d{4})|\bThis article is protected by copyright"
    r"|\bAll rights reserved|\bPublished (?:\d{4} )?by (?=[A-Z])"
    r"|\bThis is an open[- ]access article"
)
_RIGHTS_HOLDER = bounded(
    r"rights reserved|Elsevier|Springer|Wiley|Press\b|\bLtd|\bInc\b|GmbH|\bB\.? ?V|Society|Author"
    r"|Publish|Nature|IEEE|ACM\b|Association|Francis|S[Aa][Gg][Ee]\b|MDPI|protected by|Institute"
    r"|licen[cs]e"
)
_YEAR_OR_AUTHOR = bounded(r"(?:1[89]|20)\d\d|Author")
_NOTICE_TEXT = """
a access all an and any article association attribution authors author b.v behalf by by-nc by-nc-nd
by-sa cited claim co commercial commons company conditions contributed copyright creative de der
distributed distribution domain employees exclusive for from government in inc is its journal
licence license licensed licensee licensees medium no non-commercial noncommercial of on open
original part permission permits press printed properly protected provided public published
publisher publishers publishing reproduced reprinted reproduction reserved rights see society terms
the their this to under university unrestricted us use used which with within work works
"""
_NOTICE_VOCABULARY = frozenset(_NOTICE_TEXT.split())
"""Lower-case words of notices; names are capitalized."""
_LEADING_NOTICE = bounded(
    r"^(?:Copyright )?© ?(?:\d{4}|The Authors?)[^.]{0,120}\.(?: ?[A-Z]\.)?"
    r"(?: (?:All rights reserved|Published by [^.]{0,80})\.){0,3}"
)


def plain_abstract(text: str, title: str = "") -> str | None:
    """Return an abstract as plain text, without headings and copyright notices.

    None for placeholders such as "No abstract available", a copyright notice, or the title.
    """
    text = plain_text(text)
    for _ in range(_PASSES):
        text = _HEADING.sub("", text)
    text_without_notice = _LEADING_NOTICE.sub("", text).strip()
    text = _without_notice(
        text_without_notice if len(text_without_notice.split()) > _FEWEST_WORDS else text
    )
    words = [word.casefold() for word in _WORDS.findall(text[: 40 * _MOST_PLACEHOLDER_WORDS])]
    if not any(any(sign.isalpha() for sign in word) for word in words):
        return None
    may_be_placeholder = len(words) == 1 or not _MISSING_WORDS.isdisjoint(words)
    if (
        may_be_placeholder
        and len(words) <= _MOST_PLACEHOLDER_WORDS
        and _PLACEHOLDER_WORDS.issuperset(words)
    ):
        return None
    title_words = [word.casefold() for word in _WORDS.findall(title)]
    return None if words == title_words else text


def _without_notice(text: str) -> str:
    tail = max(len(text) - _NOTICE_CHARACTERS, 0)
    for mark in _NOTICE.finditer(text[tail:]):
        before, notice = text[: tail + mark.start()].rstrip(), text[tail + mark.start() :]
        is_at_start = not before or before[-1] in '.!?)]"”*;'
        is_signed = "©" in mark[0] and _YEAR_OR_AUTHOR.search(notice[:80]) is not None
        if len(notice.split()) <= _NOTICE_WORDS and (
            (is_signed and is_at_start)
            or (
                (is_signed or (is_at_start and _RIGHTS_HOLDER.search(notice)))
                and _only_notice(notice)
            )
        ):
            return before
    return text


def _only_notice(text: str) -> bool:
    """Return whether a text consists of names, numbers, addresses and words of notices."""
    words = (word.strip(".,;:()[]'\"") for word in text.split())
    return all(
        not word[:1].islower() or "/" in word or word in _NOTICE_VOCABULARY for word in words
    )


SourceText = Annotated[str, AfterValidator(plain_text)]
