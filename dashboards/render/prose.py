"""Untrusted prose as values of a page.

Paragraphs, lists, emphasis, code and http(s) links are kept; everything else is shown as plain
characters. In a quotation in “…”, only links are kept: its words are those of others.
"""

from collections.abc import Iterator
from functools import lru_cache

from dashboards.render.page import Block, Line, Listing, Paragraph, Span, line, link
from schemas.literature.naming import one_space
from schemas.text.patterns import Match, Pattern, bounded, linear

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
_EMPHASIS_OR_LINK = bounded(r"[*\[\]`\\]")
# A report is written twice, as Markdown and as HTML.
_CACHE_SIZE = 4096

# The number of an item, `-` for a bullet, None for a paragraph.
_Mark = int | str | None


def prose(text: str) -> tuple[Block, ...]:
    """Parse `text` into paragraphs and flat lists.

    Headings become bold paragraphs. Fences, rules and quote marks are dropped; their content stays.
    """
    block_lines: list[tuple[_Mark, list[str]]] = []
    for each in text.splitlines():
        _take_line(block_lines, each.strip().lstrip("> \t"))
    blocks: list[Block] = []
    items: list[tuple[Block, ...]] = []
    first: _Mark = None
    for mark, lines in [*((mark, lines) for mark, lines in block_lines if lines), (None, [])]:
        if items and (mark is None or isinstance(mark, str) != isinstance(first, str)):
            blocks.append(Listing(tuple(items), first if isinstance(first, int) else None))
            items = []
        paragraph = Paragraph(_inline(one_space(" ".join(lines))))
        if mark is None and lines:
            blocks.append(paragraph)
        elif mark is not None:
            first = first if items else mark
            items.append((paragraph,))
    return tuple(blocks)


def prose_line(text: str) -> Line:
    """Parse `text` as one line of prose, for table cells and list items."""
    return _inline(one_space(" ".join(each.strip() for each in text.splitlines())))


def _take_line(block_lines: list[tuple[_Mark, list[str]]], words: str) -> None:
    """Add one line to `block_lines`; an empty list of lines ends a block."""
    if not words or _FENCE.fullmatch(words) or _RULE.fullmatch(words):
        block_lines.append((None, []))
    elif heading := _HEADING.fullmatch(words):
        bold = heading["heading"].rstrip("# \t").strip("* ")
        if bold and not _EMPHASIS_OR_LINK.search(bold):
            bold = f"**{bold}**"
        block_lines += [(None, [bold]), (None, [])]
    elif item := _ITEM.fullmatch(words):
        block_lines.append(("-" if item["bullet"] else int(item["number"]), [item["item"]]))
    elif block_lines:
        block_lines[-1][1].append(words)
    else:
        block_lines.append((None, [words]))


@lru_cache(_CACHE_SIZE)
def _inline(words: str) -> Line:
    return line(*_spans(words, _INLINE))


def _spans(words: str, pattern: Pattern) -> Iterator[Span]:
    end = 0
    for match in pattern.finditer(words):
        yield Span(words[end : match.start()])
        yield from _markup_spans(match)
        end = match.end()
    yield Span(words[end:])


def _markup_spans(match: Match[str]) -> Iterator[Span]:
    groups = match.groupdict()
    if groups["label"]:
        yield link(_ESCAPE.sub(r"\1", groups["label"]), groups["url"])
    elif groups["escaped"]:
        yield Span(groups["escaped"])
    elif groups["quotation"]:
        yield from _spans(groups["quotation"], _LINKS)
    elif groups["code"]:
        yield Span(groups["code"], code=True)
    elif groups["strong"]:
        yield Span(groups["strong"], strong=True)
    else:
        yield Span(groups["emphasis"], emphasis=True)
