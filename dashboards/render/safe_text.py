"""Untrusted text as Markdown that can neither open HTML nor change the structure of the page around
it.

Ideas, papers and engines write what they like. `plain` shows their characters as they are; `prose`
keeps paragraphs, lists, emphasis, code and http(s) links, each written anew, and shows everything
else as characters. Of a quotation in “…”, whose words are those of others, it keeps links alone.
"""

from functools import lru_cache

from schemas.literature.naming import INVISIBLE, safe_url
from schemas.text.patterns import Match, Pattern, bounded, linear

_SPECIAL = bounded(r"([\\`*_\[\]<>&|~@]|(?<!\S)#)")
_BARE_ADDRESS = bounded(r"(?i)(://)|\b(www)\.")
_BLOCK_START = bounded(r"^(?:([+=-])(?=[\s=-]|$)|(\d{1,9})([.)])(?=\s|$))")

_LINK = r"(?<!!)\[(?P<label>(?:\\.|[^\[\]\\]){1,600})\]\((?P<url>https?://[^\s()<>]{1,2000})\)"
_LINKS = bounded(_LINK)
_INLINE = bounded(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<quotation>“[^“”]{1,2000}”)"
    rf"|{_LINK}"
    r"|(?<!`)`(?P<code>[^`|\s](?:[^`|]{0,198}[^`|\s])?)`(?!`)"
    r"|(?<!\*)\*\*(?P<strong>[^\s*\[\]`\\](?:[^*\[\]`\\]{0,398}[^\s*\[\]`\\])?)\*\*(?!\*)"
    r"|(?<![*\w])\*(?P<emphasis>[^\s*\[\]`\\](?:[^*\[\]`\\]{0,398}[^\s*\[\]`\\])?)\*(?![*\w])"
)
_ESCAPE = bounded(r"\\([!-/:-@\[-`{-~])")
_FENCE = bounded(r"(?:`{3,}|~{3,})[^`]*")
_RULE = linear(r"(?:[-*_=]\s*){3,}")
_HEADING = bounded(r"#{1,6}\s++(?P<heading>.*)")
_ITEM = bounded(r"(?:(?P<bullet>[-*+•])|(?P<number>\d{1,9})[.)])\s++(?P<item>.*)")
_UNFIT_FOR_A_SPAN = bounded(r"[`|]")
_EMPHASIS_OR_LINK = bounded(r"[*\[\]`\\]")


class Markdown(str):
    """Text that is Markdown of our own making: the templates print it as it is, and escape every
    other string.
    """

    __slots__ = ()


_KEPT = 4096
"""Texts whose Markdown is kept: a report is written twice, as Markdown and as HTML."""


@lru_cache(_KEPT)
def plain(text: str) -> Markdown:
    """`text` on one line, every character of it shown as itself."""
    one_line = " ".join(INVISIBLE.sub(" ", text).split())
    return Markdown(_BLOCK_START.sub(_escape_block_start, _escape(one_line)))


def prose(text: str) -> Markdown:
    """`text` as paragraphs and flat lists.

    Headings become bold paragraphs; fences, rules and quote marks go, their content stays.
    """
    blocks: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        _take_line(blocks, line.strip().lstrip("> \t"))
    written = [(mark, mark + _inline(" ".join(lines))) for mark, lines in blocks if lines]
    parts: list[str] = []
    for number, (mark, block) in enumerate(written):
        in_list = number > 0 and bool(mark) and _kind(mark) == _kind(written[number - 1][0])
        parts.append(("\n" if in_list else "\n\n" if number else "") + block)
    return Markdown("".join(parts))


def prose_line(text: str) -> Markdown:
    """`text` as one line of prose, for table cells and list items."""
    return _inline(" ".join(line.strip() for line in text.splitlines()))


def code(text: str) -> Markdown:
    """`text` as a code span, or as plain text where a span could not hold it."""
    fits = bool(text.strip()) and not _UNFIT_FOR_A_SPAN.search(text) and not INVISIBLE.search(text)
    return Markdown(f"`{text.strip()}`") if fits else plain(text)


def link(text: str, url: str) -> Markdown:
    """A link to `url`, or the text alone unless `url` is an http(s) address."""
    address = safe_url(url)
    return Markdown(f"[{plain(text)}]({address})") if address else plain(text)


def _escape(text: str) -> str:
    return _BARE_ADDRESS.sub(
        lambda match: r"\://" if match[1] else rf"{match[2]}\.", _SPECIAL.sub(r"\\\1", text)
    )


def _escape_block_start(match: Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"


def _take_line(blocks: list[tuple[str, list[str]]], line: str) -> None:
    """Add one line to `blocks`, each a mark (`- `, `1. ` or none) and its lines."""
    if not line or _FENCE.fullmatch(line) or _RULE.fullmatch(line):
        blocks.append(("", []))
    elif heading := _HEADING.fullmatch(line):
        blocks += [("", [_bold(heading["heading"])]), ("", [])]
    elif item := _ITEM.fullmatch(line):
        blocks.append(("- " if item["bullet"] else f"{item['number']}. ", [item["item"]]))
    elif blocks:
        blocks[-1][1].append(line)
    else:
        blocks.append(("", [line]))


def _bold(heading: str) -> str:
    words = heading.rstrip("# \t").strip("* ")
    return f"**{words}**" if words and not _EMPHASIS_OR_LINK.search(words) else words


def _kind(mark: str) -> str:
    return mark[-2:] if mark else ""


@lru_cache(_KEPT)
def _inline(text: str) -> Markdown:
    """One line: links, emphasis and code written anew, the rest escaped."""
    one_line = " ".join(INVISIBLE.sub(" ", text).split())
    return Markdown(_BLOCK_START.sub(_escape_block_start, _rewritten(one_line, _INLINE)))


def _rewritten(text: str, kept: Pattern) -> str:
    """`text` with the matches of `kept` written anew, the rest escaped."""
    parts: list[str] = []
    end = 0
    for match in kept.finditer(text):
        parts += [_escape(text[end : match.start()]), _written(match)]
        end = match.end()
    return "".join([*parts, _escape(text[end:])])


def _written(match: Match[str]) -> str:
    groups = match.groupdict()
    if groups["label"]:
        return link(_ESCAPE.sub(r"\1", groups["label"]), groups["url"])
    if groups["escaped"]:
        return f"\\{groups['escaped']}"
    if groups["quotation"]:
        return _rewritten(groups["quotation"], _LINKS)
    if groups["code"]:
        return f"`{groups['code']}`"
    if groups["strong"]:
        return f"**{_escape(groups['strong'])}**"
    return f"*{_escape(groups['emphasis'])}*"
