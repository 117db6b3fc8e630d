"""The table of docs/architecture.md: the fields of a declared kind of work, and who sets each.

python -m tests.works_table     writes it anew
"""

import dataclasses
import inspect
import re
from pathlib import Path

from tasks.work.declaration import Work
from tasks.works import works
from tests.model_costs.__main__ import rewritten

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
BEGIN = "<!-- works: python -m tests.works_table writes what follows -->\n"
END = "<!-- end of works -->\n"


def main() -> None:
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")


def with_table(page: str) -> str:
    """The page with its table made anew."""
    return rewritten(page, BEGIN, END, table())


def table() -> str:
    """A row for each field: what it says, and the kinds that set it."""
    lines = ["| field | says | set by |", "|---|---|---|"]
    meanings = _meanings()
    for field in dataclasses.fields(Work):
        by = [work.name for work in works() if getattr(work, field.name) != field.default]
        lines.append(f"| `{field.name}` | {meanings[field.name]} | {', '.join(by)} |")
    return "\n".join(lines) + "\n"


def _meanings() -> dict[str, str]:
    attributes = (inspect.getdoc(Work) or "").partition("Attributes:")[2]
    joined = re.sub(r"\n {8,}", " ", attributes)
    found = {}
    for names, meaning in re.findall(r"^ {4}([a-z_, ]+): (.+)$", joined, re.MULTILINE):
        for name in names.split(", "):
            found[name] = meaning.rstrip(".")
    return found


if __name__ == "__main__":
    main()
