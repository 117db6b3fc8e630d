"""MkDocs hooks: pages generated from the code, pages of the repository's root, and a check that
the site loads nothing from another host.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from infra.site.reference import REFERENCE_PAGES

ROOT = Path(__file__).parents[2]
ROOT_PAGES = {
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "changelog.md": "CHANGELOG.md",
}
_LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]+src=[\"']?https?:|<link[^>]+stylesheet[^>]+https?:"
)


def on_files(files: Any, *, config: Any) -> Any:
    for name, generate in REFERENCE_PAGES.items():
        files.append(File.generated(config, f"reference/{name}", content=generate()))
    for name, source in ROOT_PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, name, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lead links to files of the repository's root to their pages of the site."""
    depth = page.file.src_uri.count("/")
    for name, source in ROOT_PAGES.items():
        markdown = markdown.replace(f"]({'../' * (depth + 1)}{source}", f"]({'../' * depth}{name}")
        if depth == 0:
            markdown = markdown.replace(f"]({source}", f"]({name}")
    return markdown


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    loaded = _LOADED.search(output)
    if loaded:
        raise PluginError(f"{page.file.src_uri} loads from another host: {loaded[0]}")
    return output
