"""Where a warehouse is: a folder, or a place in object storage.

Of a place in object storage each machine keeps a working folder, which holds its caches and what
other machines do without. Its name says whose it is, so that the folder alone is passed on within
a machine, and the address where something travels.
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
    """Return whether it names a place there, and not a folder."""
    return address.startswith(_SCHEME)


def bucket_and_prefix(address: str) -> tuple[str, str]:
    """The parts of `s3://bucket/prefix`; the prefix without slashes around it, maybe empty.

    Raises:
        ConfigurationError: it is no such address.
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
    """The folder that a warehouse's address names: itself, or the working folder of a place in
    object storage.

    Raises:
        ConfigurationError: the address is none, or too long to name a folder.
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
    """The place in object storage whose working folder it is; None: it is a folder of its own."""
    if folder.parent.name != _WORKING_FOLDERS or not folder.name.startswith(_NAME_BEGINS):
        return None
    return _SCHEME + folder.name.removeprefix(_NAME_BEGINS).replace(_SLASH, "/")


class AddressOfWarehouse:
    """Marks a field that is a warehouse: a folder of this machine in Python, an address as text."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        read = core_schema.no_info_after_validator_function(
            warehouse_folder, core_schema.str_schema()
        )
        return core_schema.json_or_python_schema(
            json_schema=read,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(Path), read]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _written, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )


def _written(folder: Path) -> str:
    return address_of(folder) or str(folder)


WarehouseFolder = Annotated[Path, AddressOfWarehouse()]
