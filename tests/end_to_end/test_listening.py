"""What a command opens to the network while it runs."""

import ipaddress
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from flows.request import bundled
from tests.support.assay_command import TIMEOUT_SECONDS, family, start_assay

pytestmark = pytest.mark.end_to_end

LOOK_EVERY_SECONDS = 0.5


def listening(process: subprocess.Popen[bytes]) -> set[tuple[str, str]]:
    """Address and command line of every socket on which the command or a process of its listens."""
    found = set()
    for member in [psutil.Process(process.pid), *family(process)]:
        try:
            line = " ".join(member.cmdline())
            found |= {
                (each.laddr.ip, line)
                for each in member.net_connections("inet")
                if each.status == psutil.CONN_LISTEN
            }
        except psutil.Error:
            continue
    return found


def test_nothing_that_an_evaluation_starts_listens_beyond_this_machine(
    bare_env: dict[str, str], tmp_path: Path
) -> None:
    ideas, log = tmp_path / "one.jsonl", tmp_path / "log"
    ideas.write_text(bundled("ideas.jsonl").read_text().splitlines(keepends=True)[0])
    options = [
        "--warehouse",
        str(tmp_path / "warehouse"),
        "--literature",
        f"snapshot:{bundled('papers.jsonl')}",
        "--workers",
        "2",
    ]
    process = start_assay("evaluate", str(ideas), *options, env=bare_env, log=log)
    seen: set[tuple[str, str]] = set()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        seen |= listening(process)
        time.sleep(LOOK_EVERY_SECONDS)
    assert process.wait(1) == 0, log.read_text()
    assert [place for place in seen if not ipaddress.ip_address(place[0]).is_loopback] == []
    for part in (
        "flows.prefect_app",
        "tasks.literature.gateway",
        "multiprocessing.spawn",
        "flows evaluate",
    ):
        assert any(part in line for _, line in seen), part
