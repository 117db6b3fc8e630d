"""`python -m tests.first_commands` writes docs/start/first-commands.md anew: what a newcomer's first
commands print, mistakes included.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.assay_command import COMMAND, TIMEOUT_SECONDS, environment

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "start" / "first-commands.md"

_IDEA = (
    '{"idea_id": "%s", "group": "chemistry", "title": "%s", "text": "We will %s, compare it with the'
    ' strongest published baseline, and repeat every measurement five times."}\n'
)
IDEAS = (
    _IDEA % ("fragments", "Fragment VAE", "train a variational autoencoder on molecular fragments")
    + _IDEA % ("pairs", "Protein pairs", "predict which proteins interact on proteins never seen")
    + '{"idea_id": "short", "text": "Use transformers"}\n'
)
HABITS = "name,colour\na,red\n"

COMMANDS = (
    "assay report",
    "assay evalute ideas.jsonl",
    "assay plan idea.jsonl",
    "assay plan habits.csv",
    "assay plan ideas.jsonl --cutoff soon",
    "assay evaluate ideas.jsonl --modules soundness",
    "assay evaluate ideas.jsonl --modules soundness -q",
    'assay sql "select idea_id, scor from idea_scores"',
    'assay sql "select idea_id, state from idea_scores order by idea_id" --format csv',
    "assay rank --scores -o ranking.csv -q",
    "assay report --idea nobody",
    "assay runs list",
)

_HEAD = """# First commands and mistakes

The file `ideas.jsonl` contains two valid ideas and one that is too short; `habits.csv` is a table without ideas. The commands use
no API key and no server. `$?` is the exit code if it is not 0. The [glossary](../glossary.md) explains *lake*, *snapshot* and
*unscored*. `python -m tests.first_commands` writes this page, and a test verifies it.

```console
"""


def transcript() -> str:
    """The page, made by running the commands in a folder of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "ideas.jsonl").write_text(IDEAS)
        (folder / "habits.csv").write_text(HABITS)
        env = environment(folder / "home", COLUMNS="100", PYTHONPATH=str(REPOSITORY))
        parts = [_told(command, folder, env) for command in COMMANDS]
    return f"{_HEAD}{''.join(parts)}```\n"


def _told(command: str, folder: Path, env: dict[str, str]) -> str:
    words = command.replace('"', "'")
    shell = words.replace("assay", " ".join((*COMMAND[:1], "-P", *COMMAND[1:])), 1)
    done = subprocess.run(
        shell,
        shell=True,
        cwd=folder,
        env=env | {"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    printed = done.stdout.replace(str(folder), "~").replace("python -m flows", "assay")
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()]
    code = [f"$? = {done.returncode}"] if done.returncode else []
    return "".join(f"{line}\n" for line in (f"$ {command}", *lines, *code, ""))


_CHANGING = re.compile(r"[0-9a-f]{10,12}|\d+|[─━┏┳┓┡╇┩└┴┘ ]+")


def without_figures(page: str) -> str:
    """The page without what differs from one run to the next: times, names, scores, widths."""
    progress = re.compile(r"[\d:]+Z (papers|index|evaluated)\b")
    lines = (line for line in page.splitlines() if not progress.match(line))
    return "\n".join(_CHANGING.sub("#", line) for line in lines)


if __name__ == "__main__":
    PAGE.write_text(transcript())
    sys.stdout.write(f"wrote {PAGE}\n")
