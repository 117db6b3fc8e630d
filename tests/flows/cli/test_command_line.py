"""What the user can mend is one line and exit code 2; what commands print can be read and piped."""

import errno
import io
import json
import logging
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.main import get_command

from flows.cli import answer as exit_codes
from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, EXIT_INTERRUPTED, EXIT_USAGE, print_answer
from flows.cli.command_line import (
    application,
    replace_what_cannot_be_shown,
    run_command,
)
from flows.cli.terminal import SafeFormatter, set_verbosity
from schemas.errors import BudgetExhaustedError, ConfigurationError, SnapshotError, UpstreamError
from tests.support.paper_files import paper_rows, write_parquet
from warehouse.run_log import EVENTS


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path_factory.mktemp("prefect")))


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["assay", *arguments])
    return run_command(lambda: application()(standalone_mode=False))


def failing(error: BaseException) -> int:
    def command() -> None:
        raise error

    return run_command(command)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["evalute"], "'evaluate'"),
        (["demo", "--colour"], "--colour"),
        (["evaluate"], "IDEAS"),
        (["demo", "--workers", "0"], "--workers"),
        (["demo", "--workers", "many"], "--workers"),
        (["report", "--format", "odt"], "'pdf', 'docx'"),
        (["evaluate", "ideas.jsonl", "--max-cost-usd", "-1"], "--max-cost-usd"),
        (["warehouse", "exprot"], "export"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_wrong_usage_is_one_line_that_names_the_help(
    arguments: list[str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == EXIT_USAGE
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert expected in line
    assert "--help" in line
    assert out == ""


@pytest.mark.parametrize(
    "arguments", [[], ["literature"], ["warehouse"]], ids=lambda value: " ".join(value) or "assay"
)
def test_a_group_without_a_command_prints_its_help_and_nothing_else(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *arguments) == EXIT_USAGE
    out, err = capsys.readouterr()
    assert "Usage:" in out
    assert err == ""


def test_the_version_is_the_installed_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--version") == EXIT_DONE
    assert capsys.readouterr().out == f"assay {metadata.version('assay')}\n"


def test_exit_codes_follow_the_kind_of_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(SnapshotError("the snapshot is empty")) == EXIT_USAGE
    assert failing(UpstreamError("the source failed")) == EXIT_FAILURES
    assert failing(BudgetExhaustedError("spent")) == 3
    assert capsys.readouterr().err.splitlines() == [
        "assay: the snapshot is empty",
        "assay: the source failed",
        "assay: spent",
    ]


def test_what_the_file_system_refuses_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(PermissionError(13, "Permission denied", "/etc/report.md")) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "/etc/report.md" in line
    assert "Permission denied" in line


def test_an_interrupted_query_of_the_lake_is_an_interrupted_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def query() -> None:
        raise RuntimeError("Query interrupted") from KeyboardInterrupt()

    assert run_command(query) == EXIT_INTERRUPTED
    assert (
        capsys.readouterr().err
        == "assay: interrupted; the same command resumes where this one stopped\n"
    )


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(OSError(code, os.strerror(code), "lake/catalog.sqlite")) == EXIT_FAILURES
    message = (
        "assay: the disk is full (lake/catalog.sqlite): free space, and the same command resumes"
    )
    assert capsys.readouterr().err == f"{message}\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_characters_that_a_terminal_lacks_become_question_marks(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding) for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    replace_what_cannot_be_shown()
    print_answer("in_order", warnings=("a – b",))
    sys.stdout.write("─ row\n")
    sys.stdout.flush()
    *answer, table = streams["stdout"].buffer.getvalue().splitlines()
    assert json.loads(b"".join(answer))["warnings"] == ["a – b"], "documents are UTF-8"
    assert table == b"? row"


def test_an_interrupted_command_says_so_in_its_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["assay", "evaluate", "ideas.jsonl", "--json"])
    assert failing(KeyboardInterrupt()) == EXIT_INTERRUPTED
    answer = json.loads(capsys.readouterr().out)
    assert answer["state"] == "interrupted"
    assert answer["warnings"] == ["interrupted; the same command resumes where this one stopped"]


def test_a_setting_out_of_bounds_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_LITERATURE__REQUESTS_PER_SECOND", "-1")
    assert run(monkeypatch, "doctor") == EXIT_USAGE
    assert "requests_per_second" in capsys.readouterr().err


def test_a_key_that_cannot_be_sent_is_named_as_it_was_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", '"canary-0123456789"')
    assert run(monkeypatch, "runs", "list", "--warehouse", str(tmp_path)) == EXIT_USAGE
    told = "assay: setting BRAVE_SEARCH_API_KEY: begins with a quotation mark: remove it\n"
    assert capsys.readouterr().err == told


def test_a_section_set_as_a_whole_says_how_its_fields_are_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_LITERATURE", "live")
    assert run(monkeypatch, "doctor") == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "ASSAY_LITERATURE__" in line


def test_an_error_that_quotes_control_characters_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        failing(ConfigurationError("no such file \x1b]0;owned\x07\x9b31m\u202e.txt \ud800"))
        == EXIT_USAGE
    )
    assert (
        capsys.readouterr().err
        == "assay: no such file \ufffd]0;owned\ufffd\ufffd31m\ufffd.txt \ufffd\n"
    )


def test_an_option_that_holds_control_characters_cannot_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "report", "--format", "\x1b[31mred") == EXIT_USAGE
    assert "\x1b" not in capsys.readouterr().err


def test_log_lines_and_tracebacks_cannot_steer_the_terminal() -> None:
    try:
        raise ValueError("\x1b[2J")
    except ValueError:
        record = logging.LogRecord(
            "a", logging.ERROR, "f", 1, "idea %s\nfailed", ("\x9b31m",), sys.exc_info()
        )
    line = SafeFormatter("%(message)s").format(record)
    assert "\x1b" not in line
    assert "\x9b" not in line
    assert line.startswith("idea \ufffd31m\nfailed\nTraceback")


def test_json_says_control_characters_in_escapes_and_means_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_answer("told", [{"title": "\x9b31m \x7f \u202e \x1b é"}])
    out = capsys.readouterr().out
    assert json.loads(out)["rows"] == [{"title": "\x9b31m \x7f \u202e \x1b é"}]
    assert not set(out) & set("\x9b\x7f\u202e\x1b")


def test_a_command_makes_its_home_for_its_user_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "home" / "prefect"))
    before = os.umask(0)
    try:
        assert run(monkeypatch, "warehouse", "docs") == EXIT_DONE
    finally:
        os.umask(before)
    assert {
        oct(path.stat().st_mode & 0o777)
        for path in (tmp_path / "home", tmp_path / "home" / "prefect")
    } == {"0o700"}


@pytest.mark.parametrize("flag", ["-h", "--help", "-V", "--version"])
def test_help_and_version_need_no_home(
    flag: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("PREFECT_HOME")
    assert run(monkeypatch, flag) == EXIT_DONE
    assert capsys.readouterr().err == ""
    assert run(monkeypatch, "warehouse", "docs") == EXIT_USAGE
    assert "ASSAY_HOME" in capsys.readouterr().err


def test_with_assay_home_set_nobody_asks_for_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    assert run(monkeypatch, "warehouse", "docs") == EXIT_DONE


def test_a_participant_whose_key_nobody_has_yet_is_told_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = ("--warehouse", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
    assert run(monkeypatch, "accounts", "add", "ada", *there) == EXIT_DONE
    capsys.readouterr()
    for key, told in (("ada", False), ("adda", True)):
        assert run(monkeypatch, "people", "add", "Ada", "--key", key, *there) == EXIT_DONE
        assert (f"no account or token is called '{key}'" in capsys.readouterr().err) is told


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("evaluate --again --warehouse w", "--again"),
        ("evaluate ideas.jsonl --warehouse --json", "--warehouse"),
        ("ledger verify --warehouse --quiet", "--warehouse"),
    ],
)
def test_an_option_is_not_taken_for_the_value_of_the_one_before(
    words: str,
    missing: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *words.split()) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{missing} has no value" in line


def test_half_of_a_hash_is_not_taken_for_a_ledger_that_was_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "ledger", "verify", "--head", "5f1c") == EXIT_USAGE
    assert "--head '5f1c': write the whole hash, of 64 digits" in capsys.readouterr().err


def test_the_help_names_every_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == EXIT_DONE
    _, _, told = " ".join(capsys.readouterr().out.split()).partition("Exit codes: ")
    named = {int(each.split()[0]) for each in told.split("; ")}
    assert named == {code for name, code in vars(exit_codes).items() if name.startswith("EXIT_")}


def test_the_first_screen_shows_every_command_in_its_group_on_one_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == EXIT_DONE
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert run(monkeypatch, "--commands") == EXIT_DONE
    explained = capsys.readouterr().out
    first = lines.index(next(line for line in lines if line.startswith("Evaluate ")))
    shown = {word for line in lines[first : lines.index("", first)] for word in line[20:].split()}
    assert shown == set(get_command(application()).commands)
    assert all(f"\n  {name} " in explained for name in shown)


def test_a_token_of_a_voter_is_refused_and_not_offered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create = ("tokens", "create", "x", "--scope", "voter", "--warehouse", str(tmp_path / "wh"))
    assert run(monkeypatch, *create) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "--scope voter: votes are cast on the dashboard" in line
    assert not (tmp_path / "wh").exists()
    assert run(monkeypatch, "tokens", "create", "--help") == EXIT_DONE
    assert "voter" not in capsys.readouterr().out


_OF_WHAT_IS_THERE = (
    "accounts list",
    "accounts role ada voter",
    "accounts remove ada",
    "tokens list",
    "tokens revoke abc",
    "people list",
    "people forget p-000000000000",
    "inbox",
    "decide abc approve",
    "vote --by p-000000000000 --choice a",
    "votes",
    "jobs list",
)


@pytest.mark.parametrize("command", _OF_WHAT_IS_THERE)
def test_a_mistyped_warehouse_is_not_taken_for_an_empty_one(
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mistyped = tmp_path / "wearhouse"
    assert run(monkeypatch, *command.split(), "--warehouse", str(mistyped)) == EXIT_USAGE
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == (
        "",
        [f"assay: there is no folder {mistyped}: name that of the warehouse with --warehouse"],
    )
    assert not mistyped.exists()


@pytest.mark.parametrize("command", ["report", "rank", "sql", "warehouse verify", "jobs list"])
def test_the_warehouse_is_named_by_the_environment_too(
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ASSAY_WAREHOUSE", str(tmp_path / "elsewhere"))
    query = ["from runs"] if command == "sql" else []
    run(monkeypatch, *command.split(), *query)
    out, err = capsys.readouterr()
    assert "assay-warehouse" not in out + err
    assert str(tmp_path / "elsewhere") in err


@pytest.mark.parametrize(("command", "questions"), [("ask", 1), ("survey", 1), ("survey", 2)])
def test_every_question_that_is_asked_is_one(
    command: str,
    questions: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_parquet(tmp_path / "papers.parquet", paper_rows(3))
    literature = ("--literature", f"snapshot:{tmp_path / 'papers.parquet'}")
    asked = [f"How do bats of kind {number} find moths?" for number in range(questions)]
    told = ("--warehouse", str(tmp_path / "w"), "--dry-run", "--json")
    assert run(monkeypatch, command, *asked, *literature, *told) == EXIT_DONE
    assert json.loads(capsys.readouterr().out)["questions"] == questions


def test_the_quiet_command_says_its_answer_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(tmp_path / "papers.parquet", paper_rows(3))
    literature = f"snapshot:{tmp_path / 'papers.parquet'}"
    search = ("literature", "search", "report", "--literature", literature)
    jobs = ("jobs", "list", "--warehouse", str(tmp_path))
    for words, said in ((search, True), ((*search, "-q"), False), ((*jobs, "--quiet"), False)):
        monkeypatch.setenv(
            "ASSAY_HOME", str(tmp_path / f"home {said}")
        )  # its index is not built yet
        run(monkeypatch, *words)
        assert (capsys.readouterr().err != "") is said


@pytest.mark.parametrize(("ending", "begins"), [("md", b"# "), ("html", b"<!doc"), ("json", b"{")])
@pytest.mark.parametrize("words", ["literature search", "recommend"])
def test_what_was_looked_up_is_written_in_the_format_of_the_ending(
    words: str, ending: str, begins: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_parquet(tmp_path / "papers.parquet", paper_rows(3))
    output, literature = tmp_path / f"found.{ending}", f"snapshot:{tmp_path / 'papers.parquet'}"
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    asked = ("we parse rare languages with transfer from related ones", "-o", str(output))
    run(monkeypatch, *words.split(), *asked, "--literature", literature)
    assert output.read_bytes().lower().startswith(begins)


def test_an_error_of_a_command_that_answers_in_json_is_json_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("rank", "--json", "--warehouse", str(tmp_path / "none"))
    assert run(monkeypatch, *arguments) == EXIT_USAGE
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert (answer["state"], answer["rows"]) == ("error", [])
    assert err == f"assay: {answer['error']}\n"


def test_the_lake_is_exported_into_a_database_file_and_nothing_that_is_called_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "warehouse", "export", str(tmp_path / "x.csv")) == EXIT_USAGE
    assert "assay sql" in capsys.readouterr().err
    assert not (tmp_path / "x.csv").exists()


def test_a_dashboard_of_a_folder_that_is_not_there_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "dashboard", "--warehouse", str(tmp_path / "nowhere")) == EXIT_USAGE
    assert f"there is no folder {tmp_path / 'nowhere'}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["rank", "report", "sql", "prior"])
def test_what_could_not_be_written_is_refused_before_any_work(
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"sql": ["select 1"], "prior": ["--outcome", "funded", "--scale", "no,yes"]}
    file = tmp_path / "nowhere" / "ranking.csv"
    arguments = [*more.get(command, []), "--warehouse", str(tmp_path / "none"), "-o"]
    assert run(monkeypatch, command, *arguments, str(file)) == EXIT_USAGE
    assert f"there is no folder {file.parent}" in capsys.readouterr().err
    assert run(monkeypatch, command, *arguments, str(tmp_path)) == EXIT_USAGE
    assert f"{tmp_path} is a folder" in capsys.readouterr().err


def test_the_talkative_command_tells_each_event_with_what_it_knows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_verbosity(quiet=False, verbose=True)
    EVENTS.warning("%s planned", "run", extra={"to_do_count": 2, "engine": ""})
    set_verbosity(quiet=False, verbose=False)
    EVENTS.warning("run ended")
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\dZ run planned; to do count 2", line)


def test_the_help_page_is_printed_without_what_commands_work_with() -> None:
    program = (
        "import sys; from flows.cli.command_line import application; application();"
        " print(*{'polars', 'httpx', 'jinja2', 'prefect', 'grobid_client'} & sys.modules.keys())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == []
