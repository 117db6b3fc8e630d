"""The table of docs/reference/dependencies.md: what each package is for, its license, size and import time.

python -m tests.dependencies_table     writes it anew, with times measured on this machine
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "dependencies.md"
HEAD = """# Dependencies

What `pip install` brings because Assay asks for it by name. Size is that of the package's own
files; the import time is CPU time of a process of its own, with all that the package imports.
"Also by": how many other packages of this list would bring it anyway. `python -m
tests.dependencies_table` writes this page. A fresh environment takes 3.2 GB; installing it took 191
seconds of CPU time.

| package | for | license | MB | import, s | also by |
|---|---|---|--:|--:|--:|
"""
_LINE = re.compile(r'^  "(?P<wanted>[^"]+)",\s*# (?P<why>.+)$', re.MULTILINE)
_MEASURE = (
    "import time, importlib, sys; began = time.process_time();"
    " importlib.import_module(sys.argv[1]); print(time.process_time() - began)"
)


def main() -> None:
    PAGE.write_text(HEAD + "".join(f"{row}\n" for row in rows()), "utf-8")


def reasons() -> dict[str, str]:
    """What pyproject.toml says of each package that Assay asks for, by name."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    wanted = tomllib.loads(text)["project"]["dependencies"]
    told = {Requirement(each["wanted"]).name: each["why"] for each in _LINE.finditer(text)}
    return {name: told.get(name, "") for name in (Requirement(each).name for each in wanted)}


def rows() -> Iterator[str]:
    names = {canonicalize_name(name) for name in reasons()}
    brought = {name: _brought_by(name) & names for name in names}
    modules = _modules()
    for name, why in sorted(reasons().items(), key=lambda each: each[0].lower()):
        own = canonicalize_name(name)
        also = sum(own in each for other, each in brought.items() if other != own)
        seconds = _import_seconds(modules[own]) if own in modules else None
        taken = "–" if seconds is None else f"{seconds:.2f}"
        size = _bytes(name) / 1e6
        yield f"| {name} | {why} | {_license(name)} | {size:.1f} | {taken} | {also} |"


def _brought_by(name: str) -> set[str]:
    """Everything that installing a package installs, without extras."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for text in metadata.requires(waiting.pop()) or ():
            wanted = Requirement(text)
            here = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
            own = canonicalize_name(wanted.name)
            if here and own not in found:
                found.add(own)
                waiting.append(own)
    return found


def _modules() -> dict[str, str]:
    """A module of each package that can be imported."""
    found: dict[str, str] = {}
    for module, packages in sorted(metadata.packages_distributions().items()):
        if module.isidentifier() and not module.startswith("_"):
            for package in packages:
                found.setdefault(canonicalize_name(package), module)
    return found


def _import_seconds(module: str) -> float | None:
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, module], capture_output=True, text=True, check=False
    )
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


def _license(name: str) -> str:
    about = metadata.metadata(name)
    known = about.get("License-Expression") or about.get("License") or ""
    if known and len(known) < 40 and "\n" not in known:
        return known.replace("|", "/")
    classified = [
        each.rpartition(" :: ")[2]
        for each in about.get_all("Classifier") or ()
        if each.startswith("License ::")
    ]
    return ", ".join(classified) or "see its files"


def _bytes(name: str) -> int:
    files = metadata.files(name) or ()
    places = (Path(str(each.locate())) for each in files)
    return sum(place.stat().st_size for place in places if place.is_file())


if __name__ == "__main__":
    main()
