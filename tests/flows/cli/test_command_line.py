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
from flows.cli.command_line import application, replace_what_cannot_be_shown, run_command
from flows.cli.terminal import SafeFormatter, set_verbosity
from schemas.errors import BudgetExhaustedError, ConfigurationError, SnapshotError, UpstreamError
from tests.flows.conftest import Assay
from tests.support.paper_files import paper_rows, write_parquet
from warehouse.run_log import EVENTS

INTERRUPTED = "interrupted; the same command resumes where this one stopped"


@pytest.fixture
def literature(tmp_path: Path) -> str:
    return f"snapshot:{write_parquet(tmp_path / 'papers.parquet', paper_rows(3))}"


def failing(error: BaseException) -> int:
    def command() -> None:
        raise error

    return run_command(command)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("evalute", "'evaluate'"),
        ("demo --colour", "--colour"),
        ("evaluate", "IDEAS"),
        ("demo --workers 0", "--workers"),
        ("demo --workers many", "--workers"),
        ("report --format odt", "'pdf', 'docx'"),
        ("report --format \x1b[31mred", "31mred"),
        ("evaluate ideas.jsonl --max-cost-usd -1", "--max-cost-usd"),
        ("warehouse exprot", "export"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(
    words: str, expected: str, assay: Assay
) -> None:
    ended = assay(*words.split(" "))
    (line,) = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout) == (EXIT_USAGE, "")
    assert expected in line
    assert "--help" in line
    assert "\x1b" not in line


@pytest.mark.parametrize("words", [(), ("literature",), ("warehouse",)], ids=str)
def test_a_group_without_a_command_prints_its_help_alone(words: tuple[str], assay: Assay) -> None:
    ended = assay(*words)
    assert (ended.returncode, ended.stderr) == (EXIT_USAGE, "")
    assert "Usage:" in ended.stdout


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (SnapshotError("the snapshot is empty"), EXIT_USAGE, "the snapshot is empty"),
        (UpstreamError("the source failed"), EXIT_FAILURES, "the source failed"),
        (BudgetExhaustedError("spent"), 3, "spent"),
        (
            PermissionError(13, "Permission denied", "/etc/report.md"),
            EXIT_USAGE,
            "/etc/report.md: Permission denied; check the path, its permissions and the disk",
        ),
        *(
            (
                OSError(code, os.strerror(code), "lake/catalog.sqlite"),
                EXIT_FAILURES,
                "the disk is full (lake/catalog.sqlite): free space, and the same command resumes",
            )
            for code in (errno.ENOSPC, errno.EDQUOT)
        ),
        (
            ConfigurationError("no such file \x1b]0;owned\x07\x9b31m\u202e.txt \ud800"),
            EXIT_USAGE,
            "no such file \ufffd]0;owned\ufffd\ufffd31m\ufffd.txt \ufffd",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_is_one_safe_line_and_sets_the_exit_code(
    error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(error) == code
    assert capsys.readouterr().err == f"assay: {line}\n"


def test_an_interrupted_query_of_the_lake_is_an_interrupted_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def query() -> None:
        raise RuntimeError("Query interrupted") from KeyboardInterrupt()

    monkeypatch.setattr("sys.argv", ["assay", "evaluate", "ideas.jsonl", "--json"])
    assert run_command(query) == EXIT_INTERRUPTED
    out, err = capsys.readouterr()
    assert err == f"assay: {INTERRUPTED}\n"
    answer = json.loads(out)
    assert (answer["state"], answer["warnings"]) == ("interrupted", [INTERRUPTED])


def test_a_name_that_mentions_a_full_disk_is_no_full_disk() -> None:
    assert failing(ConfigurationError("no run is called 'the disk is full'")) == EXIT_USAGE


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


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("ASSAY_LITERATURE__REQUESTS_PER_SECOND", "-1", "requests_per_second"),
        (
            "BRAVE_SEARCH_API_KEY",
            '"canary-0123456789"',
            "assay: setting BRAVE_SEARCH_API_KEY: begins with a quotation mark: remove it\n",
        ),
        ("ASSAY_LITERATURE", "live", "ASSAY_LITERATURE__"),
        ("ASSAY_API__IDLE_SECONDS", "9", "is ASSAY_API__TIMEOUT_SECONDS: unset it"),
        ("ASSAY_ALARMS__ENOUGH", "9", "is a constant now"),
        ("ASSAY_LITERATUR__TIMEOUT_SECONDS", "9", "does not exist: unset it"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_as_it_was_set(
    variable: str, value: str, line: str, assay: Assay
) -> None:
    ended = assay("doctor", **{variable: value})
    assert (ended.returncode, ended.stderr.count("\n")) == (EXIT_USAGE, 1)
    assert line in ended.stderr
    assert "canary" not in ended.stderr


def test_log_lines_and_tracebacks_cannot_steer_the_terminal() -> None:
    try:
        raise ValueError("\x1b[2J")
    except ValueError:
        record = logging.LogRecord(
            "a", logging.ERROR, "f", 1, "idea %s\nfailed", ("\x9b31m",), sys.exc_info()
        )
    line = SafeFormatter("%(message)s").format(record)
    assert not {"\x1b", "\x9b"} & set(line)
    assert line.startswith("idea \ufffd31m\nfailed\nTraceback")


def test_json_says_control_characters_in_escapes_and_means_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_answer("told", [{"title": "\x9b31m \x7f \u202e \x1b é"}])
    out = capsys.readouterr().out
    assert json.loads(out)["rows"] == [{"title": "\x9b31m \x7f \u202e \x1b é"}]
    assert not set(out) & set("\x9b\x7f\u202e\x1b")


def test_a_command_makes_its_home_for_its_user_alone(tmp_path: Path, assay: Assay) -> None:
    before = os.umask(0)
    try:
        assert assay("warehouse", "docs").returncode == EXIT_DONE
    finally:
        os.umask(before)
    folders = (tmp_path / "home", tmp_path / "home" / "prefect")
    assert {oct(path.stat().st_mode & 0o777) for path in folders} == {"0o700"}


def test_help_and_version_need_no_home(tmp_path: Path, assay: Assay) -> None:
    (tmp_path / "home").touch()
    for flag in ("-h", "--help", "-V", "--version"):
        ended = assay(flag)
        assert (ended.returncode, ended.stderr) == (EXIT_DONE, "")
    assert ended.stdout == f"assay {metadata.version('assay')}\n"
    refused = assay("warehouse", "docs")
    assert (refused.returncode, "ASSAY_HOME" in refused.stderr) == (EXIT_USAGE, True)


def test_with_assay_home_set_nobody_asks_for_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, assay: Assay
) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    assert assay("warehouse", "docs").returncode == EXIT_DONE


def test_a_participant_whose_key_nobody_has_yet_is_told_of(tmp_path: Path, assay: Assay) -> None:
    there = ("--warehouse", tmp_path)
    assert assay("accounts", "add", "ada", *there, stdin="a long password\n").returncode == 0
    for key, told in (("ada", False), ("adda", True)):
        said = assay("people", "add", "Ada", "--key", key, *there).stderr
        assert (f"no account or token is called '{key}'" in said) is told


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("evaluate --again --warehouse w", "--again has no value"),
        ("evaluate ideas.jsonl --warehouse --json", "--warehouse has no value"),
        ("ledger verify --warehouse --quiet", "--warehouse has no value"),
        ("ledger verify --head 5f1c", "--head '5f1c': write the whole hash, of 64 digits"),
        ("warehouse export x.csv --warehouse w", "assay sql"),
        ("dashboard --warehouse nowhere", "there is no folder nowhere"),
        ("tokens create x --scope voter --warehouse w", "votes are cast on the dashboard"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_makes_nothing(
    words: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assay: Assay
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = assay(*words.split())
    assert ended.returncode == EXIT_USAGE
    assert line in ended.stderr.splitlines()[-1]
    assert {path.name for path in tmp_path.iterdir()} <= {"home"}


def test_the_first_screen_shows_every_command_and_exit_code_on_one_screen(assay: Assay) -> None:
    screen = assay("--help").stdout
    lines = screen.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    explained = assay("--commands").stdout
    first = lines.index(next(line for line in lines if line.startswith("Evaluate ")))
    shown = {word for line in lines[first : lines.index("", first)] for word in line[20:].split()}
    assert shown == set(get_command(application()).commands)
    assert all(f"\n  {name} " in explained for name in shown)
    _, _, codes = " ".join(screen.split()).partition("Exit codes: ")
    named = {int(each.split()[0]) for each in codes.split("; ")}
    assert named == {code for name, code in vars(exit_codes).items() if name.startswith("EXIT_")}
    assert "voter" not in assay("tokens", "create", "--help").stdout


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


def test_a_mistyped_warehouse_is_not_taken_for_an_empty_one(tmp_path: Path, assay: Assay) -> None:
    mistyped = tmp_path / "wearhouse"
    line = f"assay: there is no folder {mistyped}: name that of the warehouse with --warehouse\n"
    for command in _OF_WHAT_IS_THERE:
        ended = assay(*command.split(), "--warehouse", mistyped)
        assert (ended.returncode, ended.stdout, ended.stderr) == (EXIT_USAGE, "", line), command
    assert not mistyped.exists()


@pytest.mark.parametrize("command", ["report", "rank", "sql", "warehouse verify", "jobs list"])
def test_the_warehouse_is_named_by_the_environment_too(
    command: str, tmp_path: Path, assay: Assay
) -> None:
    query = ["from runs"] if command == "sql" else []
    ended = assay(*command.split(), *query, ASSAY_WAREHOUSE=tmp_path / "elsewhere")
    assert "assay-warehouse" not in ended.stdout + ended.stderr
    assert str(tmp_path / "elsewhere") in ended.stderr


@pytest.mark.parametrize(("command", "questions"), [("ask", 1), ("survey", 1), ("survey", 2)])
def test_every_question_that_is_asked_is_one(
    command: str, questions: int, literature: str, tmp_path: Path, assay: Assay
) -> None:
    asked = [f"How do bats of kind {number} find moths?" for number in range(questions)]
    options = ("--literature", literature, "--warehouse", tmp_path / "w", "--dry-run", "--json")
    assert json.loads(assay(command, *asked, *options).stdout)["questions"] == questions


def test_the_quiet_command_says_its_answer_and_nothing_else(
    literature: str, tmp_path: Path, assay: Assay
) -> None:
    search = ("literature", "search", "report", "--literature", literature)
    jobs = ("jobs", "list", "--warehouse", tmp_path)
    for words, said in ((search, True), ((*search, "-q"), False), ((*jobs, "--quiet"), False)):
        home = tmp_path / f"home {said}"  # its index is not built yet
        assert (assay(*words, ASSAY_HOME=home).stderr != "") is said


@pytest.mark.parametrize(("ending", "begins"), [("md", b"# "), ("html", b"<!doc"), ("json", b"{")])
@pytest.mark.parametrize("words", ["literature search", "recommend"])
def test_what_was_looked_up_is_written_in_the_format_of_the_ending(
    words: str,
    ending: str,
    begins: bytes,
    literature: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    assay: Assay,
) -> None:
    monkeypatch.chdir(tmp_path)
    output = tmp_path / f"found.{ending}"
    asked = ("we parse rare languages with transfer from related ones", "-o", output)
    assay(*words.split(), *asked, "--literature", literature)
    assert output.read_bytes().lower().startswith(begins)


@pytest.mark.parametrize(
    "words", ["rank", "report", "sql from-runs", "prior --outcome funded --scale no,yes"]
)
def test_what_could_not_be_written_is_refused_before_any_work(
    words: str, tmp_path: Path, assay: Assay
) -> None:
    asked = (*words.split(), "--warehouse", tmp_path / "none", "-o")
    for place, line in (
        (tmp_path / "nowhere" / "ranking.csv", f"there is no folder {tmp_path / 'nowhere'}"),
        (tmp_path, f"{tmp_path} is a folder"),
    ):
        ended = assay(*asked, place)
        assert (ended.returncode, line in ended.stderr) == (EXIT_USAGE, True)


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
