"""Each mistake gives one clear line, the right exit code, and nothing lost."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.request import bundled
from tests.end_to_end.conftest import DemoRun
from tests.support.assay_command import assay, rows

pytestmark = pytest.mark.end_to_end

GOOD = bundled("ideas.jsonl").read_text().splitlines()


def complaint(stderr: str) -> str:
    """The one line meant for the user; no traceback beside it."""
    assert "Traceback" not in stderr
    (line,) = [line for line in stderr.splitlines() if line.startswith("assay: ")]
    return line


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


BAD_FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "empty file": (lambda folder: written(folder / "ideas.jsonl", b""), "empty"),
    "unreadable encoding": (
        lambda folder: written(folder / "ideas.csv", "text\né".encode("utf-16")),
        "UTF-8",
    ),
    "missing columns": (
        lambda folder: written(folder / "ideas.csv", b"name,colour\na,red\n"),
        "text",
    ),
    "unknown kind": (lambda folder: written(folder / "ideas.docx", b"PK"), "JSONL"),
    "no such file": (lambda folder: folder / "nothing.jsonl", "does not exist"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_an_idea_file_that_cannot_be_read_is_one_line_and_exit_code_2(
    case: str, env: dict[str, str], tmp_path: Path
) -> None:
    make, expected = BAD_FILES[case]
    done = assay("evaluate", str(make(tmp_path)), "--warehouse", str(tmp_path / "w"), env=env)
    assert done.returncode == 2, done.stderr
    assert expected.lower() in complaint(done.stderr).lower()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--profile", "frugal"], "economy"),
        (["--engine", "gpt"], "litellm:"),
        (["--literature", "snapshot:/nowhere.parquet"], "does not exist"),
        (["--literature", "http://127.0.0.1:9"], "127.0.0.1:9"),
        (["--modules", "taste"], "soundness"),
        (["--cutoff", "soon"], "YYYY-MM-DD"),
        (["--scheduler", "tcp://127.0.0.1:9"], "dask scheduler"),
        (["--engine", "litellm:openai/none", "--api-base", "http://127.0.0.1:9/v1"], "127.0.0.1:9"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_wrong_option_is_one_line_and_exit_code_2(
    arguments: list[str], expected: str, env: dict[str, str], tmp_path: Path
) -> None:
    done = assay(
        "evaluate",
        str(bundled("ideas.jsonl")),
        "--warehouse",
        str(tmp_path / "w"),
        *arguments,
        env={**env, "OPENAI_API_KEY": "sk-secret-test"},
    )
    assert done.returncode == 2, done.stderr
    line = complaint(done.stderr)
    assert expected in line
    assert "sk-secret-test" not in done.stderr + done.stdout


def test_an_empty_snapshot_is_one_line_and_exit_code_2(env: dict[str, str], tmp_path: Path) -> None:
    empty = written(tmp_path / "papers.jsonl", b"")
    done = assay(
        "evaluate",
        str(bundled("ideas.jsonl")),
        "--warehouse",
        str(tmp_path / "w"),
        "--literature",
        f"snapshot:{empty}",
        env=env,
    )
    assert done.returncode == 2, done.stderr
    assert "papers.jsonl" in complaint(done.stderr)


def test_unknown_commands_and_options_are_usage_errors(env: dict[str, str]) -> None:
    assert assay("evalute", env=env).returncode == 2
    assert assay("demo", "--colour", env=env).returncode == 2


def test_bad_ideas_are_in_failures_and_the_good_ones_are_evaluated(
    env: dict[str, str], tmp_path: Path
) -> None:
    first = json.loads(GOOD[0])
    bad = [
        json.dumps(
            {
                **first,
                "idea_id": "one-word",
                "title": "",
                "problem": "",
                "method": "Transformers",
                "experiment": "",
            }
        ),
        json.dumps({**first, "idea_id": "no-date", "cutoff_date": "next spring"}),
        json.dumps({**first, "idea_id": "five-megabytes", "problem": "word " * 1_000_000}),
        json.dumps(
            {
                **first,
                "method": (
                    "Another text under an identifier that is taken already, long enough to be an"
                    " idea of its own."
                ),
            }
        ),
        "{this is not json",
    ]
    ideas = tmp_path / "mixed.jsonl"
    ideas.write_text("\n".join([GOOD[0], *bad, GOOD[5]]) + "\n")
    warehouse = tmp_path / "w"
    options = ["--literature", f"snapshot:{bundled('papers.jsonl')}", "--json"]
    done = assay("evaluate", str(ideas), "--warehouse", str(warehouse), *options, env=env)
    assert done.returncode == 1, done.stderr
    run = json.loads(done.stdout)["run"]
    assert (run["idea_count"], run["evaluated_count"], run["rejected_count"]) == (2, 2, 5)
    rejected = rows(warehouse, "select * from failures where stage = 'read_ideas'")
    assert len(rejected) == 5
    assert all("\n" not in row["detail"] and row["detail"] for row in rejected)


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('/etc/passwd')",
        "copy (select 1) to '/tmp/assay-should-not-exist.csv'",
        "attach '/tmp/other.duckdb' as other",
        "drop table runs",
        "insert into runs select * from runs",
        "select * from no_such_table",
        "selekt 1",
    ],
)
def test_sql_that_may_not_run_is_one_line_and_exit_code_2(
    query: str, demo: DemoRun, env: dict[str, str]
) -> None:
    done = assay("sql", query, "--warehouse", str(demo.warehouse), env=env)
    assert done.returncode == 2, done.stdout
    complaint(done.stderr)
    assert not Path("/tmp/assay-should-not-exist.csv").exists()


def test_a_warehouse_without_runs_says_what_to_do(env: dict[str, str], tmp_path: Path) -> None:
    for command in (["rank"], ["report"], ["sql", "from runs"]):
        done = assay(*command, "--warehouse", str(tmp_path / "none"), env=env)
        assert done.returncode == 2, (command, done.stdout)
        assert "assay evaluate" in complaint(done.stderr)
