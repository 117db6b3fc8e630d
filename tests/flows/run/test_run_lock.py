"""Two commands never work on one run at a time."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flows.run.campaign import only_command_on
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.warehouse import Warehouse

RUN = RunId("ideas-1")
HOLD = """
import sys, time
from pathlib import Path
from flows.run.campaign import only_command_on
from warehouse.warehouse import Warehouse
with only_command_on(Warehouse(Path(sys.argv[1])), "ideas-1"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_command_on_the_same_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with (
        only_command_on(Warehouse(tmp_path), RUN),
        pytest.raises(ConfigurationError, match="ideas-1 already"),
        only_command_on(Warehouse(tmp_path), RUN),
    ):
        pass


def test_other_runs_of_the_warehouse_go_on(tmp_path: Path) -> None:
    with (
        only_command_on(Warehouse(tmp_path), RUN),
        only_command_on(Warehouse(tmp_path), RunId("ideas-2")),
    ):
        assert len(list(tmp_path.glob("state/runs/*/lock"))) == 2


def test_a_killed_command_lets_go(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ConfigurationError), only_command_on(Warehouse(tmp_path), RUN):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with only_command_on(Warehouse(tmp_path), RUN):
        pass
