"""How a command ends that is told to end, or loses the server it started: with one line, and all it
did is kept.
"""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from flows.cli.answer import EXIT_INTERRUPTED
from schemas.interpreter import module_command
from tests.support.assay_command import (
    assay,
    evaluation,
    find_child,
    kill_hard,
    landed_count,
    landed_times,
    some_ideas,
    wait_until,
)
from tests.support.openai_server import start_openai_server

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

GUARD_SECONDS = 600.0


ON_WORKERS = ("--workers", "1")
IDEAS_HERE = 5
"""As many as the command itself works on."""
AT_WORK_SECONDS = 2.0

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def at_work(bare_env: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Starts an evaluation that goes on until it is told to end, however fast the machine is: its
    model answers the question asked before a run, and no other.

    Without `workers` it is in the command's own process.
    """
    env = {**bare_env, "OPENAI_API_KEY": "sk-test"}
    with start_openai_server(lambda asked: "good" if asked.number == 1 else "hangs") as server:
        engine = ("--engine", "litellm:openai/judge", "--api-base", server.url)

        def start(
            workers: Sequence[str] = ON_WORKERS, by: Sequence[str] = ()
        ) -> subprocess.Popen[bytes]:
            under_way = lambda: len(server.requests) > 1  # noqa: E731
            return started(env, tmp_path, 1, (*workers, *engine), under_way, by)

        yield start


def started(
    env: dict[str, str],
    folder: Path,
    ideas: int | None,
    options: Sequence[str],
    under_way: Callable[[], bool],
    by: Sequence[str] = (),
) -> subprocess.Popen[bytes]:
    """An evaluation in a process group of its own, as a terminal makes one, once it is under way.

    `ideas`: how many; None: all. `by` starts it.
    """
    path = some_ideas(folder / "ideas.jsonl", 99 if ideas is None else ideas)
    command = module_command("flows", *evaluation(path, folder / "warehouse"))
    with (folder / "log").open("ab") as log, (folder / "answer.json").open("wb") as answer:
        process = subprocess.Popen(
            [*by, *command, *options, "--json"],
            env=env,
            cwd=folder,
            stdout=answer,
            stderr=log,
            start_new_session=True,
        )
    wait_until(
        lambda: under_way() or process.poll() is not None, GUARD_SECONDS, "the start of its work"
    )
    assert process.poll() is None, said(folder)
    os.truncate(folder / "log", 0)  # what is said from now on are its last words
    return process


def said(folder: Path) -> str:
    return (folder / "log").read_text()


PROGRESS = re.compile(r"(\d\d:\d\d:\d\dZ )?(papers|index|evaluated)\b")


def last_words(folder: Path) -> list[str]:
    """What was said once it was under way, progress apart."""
    return [line for line in said(folder).splitlines() if not PROGRESS.match(line)]


@pytest.mark.parametrize(
    ("tell", "told_by", "workers"),
    [
        (os.kill, signal.SIGTERM, ()),
        (os.killpg, signal.SIGTERM, ON_WORKERS),
        (os.killpg, signal.SIGHUP, ON_WORKERS),
    ],
    ids=["the command, which works by itself", "its whole group", "its terminal is closed"],
)
def test_a_command_told_to_end_ends_in_order_with_one_line(
    tell: Callable[[int, int], None],
    told_by: signal.Signals,
    workers: Sequence[str],
    at_work: Start,
    tmp_path: Path,
) -> None:
    process = at_work(workers)
    tell(process.pid, told_by)
    assert process.wait(GUARD_SECONDS) == EXIT_INTERRUPTED, said(tmp_path)
    assert json.loads((tmp_path / "answer.json").read_text())["state"] == "interrupted"
    assert last_words(tmp_path) == [
        "assay: interrupted; the same command resumes where this one stopped"
    ]


def test_a_command_in_the_background_of_a_script_ignores_ctrl_c_and_ends_when_it_is_told_to(
    at_work: Start, tmp_path: Path
) -> None:
    process = at_work(ON_WORKERS, ("/bin/sh", "-c", 'trap "" INT; exec "$0" "$@"'))
    os.killpg(process.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(AT_WORK_SECONDS)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(GUARD_SECONDS) == EXIT_INTERRUPTED, said(tmp_path)
    assert last_words(tmp_path) == [
        "assay: interrupted; the same command resumes where this one stopped"
    ]


@pytest.mark.parametrize("workers", [(), ON_WORKERS], ids=["by itself", "on workers"])
def test_a_second_interrupt_says_one_line_too(
    workers: Sequence[str], at_work: Start, tmp_path: Path
) -> None:
    process = at_work(workers)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.5)  # two at once would be one
    assert process.wait(GUARD_SECONDS) == EXIT_INTERRUPTED, said(tmp_path)
    assert last_words(tmp_path) == [
        "assay: interrupted; the same command resumes where this one stopped"
    ]


def test_a_handful_killed_in_the_middle_goes_on_with_the_same_command(
    bare_env: dict[str, str], tmp_path: Path
) -> None:
    ideas, warehouse = tmp_path / "ideas.jsonl", tmp_path / "warehouse"
    modules = ("--modules", "soundness")
    one_landed = lambda: landed_count(warehouse) > 0  # noqa: E731
    process = started(bare_env, tmp_path, IDEAS_HERE, modules, one_landed)
    kill_hard(process)
    process.wait()
    landed = landed_times(warehouse)
    done = assay(*evaluation(ideas, warehouse, *modules, "--json"), env=bare_env)
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)["run"]
    assert (run["idea_count"], run["evaluated_count"]) == (IDEAS_HERE, IDEAS_HERE)
    again = landed_times(warehouse)
    assert {path: again[path] for path in landed} == landed  # nothing that stood was done again


@pytest.mark.kills  # minutes, in which Prefect's client tries to reach its server again
def test_a_command_that_loses_its_prefect_server_says_so_in_one_line(
    bare_env: dict[str, str], tmp_path: Path
) -> None:
    one_landed = lambda: landed_count(tmp_path / "warehouse") > 0  # noqa: E731
    process = started(bare_env, tmp_path, None, ON_WORKERS, one_landed)
    server = find_child(process, "flows.run.prefect_app")
    assert server is not None
    kill_hard(server)
    assert process.wait(GUARD_SECONDS) == EXIT_INTERRUPTED, said(tmp_path)
    (line,) = last_words(tmp_path)
    assert line.startswith("assay: the Prefect server that this command started was lost")
    assert line.endswith("the same command resumes where this one stopped")
