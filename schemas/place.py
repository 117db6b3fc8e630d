"""Addresses of warehouses: folders, or prefixes in object storage.

For a warehouse in object storage, each machine has a working folder for caches and local files. Its
name encodes the address: code on one machine passes the folder, and messages contain the address.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema
from pydantic_settings import BaseSettings, SettingsConfigDict

from schemas.errors import ConfigurationError
from schemas.text.patterns import bounded

SHAPE = "s3://bucket/prefix"
_SCHEME, _FOLDER_SCHEME = "s3://", "file:"
_BUCKET = bounded(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = bounded(r"[A-Za-z0-9._=/-]{0,500}")
_WORKING_FOLDERS = "warehouses"
_NAME_BEGINS, _SLASH = "s3=", "="
_LONGEST_NAME = 200


class Home(BaseSettings):
    """Base of every section of settings."""

    model_config = SettingsConfigDict(
        env_prefix="ASSAY_",
        env_nested_delimiter="__",
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    home: Path = Field(
        default_factory=lambda: Path("~/.assay").expanduser(),
        description=(
            "Prefect's database, indices of snapshots, and working folders of warehouses in object"
            " storage."
        ),
    )


def in_object_storage(address: str) -> bool:
    """Return whether an address is in object storage."""
    return address.startswith(_SCHEME)


def bucket_and_prefix(address: str) -> tuple[str, str]:
    """Split `s3://bucket/prefix` into bucket and prefix, without outer slashes.

    Raises:
        ConfigurationError: the address is invalid.
    """
    bucket, _, prefix = address.removeprefix(_SCHEME).partition("/")
    prefix = prefix.strip("/")
    if (
        not in_object_storage(address)
        or not _BUCKET.fullmatch(bucket)
        or not _PREFIX.fullmatch(prefix)
        or (prefix and not all(part.strip(".") for part in prefix.split("/")))
    ):
        raise ConfigurationError(
            f"{address[:200]!r} is no place in object storage: write {SHAPE}, in letters,"
            " digits, dot, dash, underscore and equals sign"
        )
    return bucket, prefix


def warehouse_folder(address: str) -> Path:
    """Return the folder of a warehouse's address, or its local working folder.

    Raises:
        ConfigurationError: the address is invalid, or too long for a folder name.
    """
    if not in_object_storage(address):
        return Path(address.removeprefix(f"{_FOLDER_SCHEME}//").removeprefix(_FOLDER_SCHEME))
    bucket, prefix = bucket_and_prefix(address)
    if _SLASH in prefix:
        raise ConfigurationError(f"{address!r}: a warehouse's address has no equals sign")
    parts = (bucket, *prefix.split("/")) if prefix else (bucket,)
    name = _NAME_BEGINS + _SLASH.join(parts)
    if len(name) > _LONGEST_NAME:
        raise ConfigurationError(f"{address!r} is too long: {_LONGEST_NAME} letters are enough")
    return Home().home / _WORKING_FOLDERS / name


def address_of(folder: Path) -> str | None:
    """Return the address of a working folder; None for other folders."""
    if folder.parent.name != _WORKING_FOLDERS or not folder.name.startswith(_NAME_BEGINS):
        return None
    return _SCHEME + folder.name.removeprefix(_NAME_BEGINS).replace(_SLASH, "/")


class AddressOfWarehouse:
    """Annotation of warehouse fields: a local folder in Python, an address in JSON."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        reading_schema = core_schema.no_info_after_validator_function(
            warehouse_folder, core_schema.str_schema()
        )
        return core_schema.json_or_python_schema(
            json_schema=reading_schema,
            python_schema=core_schema.union_schema(
                [core_schema.is_instance_schema(Path), reading_schema]
            ),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _written, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )


def _written(folder: Path) -> str:
    return address_of(folder) or str(folder)


WarehouseFolder = Annotated[Path, AddressOfWarehouse()]
