"""`python -m tests.idea_names` writes the tables in docs/guides/idea-files.md anew."""

import sys
from pathlib import Path

from tasks.ideas.names import CLOSING_SECTIONS, FIRST_FILLED, NAMES, OPENING_SECTIONS
from tasks.ideas.producers import PRODUCERS

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "idea-files.md"
_SECTIONS = {"opening": "a section", "closing": "a section"}


def names() -> str:
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


def producers() -> str:
    """The known producers with their fields, as a table of Markdown."""
    lines = []
    for each in PRODUCERS:
        by_meaning: dict[str, list[str]] = {}
        for name, meaning in each.fields.items():
            by_meaning.setdefault(_SECTIONS.get(meaning, meaning), []).append(f"`{name}`")
        fields = "; ".join(f"{meaning}: {', '.join(all_)}" for meaning, all_ in by_meaning.items())
        known_by = ", ".join(f"`{name}`" for name in each.known_by)
        lines.append(f"| {each.name} | {each.writes} | {known_by} | {fields} |")
    head = ["| producer | file | known by the fields | read as |", "|---|---|---|---|"]
    return "\n".join([*head, *lines, ""])


def with_table(page: str) -> str:
    """The page with the tables of today."""
    for mark, table in (("names", names()), ("producers", producers())):
        start, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
        before, _, rest = page.partition(start)
        page = f"{before}{start}{table}{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
