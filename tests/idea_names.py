"""`python -m tests.idea_names` writes the table of names in docs/guides/idea-files.md anew."""

import sys
from pathlib import Path

from tasks.ideas.names import CLOSING_SECTIONS, FIRST_FILLED, NAMES, OPENING_SECTIONS

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "idea-files.md"
_START, _END = "<!-- names -->\n", "<!-- /names -->"


def table() -> str:
    """The names of each part, as a table of Markdown."""
    rows = {
        **NAMES,
        "text, where there is none": FIRST_FILLED,
        "a section before the parts": OPENING_SECTIONS,
        "a section after the parts": CLOSING_SECTIONS,
    }
    lines = [
        f"| {part} | {', '.join(f'`{name.replace(chr(95), chr(32))}`' for name in names)} |"
        for part, names in rows.items()
    ]
    return "\n".join(["| read as | names |", "|---|---|", *lines, ""])


def with_table(page: str) -> str:
    """The page with the table of today."""
    before, _, rest = page.partition(_START)
    return f"{before}{_START}{table()}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
