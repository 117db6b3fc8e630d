"""Object storage of another make on loopback: moto's server, where it is installed beside the tests.

It is no dependency, since it brings forty packages: `pipx install "moto[s3,server]==5.2.1"`.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx
import pytest

from tests.support.ports import quiet_port

PROGRAM = shutil.which(os.environ.get("MOTO_SERVER", "moto_server"))
needs_moto = pytest.mark.skipif(
    PROGRAM is None, reason='needs moto\'s server: `pipx install "moto[s3,server]==5.2.1"`'
)
_START_SECONDS = 60.0


@contextmanager
def moto_server() -> Iterator[Mapping[str, str]]:
    """The environment that names a running server, which takes any key."""
    assert PROGRAM is not None
    url = f"http://127.0.0.1:{quiet_port()}"
    command = [PROGRAM, "-H", "127.0.0.1", "-p", url.rpartition(":")[2]]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(url)
            yield {
                "AWS_ENDPOINT_URL_S3": url,
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_DEFAULT_REGION": "us-east-1",
            }
        finally:
            process.kill()


def _wait_for(url: str) -> None:
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(url)
        except httpx.TransportError:
            assert time.monotonic() < until
            time.sleep(0.05)
        else:
            return
