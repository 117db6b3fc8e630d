"""The command `assay` in this process, in an environment of its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.assay_command import environment
from tests.support.assay_here import assay_here

Assay = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """Run a command without keys, with a home below `tmp_path`; keywords are variables."""

    def run(
        *words: object, stdin: str = "", **variables: Any
    ) -> "subprocess.CompletedProcess[str]":
        told = {name: str(value) for name, value in variables.items()}
        env = environment(tmp_path / "home") | told
        return assay_here(*map(str, words), env=env, stdin=stdin)

    return run
