"""A task's folder is read whole, or one line says what is wrong with it."""

import json
import os
from importlib import resources
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from tasks.experiments.bundled import bundled_tasks, copy_task
from tasks.experiments.program import tree_hash, tunables_of, with_settings
from tasks.experiments.task_folder import read_task
from tests.support.small_task import PROGRAM, TASK, write_task

_SAME_KEYS = json.dumps(
    {"idea_id": "a", "text": "b", "works": [{"key": "w", "title": "t"}, {"key": "w", "title": "u"}]}
)


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_task(folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_task_is_its_programs_its_data_and_what_it_asks(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "numbers")
    (folder / "data" / "more").mkdir(parents=True)
    (folder / "data" / "more" / "held.csv").write_bytes(b"1,2\n")
    read = read_task(folder)
    assert (read.name, list(read.programs)) == ("numbers", ["parent", "eight"])
    assert read.data == {"more/held.csv": b"1,2\n"}
    assert read.task.trials.candidates == 3
    (folder / "data" / "more" / "held.csv").write_bytes(b"1,3\n")
    assert read_task(folder).content_sha256 != read.content_sha256


def test_what_is_known_of_the_idea_belongs_to_the_task(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "numbers")
    without = read_task(folder)
    known = {"idea_id": "a", "text": "Say ten.", "works": [{"key": "w", "title": "Nine"}]}
    (folder / "idea.json").write_text(json.dumps(known))
    read = read_task(folder)
    assert without.idea is None
    assert read.idea is not None
    assert [work.title for work in read.idea.works] == ["Nine"]
    assert read.content_sha256 != without.content_sha256


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("task.toml", "question = ", "cannot be read as TOML"),
        ("task.toml", TASK.format(candidates=0, seconds=1), "`trials.candidates`"),
        ("task.toml", TASK.format(candidates=1, seconds=-1), "`limits.seconds`"),
        ("task.toml", TASK.format(candidates=1, seconds=1) + "colour = 1", "unknown key"),
        ("task.toml", 'metric = "m"', "`question`: Field required"),
        ("task.toml", "chance = 0.5\n" + TASK.format(candidates=1, seconds=1), "`permute`"),
        ("task.toml", "a = " + "[" * 5_000, "cannot be read as TOML"),
        ("task.toml", "\n" + "a." * 20_000 + "a = 1", "line 2 has more than 100 dots"),
        ("task.toml", "#" * 100_001, "more than 100,000 bytes"),
        ("task.toml", "a = " + "9" * 5_000, "cannot be read as TOML"),
        ("task.toml", "a = 0x" + "9" * 5_000, "cannot be read as TOML"),
        ("program.py", "def solve(:", "is no Python"),
        ("program.py", "x = 1\0", "is no Python"),
        ("program.py", "x = " + "-" * 150_000 + "1", "is nested too deeply to be parsed"),
        ("program.py", PROGRAM + "x = 1" + " + 1" * 2_000, "is nested too deeply to be parsed"),
        ("evaluate.py", "x = 1" + " + 1" * 9_000, "is nested too deeply to be parsed"),
        ("baselines/eight.py", "x = [" + "1," * 600_000 + "]", "has more than 200,000 bytes"),
        ("task.toml", "a = [" + "1," * 500_000 + "]", "has more than 1,000,000 bytes"),
        ("idea.json", "[" + "1," * 500_000 + "]", "has more than 1,000,000 bytes"),
        ("program.py", "x = 1", "no function `solve`"),
        ("program.py", "# coding: utf-7\n" + PROGRAM, "another encoding than UTF-8"),
        ("evaluate.py", "#\r# coding: utf-7\n", "another encoding than UTF-8"),
        ("program.py", "A = 1 # tunable: 5..9\n" + PROGRAM, "1 is no number from 5 to 9"),
        ("program.py", "A = 1 # tunable: red\n" + PROGRAM, "neither a range"),
        ("evaluate.py", "def make(seed, size): ...", "no function `score`"),
        ("baselines/eight.py", "solve = 1", "no function `solve`"),
        ("baselines/parent.py", PROGRAM, "`parent` is what program.py is called"),
        ("baselines/c001.py", PROGRAM, "name it otherwise"),
        ("idea.json", "{", "Invalid JSON"),
        ("idea.json", '{"idea_id": "a"}', "`text`: Field required"),
        ("idea.json", '{"idea_id": "a", "text": "b", "score": 1}', "`score`: unknown key"),
        ("idea.json", _SAME_KEYS, "two works have one key"),
        ("program.py", "# region a\n" + PROGRAM, "region a has no `# endregion`"),
        ("program.py", "# endregion\n" + PROGRAM, "line 1: `# endregion` should be"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    folder = write_task(tmp_path / "numbers")
    (folder / name).write_text(content)
    told = refusal(folder)
    assert said in told
    assert str(folder) in told


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    assert "there is no folder" in refusal(tmp_path / "none")
    for name in ("task.toml", "program.py", "evaluate.py"):
        folder = write_task(tmp_path / f"without-{name}")
        (folder / name).unlink()
        assert f"a task needs {name}" in refusal(folder)
    folder = write_task(tmp_path / "a b")
    assert "cannot name a folder" in refusal(folder)
    (folder / "program.py").write_bytes(b"\xff\xfe")
    assert refusal(folder.rename(tmp_path / "bytes"))


@pytest.mark.parametrize("name", ["data/env", "program.py", "baselines/env.py", "idea.json"])
def test_links_in_a_task_are_refused(tmp_path: Path, name: str) -> None:
    folder = write_task(tmp_path / "numbers")
    link = folder / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to("/proc/self/environ")
    assert refusal(folder) == f"{link} is a link: put the file itself there"


def test_a_task_has_no_folder_of_data_elsewhere_and_no_pipe(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "numbers")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "id").write_text("secret")
    (folder / "data").symlink_to(tmp_path / "home")
    assert "behind the link data" in refusal(folder)
    (folder / "data").unlink()
    (folder / "data").mkdir()
    os.mkfifo(folder / "data" / "pipe")
    assert "put a file there" in refusal(folder)


def test_a_task_that_the_user_named_by_a_link_is_read(tmp_path: Path) -> None:
    write_task(tmp_path / "numbers")
    (tmp_path / "link").symlink_to("numbers")
    assert read_task(tmp_path / "link").name == "numbers"


SOURCE = """# Grüße
STEP = 0.5  # tunable: 0.01..10 log
ROUNDS = 3  # tunable: 1..12
ORDER = "é"; OTHER = 1
WORD = "a"  # tunable: "a", "b, c..d", 'e'
IS_ON = True  # tunable: True, False

def solve(given, seed):
    return STEP
"""


def test_tunables_have_ranges_or_choices_and_everything_else_stays() -> None:
    step, rounds, word, is_on = tunables_of(SOURCE, "program.py")
    assert (step.low, step.high, step.is_log, step.is_whole) == (0.01, 10.0, True, False)
    assert (rounds.is_whole, word.choices, is_on.choices) == (
        True,
        ("a", "b, c..d", "e"),
        (True, False),
    )
    tunables = (step, rounds, word, is_on)
    changed = with_settings(
        SOURCE, tunables, {"STEP": 2.5, "ROUNDS": 3, "WORD": "b, c..d", "IS_ON": False}
    )
    assert changed == SOURCE.replace("0.5", "2.5").replace(
        'WORD = "a"', "WORD = 'b, c..d'"
    ).replace("True  #", "False  #")
    same = {each.name: each.value for each in tunables}
    assert with_settings(SOURCE, tunables, same) == SOURCE
    assert tunables_of(changed, "program.py")[0].value == 2.5


@pytest.mark.parametrize(
    "line",
    [
        "A = B = 1  # tunable: 1..2",
        "A = [1]  # tunable: 1..2",
        "A = 1  # tunable: 2..1",
        "A = 1  # tunable: 1..nan",
        "A = 1  # tunable: 1..2 linear",
        "A = 1  # tunable: 0.5..2",
        "A = 1.0  # tunable: 0..2 log",
        "A = 'x'  # tunable: 1..2",
        "A = 1  # tunable: 1",
        "A = 1  # tunable: 1.0, 2.0",
        "A = 1  # tunable: f(), 1",
        "A = 1  # tunable:",
        "# tunable: 1..2",
        "if True:\n    A = 1  # tunable: 1..2",
        "A = (1 +\n 1)  # tunable: 1..2",
        "A = 1  # tunable: 1..2\nA = 2  # tunable: 1..2",
    ],
)
def test_a_tunable_that_cannot_be_understood_is_one_line(line: str) -> None:
    with pytest.raises(ConfigurationError, match=r"program\.py") as refused:
        tunables_of(line, "program.py")
    assert "\n" not in str(refused.value)


def test_programs_that_differ_in_spaces_and_comments_are_the_same() -> None:
    assert tree_hash("A = 1\n") == tree_hash("A   =  1  # one\n")
    assert tree_hash("A = 1\n") != tree_hash("A = 2\n")


def test_bundled_tasks_are_copied_whole_and_can_be_read(tmp_path: Path) -> None:
    assert bundled_tasks() == ("bin_packing", "classification", "laplacian")
    for name in bundled_tasks():
        assert copy_task(name, tmp_path / name)
        read = read_task(tmp_path / name)
        assert read.programs.keys() > {"parent"}
        assert tunables_of(read.programs["parent"], "program.py")
    with pytest.raises(ConfigurationError, match="is there already"):
        copy_task("laplacian", tmp_path / "laplacian")
    with pytest.raises(ConfigurationError, match="say one of bin_packing"):
        copy_task("chess", tmp_path / "chess")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be made"):
        copy_task("laplacian", tmp_path / "file" / "task")


def test_the_evaluator_of_packing_refuses_what_is_no_packing() -> None:
    space: dict[str, object] = {}
    source = (
        resources.files("tasks.experiments.bundled").joinpath("bin_packing/evaluate.py").read_text()
    )
    exec(compile(source, "evaluate.py", "exec"), space)
    make, score = space["make"], space["score"]
    assert callable(make)
    assert callable(score)
    given, held = make(1, "small")
    each = [[number] for number in range(len(given["sizes"]))]
    assert score(given, held, each)["bins"] == len(given["sizes"])
    for wrong in (each[1:], [*each, [0]], [list(range(len(given["sizes"])))]):
        with pytest.raises(ValueError, match=r"item|full"):
            score(given, held, wrong)


def test_the_number_of_baselines_is_bounded(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "numbers")
    for number in range(201):
        (folder / "baselines" / f"b{number}.py").write_text(PROGRAM)
    assert refusal(folder) == f"{folder}/baselines holds more than 200 programs: take some out"
