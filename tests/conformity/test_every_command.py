"""What holds for every command: help that can be read and tried, and one shape of `--json`."""

import json
import shlex
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from flows.cli.command_line import GROUPS, application, run_command
from schemas.identifiers import RunId
from schemas.people.work_job import IDEAS
from schemas.works.registry import work_jobs
from schemas.works.survey_run import SURVEYS
from tasks.literature.snapshot.build import build_snapshot
from tests.support.answers import read_answer
from tests.support.paper_files import paper_rows, write_jsonl
from tests.support.reviewed_papers import FIRST_REVIEW, SECOND_REVIEW, peerread_folder
from tests.support.small_task import write_task
from tests.support.tiers import some
from tests.support.work_of_every_kind import WORKS, Work
from warehouse.ledger import parts_by_unit
from warehouse.units.kind import kind_of
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

IDEA = (
    "We will train a variational autoencoder on molecular fragments, compare it with the strongest"
    " published baseline, and repeat every measurement five times."
)
DECIDED = "".join(
    json.dumps(
        {"text": f"We {'prove' if n % 2 else 'survey'} claim {n} of list {n}.", "won": n % 2}
    )
    + "\n"
    for n in range(40)
)
PAPER = "A study of numbers\n\nAbstract\n\nOf 40 patients 12 (80 %) recovered.\n"
ANSWERS = {
    "evaluate": "evaluate ideas.jsonl --modules soundness --warehouse other",
    "plan": "plan ideas.jsonl",
    "rank": "rank run-a --scores",
    "vote": "vote --by p-000000000000 --choice a",
    "votes": "votes --by profiles",
    "prior": "prior decided.jsonl --outcome won --scale 0,1 --output prior.json",
    "benchmark": "benchmark agreement --data . --dry-run",
    "check": "check paper.txt --warehouse other",
    "survey": "survey 'protein interaction' --warehouse other",
    "ask": "ask 'protein interaction' --warehouse other",
    "curate": "curate reviewed --warehouse other",
    "experiment init": "experiment init pack",
    "experiment check": "experiment check tried",
    "experiment run": "experiment run tried --warehouse other",
    "ideate": "ideate ideas.jsonl --warehouse other",
    "write": "write idea.md --warehouse other",
    "report": "report run-a",
    "doctor": "doctor",
    "runs list": "runs list",
    "runs show": "runs show run-a",
    "runs compare": "runs compare run-a run-a",
    "runs delete": "runs delete run-a --yes",
    "runs expire": "runs expire --yes",
    "literature search": "literature search protein",
    "literature audit": "literature audit papers-index",
    "recommend": "recommend ideas.jsonl --idea a --literature snapshot:papers-index",
    "jobs list": "jobs list",
    "accounts add": "accounts add ada@example.org --role voter --without-password",
    "accounts list": "accounts list",
    "tokens create": "tokens create notebook --scope submitter",
    "tokens list": "tokens list",
    "people add": "people add Ada",
    "people list": "people list",
    "request": "request run-a --of p-000000000000",
    "inbox": "inbox",
    "decide": "decide none approve",
    "export": "export --ro-crate run-a",
    "ledger verify": "ledger verify",
    "warehouse export": "warehouse export lake.duckdb",
    "warehouse compact": "warehouse compact",
    "warehouse validate": "warehouse validate",
    "warehouse verify": "warehouse verify",
    "warehouse move-data": "warehouse move-data file:",
}
ANSWERS |= {
    name: f"{name} ideas.jsonl --warehouse other"
    for name, job in work_jobs().items()
    if name not in {*ANSWERS, *GROUPS} and job.command_line.arguments == (IDEAS,)
}
"""A kind of work over a file of ideas is tried as all of them are."""
MORE_ANSWERS = ("report run-a --idea idea-00000", "report run-a --ranking")
SLOW = ("evaluate", "plan", "prior", "survey", "curate", "experiment run", "write")
"""What these print is read by tests of their own too."""
ANSWERS_ELSEWHERE = {
    "demo": "tests/end_to_end/test_demo.py",
    "warehouse move-catalogue": "tests/end_to_end/test_shared_catalogue.py",
}
A_LIST = {"sql"}
"""As the contract of names has it; its errors are answers all the same."""


def commands(told: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    yield " ".join(path), told
    for name, each in getattr(told, "commands", {}).items():
        yield from commands(each, (*path, name))


COMMANDS = dict(commands(get_command(application())))
"""Every command by its words, groups among them."""
LEAVES = {name: each for name, each in COMMANDS.items() if not hasattr(each, "commands")}
WITH_JSON = [
    name for name, each in LEAVES.items() if any("--json" in given.opts for given in each.params)
]


_, RANKING, *OTHERS = WORKS  # a ranking brings its run


def publish_work(warehouse: Warehouse, work: Work) -> None:
    work.prepare(warehouse)
    for number in range(2):
        work.land(warehouse, number, f"{work.kind.word}-{number}")
    write_head(warehouse, work.kind, work.head(warehouse))
    assert publish(warehouse, work.kind, work.head(warehouse)).published


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake that holds a run and its ranking, and files to work on."""
    folder = tmp_path_factory.mktemp("every")
    publish_work(Warehouse(folder / "assay-warehouse"), RANKING)
    (folder / "ideas.jsonl").write_text(
        json.dumps({"idea_id": "a", "text": IDEA}) + '\n{"text": "Use transformers"}\n'
    )
    (folder / "idea.md").write_text(IDEA)
    (folder / "decided.jsonl").write_text(DECIDED)
    (folder / "paper.txt").write_text(PAPER)
    peerread_folder(folder / "reviewed", a=(FIRST_REVIEW, SECOND_REVIEW))
    write_task(folder / "tried", candidates=1)
    papers = write_jsonl(folder / "papers.jsonl", paper_rows(20))
    build_snapshot(papers, folder / "papers-index")
    return folder


@pytest.fixture
def here(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where the user stands."""
    folder = Path(shutil.copytree(lake, tmp_path / "here"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["assay", *words])
    return run_command(lambda: application()(prog_name="assay", standalone_mode=False))


def test_every_command_with_json_is_tried_here() -> None:
    assert set(WITH_JSON) == {*ANSWERS, *ANSWERS_ELSEWHERE, *A_LIST}


@pytest.mark.parametrize(
    "line", some([*ANSWERS.values(), *MORE_ANSWERS], lambda line: not line.startswith(SLOW))
)
def test_what_a_command_prints_with_json_has_one_shape(
    line: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, *line.split(), "--json")
    answer = read_answer(capsys.readouterr().out)
    assert (answer["state"] == "error") is (code == EXIT_USAGE), answer
    if code != EXIT_DONE:
        assert answer["warnings"]


@pytest.mark.long
def test_whatever_is_published_is_reported_as_json_and_as_data_or_says_in_one_line_why_not(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for work in OTHERS:
        publish_work(Warehouse(here / "assay-warehouse"), work)
        assert run(monkeypatch, "report", *work.names, "--json") == EXIT_DONE, work.names
        read_answer(capsys.readouterr().out)
    for name in ("survey-a", "curation-a", "benchmark-a"):
        assert run(monkeypatch, "report", name, "--format", "json") == EXIT_DONE
        assert json.loads(capsys.readouterr().out)
    assert run(monkeypatch, "report", "survey-a", "--format", "bib") == EXIT_DONE
    assert capsys.readouterr().err == ""
    for name, data in (("benchmark-a", "bib"), ("check-a", "bib")):
        assert run(monkeypatch, "report", name, "--format", data) == EXIT_USAGE
        assert f"cannot be written as {data}: choose md, html" in capsys.readouterr().err


@pytest.mark.parametrize(
    "work",
    some(OTHERS, lambda work: work.kind is kind_of(SURVEYS)),
    ids=lambda work: work.kind.word,
)
def test_people_are_asked_about_whatever_is_published_and_it_is_exported(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    warehouse, (name,) = Warehouse(tmp_path / "assay-warehouse"), work.names

    def answer(line: str) -> Any:
        assert run(monkeypatch, *shlex.split(line), "--json") == EXIT_DONE, line
        return read_answer(capsys.readouterr().out)

    publish_work(warehouse, work)
    with warehouse.reader() as connection:
        unit = next(filter(None, parts_by_unit(connection, RunId(name))), "")
    person = answer("people add Ada")["rows"][0]["participant_id"]
    (asked,) = answer(f"request {name} --of {person} --idea {shlex.quote(unit)}")["rows"]
    assert asked["unit_id"] == unit
    assert answer(f"decide {asked['request_id']} approve")["state"] == "approved"
    answer(f"export {name} --ro-crate -o {name}.zip")
    with zipfile.ZipFile(f"{name}.zip") as crate:
        held = {Path(each).stem for each in crate.namelist()}
    assert {work.kind.head_table, work.kind.tables[0], "ledger", "provenance"} <= held
    assert verify(warehouse).problems == ()


@pytest.mark.parametrize("name", WITH_JSON)
def test_an_error_has_the_same_shape_and_is_among_the_warnings(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *name.split(), "--json", "--colour") == EXIT_USAGE
    out, err = capsys.readouterr()
    answer = read_answer(out)
    assert (answer["state"], answer["rows"]) == ("error", [])
    assert answer["warnings"] == [answer["error"]]
    assert err == f"assay: {answer['error']}\n"


def examples(told: Any) -> list[str]:
    """The commands of its help, with lines that go on joined."""
    _, _, shown = (told.epilog or "").partition("Examples:\n")
    return [line.strip() for line in shown.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.mark.parametrize(("name", "told"), LEAVES.items(), ids=LEAVES)
def test_the_help_of_every_command_shows_examples_that_are_understood(name: str, told: Any) -> None:
    shown = examples(told)
    assert shown
    for line in shown:
        words = shlex.split(line.partition(" < ")[0])
        assert words[: len(name.split()) + 1] == ["assay", *name.split()]
        told.make_context(name, words[len(name.split()) + 1 :])


@pytest.mark.parametrize("columns", some((60, 80), lambda columns: columns == 60))
@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_the_terminal_and_cuts_no_option_off(
    name: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(monkeypatch, *name.split(), "--help") == EXIT_DONE
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= columns
    flags = {
        flag for given in COMMANDS[name].params for flag in given.opts if flag.startswith("--")
    }
    assert [flag for flag in flags if flag not in out.split() and f"{flag}," not in out] == []


@pytest.mark.parametrize(("name", "told"), LEAVES.items(), ids=LEAVES)
def test_what_every_command_may_be_told_has_one_short_name_each(name: str, told: Any) -> None:
    short = {"--output": "-o", "--quiet": "-q", "--verbose": "-v", "--yes": "-y"}
    written = {long: given.opts for given in told.params for long in given.opts if long in short}
    assert {"--quiet", "--verbose"} <= written.keys(), name
    assert all(short[long] in opts for long, opts in written.items())
