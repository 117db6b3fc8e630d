"""A task as a folder: `task.toml`, `program.py`, `evaluate.py`, and optional files."""

import ast
import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from schemas.base import first_fault
from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.reasons import Reason
from schemas.text.plain_files import PlainFileError, files_below, read_file
from schemas.text.toml_text import parse_toml
from schemas.works.experiment import KnownIdea, Task
from tasks.experiments.program import is_read_as_shown, regions_of, syntax_tree, tunables_of
from warehouse.layout import safe_name

TASK, PROGRAM, EVALUATE, IDEA = "task.toml", "program.py", "evaluate.py", "idea.json"
BASELINES, DATA = "baselines", "data"
FILL_IN = "FILL IN"
"""Mark in a draft at text that a person must still write."""
_MOST_SOURCE_BYTES = 200_000  # parsing an f-string takes quadratic time, and 1 MB of names 900 MB
_MOST_TEXT_BYTES = 1_000_000
_MOST_DATA_BYTES = 256 << 20
_MOST_FILES = 200


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A task read from its folder.

    Attributes:
        name: name of the folder.
        programs: text by name: `parent`, then the baselines by the names of their files.
        data: files of `data/` by name, for `evaluate.py` alone: no program ever sees them.
        idea: idea under test, if the folder has one.
    """

    name: str
    task: Task
    programs: dict[str, str]
    evaluate: str
    data: dict[str, bytes]
    content_sha256: str
    idea: KnownIdea | None = None

    @property
    def can_permute(self) -> bool:
        """Return whether `evaluate.py` can break the tie between given and held-back data."""
        return self.task.chance is not None


PARENT = "parent"


def read_task(folder: Path) -> TaskFolder:
    """Read a task, and check its programs without running them.

    Raises:
        ConfigurationError: a part is missing or invalid.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"there is no folder {folder}; `assay experiment init` makes one")
    folder = folder.resolve()  # links inside it are refused, and it may be one itself
    name = safe_name("task", folder.name)
    _check_filled_in(folder)
    task = _task(folder / TASK)
    programs = {PARENT: _source(folder / PROGRAM, "solve")}
    for path in _baselines(folder):
        if path.stem == PARENT or (path.stem[0] == "c" and path.stem[1:].isdecimal()):
            raise ConfigurationError(
                f"{path}: `{PARENT}` is what {PROGRAM} is called, and `c001` what a candidate is:"
                " name it otherwise"
            )
        programs[path.stem] = _source(path, "solve")
    tunables_of(programs[PARENT], f"{folder / PROGRAM}")
    regions_of(programs[PARENT], f"{folder / PROGRAM}")
    evaluate = _source(folder / EVALUATE, "make", "score")
    if task.chance is not None and "permute" not in _functions(evaluate):
        raise ConfigurationError(
            f"{folder / EVALUATE}: no function `permute`, although {TASK} says what chance gives"
        )
    data = _data(folder / DATA)
    idea = _idea(folder / IDEA)
    return TaskFolder(
        name=name,
        task=task,
        programs=programs,
        evaluate=evaluate,
        data=data,
        content_sha256=content_hash(
            task.model_dump_json(),
            json.dumps([*programs.items(), evaluate]),
            *(f"{each}:{content_hash(content.hex())}" for each, content in data.items()),
            *([idea.model_dump_json()] if idea is not None else []),
            length=64,
        ),
        idea=idea,
    )


def _check_filled_in(folder: Path) -> None:
    paths = (folder / TASK, folder / PROGRAM, folder / EVALUATE)
    marks = [
        (path, number)
        for path in (*paths, *_baselines(folder))
        if path.exists()
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if FILL_IN in line
    ]
    if marks:
        path, number = marks[0]
        more = f", and {len(marks) - 1} lines more" if len(marks) > 1 else ""
        raise ConfigurationError(
            f"{path} line {number}{more}: say what is marked {FILL_IN!r}; a draft is no task yet"
        )


def _baselines(folder: Path) -> list[Path]:
    paths = sorted(islice((folder / BASELINES).glob("*.py"), _MOST_FILES + 1))
    if len(paths) > _MOST_FILES:
        raise ConfigurationError(
            f"{folder / BASELINES} holds more than {_MOST_FILES} programs: take some out"
        )
    return paths


def _task(path: Path) -> Task:
    try:
        return Task.model_validate_json(json.dumps(parse_toml(_text(path)), default=str))
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {first_fault(error)}") from error
    except (ValueError, RecursionError) as error:  # also numbers of too many digits
        raise ConfigurationError(f"{path} cannot be read as TOML: {error}") from error


def _idea(path: Path) -> KnownIdea | None:
    if not path.exists():
        return None
    try:
        idea = KnownIdea.model_validate_json(_text(path))
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {first_fault(error)}") from error
    keys = [work.key for work in idea.works]
    if len(set(keys)) < len(keys):
        raise ConfigurationError(f"{path}: two works have one key")
    return idea


def _text(path: Path) -> str:
    most_bytes = _MOST_SOURCE_BYTES if path.suffix == ".py" else _MOST_TEXT_BYTES
    try:
        text = read_file(path, most_bytes).decode()
    except FileNotFoundError as error:
        raise ConfigurationError(f"a task needs {path.name}, and {path} is not there") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _source(path: Path, *functions: str) -> str:
    text = _text(path)
    if not is_read_as_shown(text):
        raise ConfigurationError(
            f"{path} names another encoding than UTF-8 in its first two lines: leave that out"
        )
    try:
        missing = sorted(set(functions) - _functions(text))
        syntax_tree(text)  # takes more depth than parsing; programs are compared by it
    except (SyntaxError, ValueError) as error:
        raise ConfigurationError(f"{path} is no Python: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise ConfigurationError(
            f"{path} is nested too deeply to be parsed: divide its longest expression or block"
        ) from error
    if missing:
        raise ConfigurationError(f"{path}: no function `{missing[0]}`")
    return text


def _functions(text: str) -> set[str]:
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def _data(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    contents: dict[str, bytes] = {}
    remaining_bytes = _MOST_DATA_BYTES
    try:
        for path in sorted(files_below(folder, _MOST_FILES)):
            content = contents[path.relative_to(folder).as_posix()] = read_file(
                path, remaining_bytes
            )
            remaining_bytes -= len(content)
    except PlainFileError as error:
        if error.reason is not Reason.TOO_LARGE:
            raise
        raise ConfigurationError(
            f"{folder} holds more than {_MOST_FILES} files or {_MOST_DATA_BYTES:,} bytes: take some out"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be read: {error}") from error
    return contents
