"""What the README and the pages of docs/ tell people to type is understood; what they name is
there.
"""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from flows.cli.command_line import application
from infra.site.reference import REFERENCE_PAGES

REPOSITORY = Path(__file__).parents[2]
PAGES = (
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "SECURITY.md",
    REPOSITORY / "infra/skill/assay/SKILL.md",
    *sorted(page for page in (REPOSITORY / "docs").glob("**/*.md") if "examples" not in page.parts),
)
README = "\n".join(page.read_text("utf-8") for page in PAGES)
RECIPE = REPOSITORY / "infra" / "recipes" / "github-action.yaml"
COMMAND = get_command(application())
_FENCE = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?:flows|tasks|warehouse|schemas|dashboards|infra|tests)/[\w./-]*")


def assay_lines() -> list[str]:
    """Every command of the pages, without its comment, once; in prose two words name a command
    only.
    """
    blocks = [line for block in _FENCE.findall(README) for line in block.splitlines()]
    spans = [span for span in _INLINE.findall(_FENCE.sub("", README)) if len(span.split()) > 2]
    jobs = yaml.safe_load(RECIPE.read_text())["jobs"].values()
    recipe = [step.get("run", "") for job in jobs for step in job["steps"]]
    return list(
        dict.fromkeys(
            line.split("  #")[0].strip()
            for line in (*blocks, *spans, *recipe)
            if line.startswith("assay ")
        )
    )


def named_paths() -> list[str]:
    """Paths of this repository that the README names; a path with a placeholder counts up to its
    folder.
    """
    spans = [span for span in _INLINE.findall(README) if "<" not in span]
    blocks = [word for block in _FENCE.findall(README) for word in block.split()]
    return list(dict.fromkeys(word for word in (*spans, *blocks) if _PATH.fullmatch(word)))


def test_the_readme_shows_commands_and_paths() -> None:
    assert len(assay_lines()) >= 8
    assert len(named_paths()) >= 10


@pytest.mark.parametrize("line", assay_lines())
def test_every_command_of_the_readme_is_understood(line: str) -> None:
    words = shlex.split(line)[1:]
    command = COMMAND
    context = command.make_context(
        "assay",
        [words[0]] if words[0] in ("literature", "warehouse") else words,
        resilient_parsing=True,
    )
    while words and hasattr(command, "get_command"):
        found = command.get_command(context, words[0])
        assert found is not None, f"no command {words[0]}"
        command, words = found, words[1:]
    command.make_context("assay", list(words))


@pytest.mark.parametrize("path", named_paths())
def test_every_path_of_the_readme_exists(path: str) -> None:
    assert (REPOSITORY / path).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_links_to_files_that_exist(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", prose)
    generated = {REPOSITORY / "docs" / "reference" / name for name in REFERENCE_PAGES}
    missing = [link for link in links if not (page.parent / link).exists()]
    assert [link for link in missing if (page.parent / link).resolve() not in generated] == []


def test_every_topic_has_its_paragraph_in_the_architecture_page() -> None:
    page = (REPOSITORY / "docs/design/architecture.md").read_text("utf-8")
    told = set(re.findall(r"\*\*`tasks/(\w+)/`\*\*", page))
    assert told == {path.parent.name for path in (REPOSITORY / "tasks").glob("*/__init__.py")}


def python_of_the_pages() -> str:
    """What the page and the notebook for Python have people run."""
    page = (REPOSITORY / "docs/guides/python.md").read_text("utf-8")
    cells = json.loads((REPOSITORY / "docs/guides/ideas.ipynb").read_text("utf-8"))["cells"]
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return "\n".join((*blocks, *("".join(each["source"]) for each in cells)))


@pytest.mark.parametrize(
    ("module", "name"),
    re.findall(
        r"^from ((?:flows|tasks|warehouse|schemas|dashboards)[\w.]*) import (.+)$",
        python_of_the_pages(),
        re.MULTILINE,
    ),
)
def test_what_the_pages_for_python_import_is_there(module: str, name: str) -> None:
    found = import_module(module)
    assert all(hasattr(found, each.strip()) for each in name.split(","))
