"""Builds and updates of snapshots that are killed at a moment."""

import signal
import subprocess
import sys
from pathlib import Path

_COMMAND = """
import os, signal, sys
from pathlib import Path
from tasks.literature.snapshot import build, update

def killed(done, total, stage):
    if stage == sys.argv[4] and done >= int(sys.argv[5]):
        os.kill(os.getpid(), signal.SIGKILL)

work = build.build_snapshot if sys.argv[1] == "build" else update.update_snapshot
work(Path(sys.argv[2]), Path(sys.argv[3]), progress=killed)
"""


def killed_at(kind: str, source: Path, target: Path, stage: str, done: int = 0) -> bool:
    """Run a build or an update that is killed once `stage` has come to `done`; True when it was."""
    told = [kind, str(source), str(target), stage, str(done)]
    return subprocess.run([sys.executable, "-c", _COMMAND, *told]).returncode == -signal.SIGKILL
