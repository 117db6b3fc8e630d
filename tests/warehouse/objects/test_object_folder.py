"""What Assay asks of object storage, of every make that is at hand: ours, and moto's."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import boto3
import httpx
import pytest

from schemas.errors import ConfigurationError
from tests.support.object_server import BUCKET, object_server
from tests.support.ports import quiet_port
from warehouse.objects.object_storage import ObjectFolder, forget_client

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


@pytest.fixture(params=["ours", pytest.param("moto", marks=needs_moto)])
def folder(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ObjectFolder]:
    ours = request.param == "ours"
    with object_server() if ours else moto_server() as running:
        for name, value in (running if not ours else running.environment).items():
            monkeypatch.setenv(name, value)
        forget_client()
        if not ours:
            boto3.client("s3").create_bucket(Bucket=BUCKET)
        yield ObjectFolder.of(f"s3://{BUCKET}/assay")
        forget_client()


def test_content_is_written_under_conditions_read_and_removed(
    folder: ObjectFolder, tmp_path: Path
) -> None:
    folder.check()
    assert folder.get("a") is None
    assert folder.size("a") is None
    assert folder.put("a", b"first", replaced=None)
    assert not folder.put("a", b"other", replaced=None), "nobody writes over it"
    content, tag = folder.get("a") or (b"", "")
    assert content == b"first"
    assert folder.put("a", b"second", replaced=tag)
    assert not folder.put("a", b"third", replaced=tag), "it has been replaced meanwhile"
    assert not folder.put("b", b"third", replaced=tag), "it is gone"
    folder.write("a", b"whatever is there")
    assert folder.size("a") == 17
    file = tmp_path / "file"
    file.write_bytes(b"x" * 9_000_000)
    folder.within("lake").upload("large", file)
    folder.download("lake/large", tmp_path / "back")
    assert (tmp_path / "back").stat().st_size == 9_000_000
    for _ in range(2):
        folder.remove("a")
    assert folder.get("a") is None


def test_a_bucket_that_is_not_there_is_named(folder: ObjectFolder) -> None:
    del folder
    with pytest.raises(ConfigurationError, match="no such bucket"):
        ObjectFolder.of("s3://another/assay").check()
