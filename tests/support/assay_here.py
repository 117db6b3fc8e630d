"""`assay` in this process: for commands whose start and end are not what a test is about."""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from os import environ
from pathlib import Path
from unittest.mock import patch

import pytest

from flows.cli.command_line import application, run_command


def assay_here(
    *arguments: str, env: dict[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """What `assay` of `tests.support.assay_command` gives, without the seconds of a start."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        patch.dict(environ, env, clear=True),
        patch.object(sys, "argv", ["assay", *arguments]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run_command(
            lambda: application(*arguments[:1])(prog_name="assay", standalone_mode=False)
        )
    said, complained = (
        stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
        for stream in (out, err)
    )
    return subprocess.CompletedProcess(arguments, code, said, complained)


def run(*words: str) -> int:
    """The exit code of `assay WORDS` in this folder and environment; output is where it goes."""
    with patch.object(sys, "argv", ["assay", *words]):
        return run_command(lambda: application(words[0])(prog_name="assay", standalone_mode=False))


def settle(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in `folder`, whose home is of its own, with a key for a model that is asked once."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ASSAY_HOME", str(folder / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__STRUCTURED_OUTPUT", "json_schema")
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__MAXIMUM_ATTEMPTS", "1")
