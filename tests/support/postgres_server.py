"""A real PostgreSQL on loopback, with a folder of its own; it may be killed and started again."""

import os
import pwd
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.ports import quiet_port

PASSWORD = "hidden'word @/%\\"
"""With every character that a connection string or an address must quote."""

_START_SECONDS = 60.0


def _programs() -> Path | None:
    """The folder of the newest server on this machine; Debian keeps it out of the path."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


PROGRAMS = _programs()
needs_postgres = pytest.mark.skipif(
    PROGRAMS is None, reason="needs PostgreSQL's server: `apt-get install postgresql`"
)


@dataclass
class PostgresServer:
    """A server that listens on loopback alone; everybody needs a password."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def url(self, database: str, *, user: str = "assay", password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def new_database(self, name: str, template: str = "template0") -> str:
        """Address of a database made anew, as a copy of another."""
        self.sql("postgres", f'create database "{name}" template "{template}"')
        return self.url(name)

    def sql(self, database: str, statement: str) -> str:
        """What the server answers, a row a line."""
        options = ["-v", "ON_ERROR_STOP=1", "-qAt", "-c", statement]
        return self.run("psql", "-d", database, *options)

    def run(self, program: str, *arguments: str) -> str:
        """What a client program prints."""
        return self.shell(shlex.join([program, *arguments]), self.folder)

    def shell(self, commands: str, folder: Path) -> str:
        """What commands print that know from their environment where the server is."""
        assert PROGRAMS is not None
        told = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "assay"}
        path = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=folder,
            env=os.environ | told | path | {"PGPASSWORD": PASSWORD},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def start(self) -> None:
        assert PROGRAMS is not None
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        told = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "postgres", "-D", self.folder / "data", "-p", str(self.port), *told],
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_as_server(),
            )
        until = time.monotonic() + _START_SECONDS
        ready = [PROGRAMS / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready, check=False).returncode != 0:
            assert time.monotonic() < until, (self.folder / "log").read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """The server and all its processes, at once and without a word."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def restart(self) -> None:
        with self.down():
            pass

    @contextmanager
    def down(self) -> Iterator[None]:
        """Killed while the block runs."""
        self.kill()
        try:
            yield
        finally:
            self.start()


def _as_server() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    return {"user": _user().pw_name, "group": _user().pw_gid, "extra_groups": []}


def _user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """One with the role `assay`, who may do everything."""
    assert PROGRAMS is not None
    folder = Path(tempfile.mkdtemp(prefix="assay-postgres-"))
    password = folder / "password"
    password.write_text(PASSWORD)
    if os.geteuid() == 0:
        for path in (folder, password):
            os.chown(path, _user().pw_uid, _user().pw_gid)
    told = ["-A", "scram-sha-256", "-U", "assay", "--pwfile", password, "-E", "UTF8", "--no-sync"]
    made = subprocess.run(
        [PROGRAMS / "initdb", "-D", folder / "data", "--locale", "C", *told],
        capture_output=True,
        check=False,
        **_as_server(),
    )
    assert made.returncode == 0, made.stderr.decode()
    server = PostgresServer(folder, quiet_port())
    server.start()
    try:
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)
