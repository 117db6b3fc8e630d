"""The notebook of the documentation runs as it stands, over the demo's lake."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.assay_command import rows
from tests.support.demo_run import DemoRun

pytestmark = pytest.mark.end_to_end

NOTEBOOK = Path(__file__).parents[2] / "docs" / "guides" / "ideas.ipynb"


def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text())["cells"]
    return found


@pytest.mark.long
def test_the_notebook_runs_from_its_first_cell_to_its_last(
    demo: DemoRun, bare_env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = Path(shutil.copytree(demo.untouched, tmp_path / "demo-warehouse"))
    code = ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]
    script = tmp_path / "cells.py"
    script.write_text("\n\n".join(code))
    done = subprocess.run(
        [sys.executable, script], env=bare_env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    ranked = rows(
        warehouse,
        "select count(distinct idea_id) as ideas from ratings"
        " where idea_id in ('measured', 'stated')",
    )
    assert ranked == [{"ideas": 2}]


def test_the_notebook_is_kept_without_what_it_printed() -> None:
    assert [cell["cell_type"] for cell in cells()][:2] == ["markdown", "code"]
    assert all(cell["outputs"] == [] for cell in cells() if cell["cell_type"] == "code")
