"""HTTP API and dashboard as processes, without the job runner that their commands bring."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schemas.interpreter import module_command
from schemas.people.role import Role, Token
from tests.support.assay_command import environment, served
from tests.support.oidc_provider import Provider
from tests.support.ports import quiet_port
from warehouse.app.accounts import add_account, add_token, new_token_id
from warehouse.app.database import ServiceDatabase
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
    address = (str(warehouse.root), "127.0.0.1", str(port), NO_GATEWAY, "programs", "")
    command = module_command("flows.api.server", *address)
    env = environment(home, **{"ASSAY_LITERATURE__RESTART_SECONDS": "1", **extra})
    url = f"http://127.0.0.1:{port}"
    with served(command, f"{url}/health", env) as process:
        yield url, process


@contextmanager
def dashboard_server(
    folder: Path,
    role: Role,
    *names: str,
    password: str | None = None,
    provider: Provider | None = None,
    **extra: str,
) -> Iterator[tuple[str, Warehouse]]:
    """A dashboard over an empty warehouse with these accounts, started in `folder`."""
    warehouse, port = Warehouse(folder / "warehouse"), quiet_port()
    warehouse.root.mkdir()
    with ServiceDatabase(warehouse) as database:
        for name in names:
            add_account(database, name, role, password)
    url, prefix = f"http://127.0.0.1:{port}", "ASSAY_DASHBOARD__"
    env = environment(folder / "home", **{f"{prefix}WAREHOUSE": str(warehouse.root), **extra})
    if provider is not None:
        env |= {
            f"{prefix}PROVIDER__CLIENT_ID": "assay",
            f"{prefix}PROVIDER__CLIENT_SECRET": "a secret",
            f"{prefix}PROVIDER__SERVER_METADATA_URL": f"{provider.url}/.well-known/openid-configuration",
            f"{prefix}PROVIDER__REDIRECT_URI": f"{url}/oauth2callback",
        }
    address = (str(warehouse.root), "127.0.0.1", str(port), "", "all", "")
    command = module_command("flows.api.server", *address)
    with served(command, f"{url}/health", env, cwd=folder):
        yield url, warehouse
