"""The pages of the site that are generated from the code, and its table of contents."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.cli.command_line import COMMANDS, GROUPS
from flows.profiles import load_profile
from infra.site.reference import REFERENCE_PAGES
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.tables import TABLES
from tasks.works import WORKS, works
from warehouse.statements import MARTS

ROOT = Path(__file__).parents[2]
SITE = ROOT / "infra" / "site"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: generate() for name, generate in REFERENCE_PAGES.items()}


def test_every_command_has_its_section(pages: dict[str, str]) -> None:
    named = {*COMMANDS, *WORKS, *GROUPS}
    assert [name for name in named if f"### assay {name}\n" not in pages["commands.md"]] == []


def test_every_parameter_of_a_profile_and_every_setting_is_listed(pages: dict[str, str]) -> None:
    profile = load_profile("economy")
    sections = [name for name, value in profile if hasattr(value, "model_fields")]
    assert [name for name in sections if f"## [{name}]" not in pages["profiles.md"]] == []
    sections = [name for name, value in Settings() if hasattr(value, "model_fields")]
    variables = [f"ASSAY_{name}__".upper() for name in sections]
    assert [name for name in variables if name not in pages["settings.md"]] == []


def test_every_table_mart_and_reason_is_listed(pages: dict[str, str]) -> None:
    assert [each.name for each in TABLES if f"## `{each.name}`" not in pages["tables.md"]] == []
    assert [each for each in Reason if f"| `{each.value}` |" not in pages["tables.md"]] == []
    assert [name for name in MARTS if f"## `{name}`" not in pages["marts.md"]] == []


def test_every_kind_of_work_has_its_route_and_its_tool(pages: dict[str, str]) -> None:
    jobs = [work.job for work in works()]
    routes = [f"## POST /v1/jobs/{job.name_of_command()}" for job in jobs]
    assert [route for route in routes if route not in pages["http-api.md"]] == []
    tools = [job.tool for job in jobs]
    assert [tool for tool in tools if f"## {tool}\n" not in pages["mcp.md"]] == []


def test_generated_pages_name_no_folder_of_this_machine(pages: dict[str, str]) -> None:
    folders = (str(ROOT), str(Path.home()))
    assert [name for name, text in pages.items() if any(each in text for each in folders)] == []


def test_the_table_of_contents_names_every_page() -> None:
    nav = yaml.safe_load((SITE / "mkdocs.yml").read_text("utf-8"))["nav"]
    written = {
        page.relative_to(ROOT / "docs").as_posix()
        for page in (ROOT / "docs").glob("**/*.md")
        if "examples" not in page.parts
    }
    generated = {f"reference/{name}" for name in REFERENCE_PAGES}
    of_root = {"contributing.md", "security.md", "changelog.md"}
    assert set(leaves(nav)) == written | generated | of_root


def leaves(node: Any) -> list[str]:
    """The pages of a part of the table of contents."""
    if isinstance(node, str):
        return [node]
    parts = node.values() if isinstance(node, dict) else node
    return [page for part in parts for page in leaves(part)]
