"""Object storage with the S3 API.

Endpoint, region and credentials come from the sources of AWS's own tools: environment, `~/.aws`,
the role of a machine. They appear in no row, message or command line.
"""

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from schemas.errors import AssayError, ConfigurationError, UpstreamError
from schemas.place import bucket_and_prefix

_DEFAULT_REGION = "us-east-1"
_AWS_HOSTS = (".amazonaws.com", ".amazonaws.com.cn")
TIMEOUT_SECONDS = 30
ATTEMPTS = 5
_CONDITION_FAILED = (409, 412)
AT_ONCE = 16
"""Concurrent requests."""
_REFUSALS = {
    "AccessDenied": "these credentials may not do this",
    "ExpiredToken": "the credentials have expired: renew them",
    "InvalidAccessKeyId": "the key is not known there: check AWS_ACCESS_KEY_ID",
    "InvalidToken": "the session's token is not taken: check AWS_SESSION_TOKEN",
    "NoSuchBucket": "there is no such bucket",
    "RequestTimeTooSkewed": "the clocks differ by more than a quarter of an hour: set this one",
    "SignatureDoesNotMatch": "the secret is not that of the key: check AWS_SECRET_ACCESS_KEY",
}
"""Remedies by error code; other errors may be retried."""


@dataclass(frozen=True, slots=True)
class ObjectFolder:
    """A folder in a bucket. `prefix` ends with a slash or is empty."""

    bucket: str
    prefix: str

    @classmethod
    def of(cls, address: str) -> "ObjectFolder":
        """Parse `s3://bucket/prefix`.

        Raises:
            ConfigurationError: the address is invalid, or boto3 is not installed.
        """
        bucket, prefix = bucket_and_prefix(address)
        if find_spec("boto3") is None:
            raise ConfigurationError(f"{address} needs boto3: pip install 'assay[objects]'")
        return cls(bucket, f"{prefix}/" if prefix else "")

    @property
    def address(self) -> str:
        """Address with a slash at its end."""
        return f"s3://{self.bucket}/{self.prefix}"

    def within(self, name: str) -> "ObjectFolder":
        return ObjectFolder(self.bucket, f"{self.prefix}{name}/")

    def credentials(self) -> dict[str, str]:
        """Return the current credentials with region and endpoint.

        Those of a role expire after an hour. There is no `endpoint` for AWS itself.

        Raises:
            ConfigurationError: there are none.
        """
        session, _ = _client()
        with _translate_errors(self) as client:
            source = session.get_credentials()
            if source is None:
                raise self._without_credentials
            key = source.get_frozen_credentials()
        options = {
            "key_id": key.access_key,
            "secret": key.secret_key,
            "region": client.meta.region_name,
        }
        if key.token:
            options["session_token"] = key.token
        if not _is_aws(client):
            options["endpoint"] = client.meta.endpoint_url
        return options

    @property
    def _without_credentials(self) -> ConfigurationError:
        return ConfigurationError(
            f"no credentials for {self.address}: export AWS_ACCESS_KEY_ID and"
            " AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )

    def size(self, name: str) -> int | None:
        """Return the size of an object in bytes; None if there is none.

        Raises:
            UpstreamError: the storage cannot be reached.
            ConfigurationError: it refuses.
        """
        from botocore.exceptions import ClientError

        with _translate_errors(self, name) as client:
            try:
                return int(
                    client.head_object(Bucket=self.bucket, Key=self.prefix + name)["ContentLength"]
                )
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                    return None
                raise

    def upload(self, name: str, file: Path) -> None:
        """Upload a file under this name. Raises as `size`."""
        with _translate_errors(self) as client, file.open("rb") as content:
            client.upload_fileobj(content, self.bucket, self.prefix + name)

    def download(self, name: str, file: Path) -> None:
        """Download an object to a file. Raises as `size`."""
        with _translate_errors(self, name) as client:
            client.download_file(self.bucket, self.prefix + name, str(file))

    def put(self, name: str, content: bytes, *, replaced: str | None) -> bool:
        """Store content in place of that with the tag `replaced` (None: of nothing).

        Returns False if there is other content. Raises as `size`.
        """
        from botocore.exceptions import ClientError

        condition = {"IfNoneMatch": "*"} if replaced is None else {"IfMatch": replaced}
        with _translate_errors(self) as client:
            try:
                client.put_object(
                    Bucket=self.bucket, Key=self.prefix + name, Body=content, **condition
                )
            except ClientError as error:
                response = error.response
                is_condition_failed = (
                    response["ResponseMetadata"]["HTTPStatusCode"] in _CONDITION_FAILED
                )
                is_deleted = replaced is not None and response["Error"].get("Code") == "NoSuchKey"
                if is_condition_failed or is_deleted:
                    return False
                raise
        return True

    def write(self, name: str, content: bytes, kind: str = "application/octet-stream") -> None:
        """Store content under this name unconditionally. Raises as `size`."""
        with _translate_errors(self) as client:
            client.put_object(
                Bucket=self.bucket, Key=self.prefix + name, Body=content, ContentType=kind
            )

    def get(self, name: str) -> tuple[bytes, str] | None:
        """Return content and tag of an object; None if there is none. Raises as `size`."""
        from botocore.exceptions import (
            ClientError,
            IncompleteReadError,
            ReadTimeoutError,
            ResponseStreamingError,
        )

        with _translate_errors(self) as client:
            for attempt in range(ATTEMPTS):
                try:
                    response = client.get_object(Bucket=self.bucket, Key=self.prefix + name)
                    return response["Body"].read(), response["ETag"]
                except ClientError as error:
                    if error.response["Error"].get("Code") == "NoSuchKey":
                        return None
                    raise
                except (IncompleteReadError, ReadTimeoutError, ResponseStreamingError):
                    if attempt == ATTEMPTS - 1:  # botocore retries only the request, not the read
                        raise
        raise AssertionError

    def remove(self, name: str) -> None:
        """Delete an object if it exists. Raises as `size`."""
        with _translate_errors(self) as client:
            client.delete_object(Bucket=self.bucket, Key=self.prefix + name)

    def check(self) -> None:
        """Write, read and delete an object; test that conditional writes are refused.

        Raises:
            UpstreamError: the storage cannot be reached.
            ConfigurationError: it refuses, has no credentials, or ignores the condition.
        """
        name = f".assay-{uuid4().hex}"
        self.put(name, b"assay", replaced=None)
        was_replaced = self.put(name, b"other", replaced=None)
        stored_object = self.get(name)
        self.remove(name)
        if was_replaced or stored_object is None or stored_object[0] != b"assay":
            raise ConfigurationError(
                f"{self.address} does not give back what was written there first: the storage has"
                " to know If-None-Match"
            )


def file_size(folder: Path, place: ObjectFolder | None, name: str) -> int | None:
    """Return the size of a lake's file in bytes; None if it is missing.

    Args:
        place: its object folder; None: it is in `folder`.

    Raises:
        UpstreamError: the storage cannot be reached.
        ConfigurationError: it refuses.
    """
    if place is not None:
        return place.size(name)
    file = folder / name
    return file.stat().st_size if file.is_file() else None


@functools.cache
def _client() -> tuple[Any, Any]:
    """Return a session and its client, for the life of the process."""
    import boto3  # slow import, and most lakes are in a folder
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    config = Config(
        connect_timeout=TIMEOUT_SECONDS,
        read_timeout=TIMEOUT_SECONDS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=AT_ONCE,
        # Other S3 implementations lack the newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    try:
        session = boto3.session.Session()
        region = session.region_name or os.environ.get("AWS_REGION") or _DEFAULT_REGION
        client = session.client("s3", region_name=region, config=config)
        if not _is_aws(client):
            config = config.merge(Config(s3={"addressing_style": "path"}))
            client = session.client("s3", region_name=region, config=config)
    except (BotoCoreError, ValueError) as error:
        raise ConfigurationError(f"object storage: {error}") from None
    return session, client


def forget_client() -> None:
    """Drop the cached endpoint and credentials."""
    _client.cache_clear()


def _is_aws(client: Any) -> bool:
    return (urlsplit(client.meta.endpoint_url).hostname or "").endswith(_AWS_HOSTS)


@contextmanager
def _translate_errors(folder: ObjectFolder, name: str | None = None) -> Iterator[Any]:
    """Yield the client, and turn its errors into ours.

    Args:
        name: name of the object whose HEAD is requested.
    """
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield _client()[1]
    except NoCredentialsError:
        raise folder._without_credentials from None
    except ClientError as error:
        details = _error_of(error)
        if name is not None and details.get("Code", "").startswith("4"):
            details = _refusal_details(folder, name) or details
        raise failure_error(
            folder.address, details.get("Code", ""), details.get("Message", "")
        ) from None
    except (BotoCoreError, Boto3Error) as error:
        raise failure_error(folder.address, "", str(error)) from None


def _refusal_details(folder: ObjectFolder, name: str) -> dict[str, str] | None:
    """Return the error of a refused HEAD request, by a GET of the object.

    A reply to HEAD has no body, so its status alone is known. None: the GET succeeded.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    _, client = _client()
    try:
        client.get_object(Bucket=folder.bucket, Key=folder.prefix + name)["Body"].close()
    except ClientError as error:
        return _error_of(error)
    except BotoCoreError:  # the storage was lost; the status is known already
        return None
    return None


def _error_of(error: Any) -> dict[str, str]:
    return {name: str(value) for name, value in error.response.get("Error", {}).items()}


def failure_error(where: str, code: str, message: str) -> AssayError:
    """Return the error for a failure of object storage, by its error code."""
    if code in _REFUSALS:
        return ConfigurationError(f"object storage, {where}: {_REFUSALS[code]}")
    reason = " ".join(f"{code}: {message}".strip(": ").split())[:300]
    return UpstreamError(f"object storage, {where}: {reason}")
