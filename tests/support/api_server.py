"""The HTTP API as a process, without the job runner that `assay api` brings."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schemas.people.role import Role, Token
from tests.support.assay_command import answers, environment, wait_until
from tests.support.ports import quiet_port
from warehouse.app.database import ServiceDatabase
from warehouse.app.tokens import add_token, new_token_id
from warehouse.warehouse import Warehouse

NO_GATEWAY = "http://127.0.0.1:9"


def make_token(warehouse: Warehouse, scope: Role = Role.SUBMITTER, **changes: Any) -> str:
    """A token of the warehouse, as its holder sends it."""
    now = datetime.now(UTC)
    told = {
        "token_id": new_token_id(),
        "name": "a test",
        "scope": scope,
        "created_at": now,
        "expires_at": now + timedelta(days=1),
        "maximum_cost_usd": 0.0,
        "maximum_open_jobs": 1_000,
    }
    with ServiceDatabase(warehouse) as database:
        return add_token(database, Token(**told | changes))


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def api_server(
    warehouse: Warehouse, home: Path, **extra: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Its address, and the process."""
    port = quiet_port()
    command = [
        sys.executable,
        "-m",
        "flows.api.server",
        str(warehouse.root),
        "127.0.0.1",
        str(port),
    ]
    env = environment(home, **{"ASSAY_LITERATURE__RESTART_SECONDS": "1", **extra})
    process = subprocess.Popen([*command, NO_GATEWAY], env=env)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(f"{url}/health"), 60, "the API answers")
        yield url, process
    finally:
        process.kill()
        process.wait()
