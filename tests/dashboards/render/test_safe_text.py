"""Untrusted text shows its characters and does nothing else."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dashboards.render import page
from dashboards.render import prose as reading
from dashboards.render.formats.markdown import markdown, markdown_line
from dashboards.render.formats.markdown_blocks import markdown_parser, read_blocks
from dashboards.render.page import plain_text
from schemas.literature.naming import safe_url
from tasks.text.quotations import quotable

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
"""A careless reader: it lets HTML through, so anything that got past the escaping shows as a token.
"""

NASTY = st.text(
    alphabet="ab #*_`[]()<>|!\\~-+=1.):/&;\"'\n\t\u200b\u2028javascript", max_size=60
) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](http://e.example/x.png)",
        "[x]: http://e.example",
        "| a | b |\n|---|---|\n| c | d |",
        "# heading\n\n> quote\n\n    code\n\n```html\n<b>\n```",
        "a\n===\nb\n---",
        "&lt;script&gt; &#60;b&#62;",
        "`<b>` ``|`` **a** __b__ *c",
        "<!-- x --> <?php ?> <a href='x'>",
    ]
)


ONE_PARAGRAPH = {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}


def plain(text):
    return markdown_line(page.line(text))


def prose(text):
    return markdown(reading.prose(text))


def prose_line(text):
    return markdown_line(reading.prose_line(text))


def code(text):
    return markdown_line(page.line(page.code(text)))


def tokens_of(written):
    for token in READER.parse(written):
        yield token
        yield from token.children or ()


def text_of(html):
    texts = []
    reader = HTMLParser()
    reader.handle_data = texts.append
    reader.feed(html)
    reader.close()
    return "".join(texts)


@given(NASTY)
def test_plain_text_is_one_paragraph_that_shows_every_visible_character(text):
    shown = " ".join(re.sub("[\x00-\x1f\u200b\u2028]+", " ", text).split())
    assert {token.type for token in tokens_of(plain(text))} <= ONE_PARAGRAPH
    assert text_of(READER.render(plain(text))).strip() == shown


@given(NASTY, NASTY)
def test_plain_text_stays_inside_its_table_cell(first, second):
    table = f"| a | b |\n|---|---|\n| {plain(first)} | {prose_line(second)} |\n"
    kinds = [token.type for token in READER.parse(table)]
    assert kinds.count("td_open") == 2
    assert kinds[0] == "table_open"
    assert kinds[-1] == "table_close"


@given(NASTY)
def test_prose_makes_paragraphs_and_lists_and_nothing_else(text):
    allowed = {"paragraph", "bullet_list", "ordered_list", "list_item", "strong", "em", "link"}
    allowed |= {"inline", "text", "text_special", "code_inline"}
    for token in tokens_of(prose(text)):
        assert re.sub("_(open|close)$", "", token.type) in allowed
        if token.type == "link_open":
            assert re.match("https?://", token.attrs["href"])


WORDS = (
    *(
        "noise (p < 0.001, n > 30)",
        "the [MASK] token",
        "x_i",
        "a*b*c",
        "*odds*",
        "**so**",
        "`code`",
    ),
    *("\\alpha", "\\[x\\]", "[3]", "“inner”", "# 5", "- 1", "https://e.example/a_b"),
    *("[x](https://e.example)", "<b>", "&lt;", "| 3 |", "~~", "![y]", "\n", "$k$", "“", "”"),
)
SOURCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join) | NASTY.filter(
    str.strip
)


@given(SOURCES)
def test_a_quotation_is_shown_as_its_source_says_it_in_every_format(source):
    quotation = f"“{quotable(source)}”"
    shown = " ".join(re.sub("[\x00-\x1f\u200b\u2028]+", " ", quotation).split())
    for written in (prose(f"See {quotation} there"), prose_line(f"See {quotation} there")):
        html = markdown_parser().render(written)
        assert text_of(html).strip() == f"See {shown} there"
        (paragraph,) = read_blocks(written)
        assert plain_text(paragraph.line) == f"See {shown} there"


def test_a_reference_inside_a_quotation_stays_a_link():
    html = READER.render(prose_line("“*As* [(Li, 2023)](https://e.example/a) says”"))
    assert '“*As* <a href="https://e.example/a">(Li, 2023)</a> says”' in html


@given(st.text(max_size=80))
def test_any_text_at_all_can_be_printed(text):
    for written in (plain(text), prose(text), prose_line(text), code(text)):
        written.encode("utf-8")


@given(NASTY)
def test_code_is_a_code_span_or_plain_text(text):
    kinds = {token.type for token in tokens_of(f"x {code(text)} x")}
    assert kinds <= ONE_PARAGRAPH | {"code_inline"}


def test_citations_lists_and_emphasis_survive_in_prose():
    written = prose(
        "Works **well** ([no]) [(Li \\& Wu, 2023-05)](https://e.example/a_b).\n- one\n- two"
        " `x`\n\n## Then\n1. three"
    )
    html = READER.render(written)
    assert "<strong>well</strong>" in html
    assert '<a href="https://e.example/a_b">(Li &amp; Wu, 2023-05)</a>' in html
    assert html.count("<li>") == 3
    assert "<code>x</code>" in html
    assert "<strong>Then</strong>" in html
    assert "<h2>" not in html


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//e.example", "http://", "file:///etc/passwd",
     "ideas/x.html", "https://e.example/\x07", ""],
)  # fmt: skip
def test_only_web_addresses_become_links(url):
    assert safe_url(url) is None
    assert page.link("text", url) == page.Span("text")


def test_an_address_cannot_end_its_link():
    assert (
        safe_url("https://e.example/a)b (c) [d]|<e>")
        == "https://e.example/a%29b%20%28c%29%20%5Bd%5D%7C%3Ce%3E"
    )
