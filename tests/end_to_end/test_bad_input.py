"""Each mistake gives one clear line, the right exit code, and nothing lost.

Commands that end before any work are called in this process: they start none.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.cli.command_line import application, run_command
from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import assay, evaluation, rows
from tests.support.demo_run import DemoRun

pytestmark = pytest.mark.end_to_end

GOOD = bundled_file("ideas.jsonl").read_text().splitlines()


def complaint(stderr: str) -> str:
    """The one line meant for the user; no traceback beside it."""
    assert "Traceback" not in stderr
    (line,) = [line for line in stderr.splitlines() if line.startswith("assay: ")]
    return line


Refused = Callable[..., str]


@pytest.fixture
def refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Refused:
    """Gives a command that is to end with exit code 2; returns all it said."""
    for name in ("ASSAY_HOME", "PREFECT_HOME"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp(name)))

    def given(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        code = run_command(lambda: application()(prog_name="assay", standalone_mode=False))
        out, err = capsys.readouterr()
        assert code == 2, err
        assert out == ""
        return err

    return given


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("ideas.jsonl", b"", "empty"),
        ("ideas.csv", "text\né".encode("utf-32"), "utf-8"),
        ("ideas.csv", b"name,colour\na,red\n", "text"),
        ("ideas.docx", b"PK", "jsonl"),
        ("nothing.jsonl", None, "does not exist"),
    ],
)
def test_an_idea_file_that_cannot_be_read_is_one_line_and_exit_code_2(
    name: str, content: bytes | None, expected: str, refused: Refused, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    said = refused("evaluate", str(tmp_path / name), "--warehouse", str(tmp_path / "w"))
    assert expected in complaint(said).lower()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--profile", "frugal"], "economy"),
        (["--engine", "gpt"], "litellm:"),
        (["--literature", "snapshot:/nowhere.parquet"], "does not exist"),
        (["--literature", "snapshot:empty.jsonl"], "empty.jsonl"),
        (["--literature", "http://127.0.0.1:9"], "127.0.0.1:9"),
        (["--modules", "taste"], "soundness"),
        (["--cutoff", "soon"], "YYYY-MM-DD"),
        (["--scheduler", "tcp://127.0.0.1:9"], "dask scheduler"),
        (["--engine", "litellm:openai/none", "--api-base", "http://127.0.0.1:9/v1"], "127.0.0.1:9"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_wrong_option_is_one_line_and_exit_code_2(
    arguments: list[str],
    expected: str,
    refused: Refused,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-test")
    monkeypatch.chdir(tmp_path)
    Path("empty.jsonl").touch()
    ideas, warehouse = str(bundled_file("ideas.jsonl")), str(tmp_path / "w")
    said = refused("evaluate", ideas, "--warehouse", warehouse, *arguments)
    assert expected in complaint(said)
    assert "sk-secret-test" not in said


def test_bad_ideas_are_in_failures_and_the_good_ones_are_evaluated(
    bare_env: dict[str, str], tmp_path: Path
) -> None:
    first = json.loads(GOOD[0])
    nothing = {"title": "", "problem": "", "experiment": ""}
    taken = "Another text under an identifier that is taken already, an idea of its own by length."
    changes: list[dict[str, str]] = [
        {"idea_id": "one-word", "method": "Transformers", **nothing},
        {"idea_id": "no-date", "cutoff_date": "next spring"},
        {"idea_id": "five-megabytes", "problem": "word " * 1_000_000},
        {"method": taken},
    ]
    bad = [*(json.dumps(first | each) for each in changes), "{this is not json"]
    ideas = tmp_path / "mixed.jsonl"
    ideas.write_text("\n".join([GOOD[0], *bad, GOOD[5]]) + "\n")
    warehouse = tmp_path / "w"
    command = evaluation(ideas, warehouse, "--modules", "soundness", "--json")
    done = assay(*command, env=bare_env)
    assert done.returncode == 1, done.stderr
    run = json.loads(done.stdout)["run"]
    assert (run["idea_count"], run["evaluated_count"], run["rejected_count"]) == (2, 2, 5)
    rejected = rows(warehouse, "select * from failures where stage = 'read_ideas'")
    assert len(rejected) == 5
    assert all("\n" not in row["detail"] and row["detail"] for row in rejected)


def test_sql_that_may_not_run_is_one_line_and_exit_code_2(demo: DemoRun, refused: Refused) -> None:
    complaint(refused("sql", "drop table runs", "--warehouse", str(demo.warehouse)))


def test_a_warehouse_without_runs_says_what_to_do(refused: Refused, tmp_path: Path) -> None:
    for command in (["rank"], ["report"], ["sql", "from runs"]):
        said = refused(*command, "--warehouse", str(tmp_path / "none"))
        assert "assay evaluate" in complaint(said)
