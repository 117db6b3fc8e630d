"""Reference pages of the site, generated from the code while the site is built."""

import asyncio
import inspect
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from typer.main import get_command

from flows.api.application import application as api_application
from flows.api.mcp_server import LOCAL, mcp_server
from flows.api.service import Service, open_service
from flows.cli.command_line import SECTIONS, application, commands_of
from flows.profiles import load_profile, shipped_profiles
from schemas.reasons import Reason
from schemas.settings import Settings
from warehouse.app.database import ServiceDatabase
from warehouse.dictionary import data_dictionary
from warehouse.statements import meaning, names, statement
from warehouse.warehouse import Warehouse

HELP_COLUMNS = 96
PYTHON_API = (
    "flows.run.session.Session",
    "flows.run.requests.request_of",
    "schemas.options.commands.RunOptions",
    "schemas.options.commands.RankOptions",
    "schemas.settings.Settings",
    "warehouse.warehouse.Warehouse",
    "warehouse.console.console.run_sql",
    "warehouse.console.console.run_sql_to_arrow",
    "schemas.errors.AssayError",
    "schemas.errors.ConfigurationError",
    "schemas.errors.IdeaFileError",
    "schemas.errors.PublicationError",
)


def index() -> str:
    rows = (f"- [{text}]({name})" for name, (text, _) in _PAGES.items())
    return "\n".join(
        (
            "# Reference",
            "",
            "These pages are generated from the code of this version; the list of dependencies is"
            " measured on installation.",
            "",
            *rows,
            "- [Dependencies](dependencies.md): every direct dependency with its reason, license,"
            " size and import time",
            "",
        )
    )


def commands() -> str:
    """Return the help text of every command, by group."""
    root: Any = get_command(application())
    context = root.make_context("assay", [], resilient_parsing=True)
    context.terminal_width = context.max_content_width = HELP_COLUMNS
    parts = [
        "# Commands and options",
        "Each section is the text of `assay COMMAND --help`. `--warehouse` is accepted by every"
        " command that reads or writes the lake, `--json` and `-o FILE` by every command that"
        " prints an answer, `--dry-run` by every command that can cost money.",
        "| exit code | meaning |\n|--:|---|\n"
        "| 0 | done |\n"
        "| 1 | more ideas unscored or entries rejected than allowed |\n"
        "| 2 | wrong usage or configuration; one line on stderr |\n"
        "| 3 | budget reached |\n"
        "| 4 | waits for people |\n"
        "| 130 | interrupted |",
    ]
    for folder, title in SECTIONS.items():
        parts.append(f"## {title}")
        for name in commands_of(folder):
            parts += _help(root.commands[name], f"assay {name}", context)
    return "\n\n".join(parts) + "\n"


def _help(command: Any, path: str, parent: Any) -> Iterator[str]:
    context = command.make_context(path.split()[-1], [], parent=parent, resilient_parsing=True)
    yield f"### {path}\n\n```text\n{command.get_help(context).rstrip()}\n```"
    for name, each in getattr(command, "commands", {}).items():
        yield from _help(each, f"{path} {name}", context)


def profiles() -> str:
    """Return every parameter with its value in each shipped profile."""
    loaded = {name: load_profile(name) for name in shipped_profiles()}
    parts = [
        "# Profiles",
        "A profile sets every parameter of the method. A profile of your own is a TOML file that"
        ' begins with `extends = "economy"` and holds what differs; `--profile FILE` uses it.',
    ]
    parts += [f"- **{name}**: {each.description}" for name, each in loaded.items()]
    sections: dict[str, list[str]] = {"": []}
    model = type(next(iter(loaded.values())))
    for name, field in model.model_fields.items():
        if name in ("name", "description"):
            continue
        values = [getattr(each, name) for each in loaded.values()]
        if isinstance(values[0], BaseModel):
            rows = sections.setdefault(name, [])
            for inner, described in type(values[0]).model_fields.items():
                inner_values = [getattr(each, inner) for each in values]
                rows.append(_row(inner, inner_values, described.description))
        else:
            sections[""].append(_row(name, values, field.description))
    for title, rows in sections.items():
        heading = f"## [{title}]" if title else "## Top level"
        parts.append(f"{heading}\n\n{_table(('parameter', *loaded, 'meaning'), rows)}")
    return "\n\n".join(parts) + "\n"


def settings() -> str:
    """Return every environment variable with its default and meaning."""
    parts = [
        "# Settings",
        "Settings are environment variables, read once when a command starts.",
    ]
    top: list[str] = []
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if inspect.isclass(section) and issubclass(section, BaseModel):
            rows = [
                _row(f"ASSAY_{name}__{inner}".upper(), [_default(each)], each.description)
                for inner, each in section.model_fields.items()
            ]
            about = " ".join((section.__doc__ or "").split())
            parts.append(
                f"## {name.replace('_', ' ').capitalize()}\n\n{about}\n\n{_table(_OF_SETTINGS, rows)}"
            )
        else:
            names_read = getattr(field.validation_alias, "choices", [f"assay_{name}"])
            label = "` or `".join(dict.fromkeys(str(each).upper() for each in names_read))
            top.append(_row(label, [_default(field)], field.description))
    parts.insert(2, f"## Keys and places\n\n{_table(_OF_SETTINGS, top)}")
    return "\n\n".join(parts) + "\n"


def _default(field: Any) -> Any:
    return field.get_default(call_default_factory=True) if not field.is_required() else None


_OF_SETTINGS = ("variable", "default", "meaning")


def _table(columns: Sequence[str], rows: Sequence[str]) -> str:
    heads = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return "\n".join([*heads, *rows])


def _row(name: str, values: list[Any], description: str | None) -> str:
    cells = [f"`{name}`", *map(_value, values), (description or "").replace("|", "\\|")]
    return "| " + " | ".join(" ".join(each.split()) for each in cells) + " |"


def _value(value: Any) -> str:
    if value is None or value is PydanticUndefined or value in ((), {}, ""):
        return "–"
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, (tuple, list)):
        value = ", ".join(map(str, value))
    if isinstance(value, bool):
        value = str(value).lower()
    return f"`{value}`".replace("|", "\\|").replace(str(Path.home()), "~")


def marts() -> str:
    """Return the marts of the data dictionary and example queries."""
    _, _, text = data_dictionary().partition("## Marts\n")
    text, _, _ = text.partition("## Checks of publications")
    parts = [
        "# Marts and example queries",
        "Marts are views over the [tables](tables.md), and the place to start. `assay sql QUERY`"
        " runs a query, `-o FILE` writes the result as CSV, Excel or Parquet.",
    ]
    for name in names("examples"):
        sql = statement("examples", name)
        query = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
        parts.append(f"**{meaning(sql)}**\n\n```sql\n{query.strip()}\n```")
    return "\n\n".join(parts) + "\n\n" + text.replace("### ", "## ")


def tables() -> str:
    """Return the tables, the checks and the closed list of reasons."""
    text = data_dictionary()
    every = "one of " + ", ".join(each.value for each in Reason)
    text = text.replace(every, "one of the [reasons](#reasons)")
    text = text.replace("# Data dictionary", "# Tables", 1)
    before, _, rest = text.partition("## Marts\n")
    checks = rest.partition("## Checks of publications")[2]
    reasons = [f"| `{each.value}` | {each.sentence} | {each.passes} |" for each in Reason]
    return (
        before.replace("## Tables\n\n", "")
        .replace("\n### ", "\n## ")
        .replace("Generated by `assay warehouse docs` from the table definitions. ", "")
        + "## Checks of publications"
        + checks
        + "\n## Reasons\n\nWhy something is missing, and whether it passes.\n\n"
        + _table(("reason", "sentence", "passes"), reasons)
        + "\n"
    )


def http_api() -> str:
    """Return the routes of the API with their parameters and bodies."""
    schema = _openapi()
    parts = [
        "# HTTP API",
        "`assay api` serves these routes; the guide [HTTP and MCP](../guides/api.md) explains"
        " tokens, limits and status codes. `/openapi.json` of the server is the schema itself.",
    ]
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            parts.append(f"## {method.upper()} {path}")
            parts.append(" ".join(route.get("description", route.get("summary", "")).split()))
            rows = [
                f"| `{each['name']}` | {each['in']} | {'yes' if each.get('required') else ''} |"
                f" {_one_line(each.get('description', ''))} |"
                for each in route.get("parameters", ())
            ]
            if rows:
                parts.append(_table(("parameter", "in", "required", "meaning"), rows))
            parts += _body(route, schema["components"]["schemas"])
    return "\n\n".join(parts) + "\n"


def _openapi() -> dict[str, Any]:
    from starlette.testclient import TestClient

    with _empty_service() as service:
        app, _ = api_application(service)
        client = TestClient(app, base_url="http://127.0.0.1")
        answer: dict[str, Any] = client.get("/openapi.json").json()
        return answer


@contextmanager
def _empty_service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Warehouse(Path(folder))
        with ServiceDatabase(warehouse) as database:
            yield open_service(warehouse, database, "")


def _body(route: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    content = route.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    properties = schemas.get(name, {}).get("properties", {})
    required = schemas.get(name, {}).get("required", ())
    rows = [
        f"| `{field}` | {'yes' if field in required else ''} |"
        f" {_one_line(each.get('description', ''))} |"
        for field, each in properties.items()
    ]
    if rows:
        yield _table(("field of the body", "required", "meaning"), rows)


def mcp() -> str:
    """Return the tools of the MCP server."""
    with _empty_service() as service:
        tools = asyncio.run(mcp_server(service, lambda _: LOCAL).list_tools())  # type: ignore[arg-type,return-value]
    parts = [
        "# MCP tools",
        "`assay mcp` serves these tools on standard input and output, `assay api` and `assay"
        " dashboard` under `/mcp`.",
    ]
    for tool in tools:
        parts.append(f"## {tool.name}\n\n{' '.join((tool.description or '').split())}")
        fields = _input_schema(tool)
        required = fields.get("required", ())
        rows = [
            f"| `{name}` | {'yes' if name in required else ''} |"
            f" {_one_line(each.get('description', ''))} |"
            for name, each in fields.get("properties", {}).items()
        ]
        if rows:
            parts.append(_table(("argument", "required", "meaning"), rows))
    return "\n\n".join(parts) + "\n"


def _input_schema(tool: Any) -> dict[str, Any]:
    schema: dict[str, Any] = getattr(tool, "input_schema", None) or tool.inputSchema
    return schema


def python() -> str:
    """Return signatures and docstrings of the objects that programs import."""
    parts = [
        "# Python",
        "The guide [From Python](../guides/python.md) shows them in use.",
    ]
    for path in PYTHON_API:
        module, _, name = path.rpartition(".")
        thing = getattr(import_module(module), name)
        parts.append(f"## {name}\n\n```python\nfrom {module} import {name}\n```")
        parts.append(inspect.cleandoc(thing.__doc__ or ""))
        if inspect.isclass(thing) and issubclass(thing, BaseModel) and thing is not Settings:
            rows = [
                _row(field, [_default(each)], each.description)
                for field, each in thing.model_fields.items()
            ]
            parts.append(_table(("field", "default", "meaning"), rows))
        elif not inspect.isclass(thing):
            parts.append(f"```python\n{name}{inspect.signature(thing)}\n```")
        else:
            parts += [f"- `{each}`" for each in _methods(thing)]
    return "\n\n".join(parts) + "\n"


def _methods(thing: type) -> Iterator[str]:
    for name, each in vars(thing).items():
        if not name.startswith("_") and inspect.isfunction(inspect.unwrap(each)):
            yield f"{name}{inspect.signature(each)}"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "commands.md": ("Commands and options", commands),
    "profiles.md": ("Profiles", profiles),
    "settings.md": ("Settings", settings),
    "marts.md": ("Marts and example queries", marts),
    "tables.md": ("Tables, checks and reasons", tables),
    "http-api.md": ("HTTP API", http_api),
    "mcp.md": ("MCP tools", mcp),
    "python.md": ("Python", python),
}
REFERENCE_PAGES = {"index.md": index} | {name: generate for name, (_, generate) in _PAGES.items()}
