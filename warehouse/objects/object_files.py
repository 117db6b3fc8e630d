"""DuckDB's access to object storage, and its errors."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import duckdb

from schemas.errors import AssayError, ConfigurationError
from warehouse.catalogue.connection import Connection, load_extension
from warehouse.objects import object_storage
from warehouse.objects.object_storage import ObjectFolder, failure_error
from warehouse.statements import quoted


def reach(connection: Connection, folder: ObjectFolder) -> None:
    """Give a connection access to `folder`.

    Raises:
        ConfigurationError: the extension or credentials are missing.
    """
    load_extension(connection, "httpfs")
    # Otherwise DuckDB reads credentials from the environment and shows them as settings.
    connection.execute("set enable_global_s3_configuration = false")
    connection.execute(f"set http_timeout = {object_storage.TIMEOUT_SECONDS}")
    connection.execute(f"set http_retries = {object_storage.ATTEMPTS - 1}")
    if bundle := os.environ.get("AWS_CA_BUNDLE"):
        connection.execute(f"set ca_cert_file = {quoted(bundle)}")
    sign(connection, folder)


def sign(connection: Connection, folder: ObjectFolder) -> None:
    """Give a connection the current credentials. Raises as `reach`."""
    options = folder.credentials() | {"scope": folder.address}
    flags = ""
    if endpoint := options.pop("endpoint", None):
        place = urlsplit(endpoint)
        options |= {"endpoint": f"{place.netloc}{place.path.rstrip('/')}", "url_style": "path"}
        flags = f", use_ssl {place.scheme == 'https'}"
    secret_options = ", ".join(f"{name} {quoted(value)}" for name, value in options.items())
    connection.execute(
        f"create or replace temporary secret object_storage (type s3, {secret_options}{flags})"
    )


@contextmanager
def report_storage_failures() -> Iterator[None]:
    """Turn DuckDB's storage errors in the block into errors of one line.

    Raises:
        UpstreamError: object storage failed.
        ConfigurationError: it refuses, or a file cannot be opened.
    """
    try:
        yield
    except duckdb.IOException as error:
        failure = storage_failure(error)
        _, marker, file = str(error).partition('Cannot open file "')
        if failure is None and marker:
            path, _, _ = file.partition('"')
            failure = ConfigurationError(f"{path} cannot be opened: bring it back from a copy")
        if failure is None:
            raise
        raise failure from None


def storage_failure(error: duckdb.Error) -> AssayError | None:
    """Return the error about object storage; None if it is about something else."""
    text = str(error).partition(": ")[2]
    with suppress(ValueError):  # a connection may report errors as JSON
        text = json.loads(text)["exception_message"]
    title, _, reply = text.partition("\n\n")
    if not isinstance(error, duckdb.HTTPException) and " for HTTP " not in title:
        return None
    code, _, message = reply.partition("\n")[0].partition(": ")
    return failure_error("the lake's files", code, message or title)
