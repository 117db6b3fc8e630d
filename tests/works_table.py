"""The tables of docs/design/architecture.md: the fields of a declared kind of work, and who sets each.

python -m tests.works_table     writes them anew
"""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from schemas.work_schema import WorkSchema
from schemas.works.registry import work_schemas
from tasks.work.declaration import Expected, Result, Work
from tasks.works import works
from tests.model_costs.__main__ import rewritten

PAGE = Path(__file__).parents[1] / "docs" / "design" / "architecture.md"
BEGIN = "<!-- works: python -m tests.works_table writes what follows -->\n"
END = "<!-- end of works -->\n"
RETURNED = (Expected, Result)
"""What functions of a declaration give, whose fields are not set in it."""


def main() -> None:
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")


def with_table(page: str) -> str:
    """The page with its tables made anew."""
    return rewritten(page, BEGIN, END, tables())


def tables() -> str:
    """The fields of a declaration and of its schema, and how many there are with all they hold."""
    declared, schemas = _fields(Work), _fields(WorkSchema)
    returned = {each.__name__: list(_fields(each)) for each in RETURNED}
    told = "; ".join(f"`{name}`: {', '.join(names)}" for name, names in returned.items())
    count = sum(map(len, (declared, schemas, *returned.values())))
    return "\n".join(
        [
            *_table(Work, declared, works(), lambda work: work.name),
            "",
            "Its schema, as a module of `schemas/works/` declares it:",
            "",
            *_table(WorkSchema, schemas, work_schemas(), lambda schema: schema.word),
            "",
            f"What functions of a declaration give has fields too. {told}.",
            f"These are {count} fields: {len(declared)} of a declaration, {len(schemas)} of a schema, the"
            " others of what functions give.",
            "",
        ]
    )


def _fields(kind: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


def _table(
    of: type[Any],
    names: Iterable[str],
    all_of_them: Iterable[Any],
    called: Callable[[Any], str],
) -> list[str]:
    """A row for each field: what it says, and the kinds that set it."""
    meanings, everyone = dict(_meanings(of)), list(all_of_them)
    defaults = {field.name: _default(field) for field in dataclasses.fields(of)}
    lines = ["| field | says | set by |", "|---|---|---|"]
    for name in names:
        by = [called(each) for each in everyone if getattr(each, name) != defaults[name]]
        who = "all" if len(by) == len(everyone) else ", ".join(by)
        lines.append(f"| `{name}` | {meanings[name]} | {who} |")
    return lines


def _default(field: dataclasses.Field[Any]) -> Any:
    made = field.default_factory
    return field.default if made is dataclasses.MISSING else made()


def _meanings(of: type[Any]) -> Iterator[tuple[str, str]]:
    attributes = (inspect.getdoc(of) or "").partition("Attributes:")[2]
    joined = re.sub(r"\n {8,}", " ", attributes)
    for names, meaning in re.findall(r"^ {4}([a-z_, ]+): (.+)$", joined, re.MULTILINE):
        for name in names.split(", "):
            yield name, meaning.rstrip(".")


if __name__ == "__main__":
    main()
