"""The Markdown of drafts: Pandoc's, without anything that could act as LaTeX or HTML. A claim stands
in it as a span that bears its key.
"""

from schemas.naming import INVISIBLE

MARKDOWN = (
    "markdown-raw_html-raw_tex-raw_attribute-latex_macros-smart-tex_math_dollars"
    "-tex_math_single_backslash-tex_math_double_backslash-markdown_in_html_blocks"
)
"""The format's name, as Pandoc reads it."""
CLAIM_CLASS = "claim"
_ESCAPES = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>@$^~|&#!:=+-"})


def one_space(text: str) -> str:
    """`text` on one line without characters that are not seen."""
    return " ".join(INVISIBLE.sub(" ", text).split())


def escaped(text: str) -> str:
    """`text` on one line, so that no character of it acts as Markdown."""
    return one_space(text).translate(_ESCAPES)


def claim_span(key: str, shown: str) -> str:
    """A claim as it stands in a sentence."""
    return f'[{escaped(shown)}]{{.{CLAIM_CLASS} key="{key}"}}'
