"""Addresses of warehouses: read where text comes in, written where something travels."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.place import WarehouseFolder, address_of, warehouse_folder

NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True).filter(lambda name: name.strip("."))


@given(
    st.from_regex(r"[a-z0-9][a-z0-9.-]{1,20}[a-z0-9]", fullmatch=True), st.lists(NAMES, max_size=4)
)
def test_a_working_folder_says_whose_it_is(bucket: str, prefix: list[str]) -> None:
    address = "/".join((f"s3://{bucket}", *prefix))
    folder = warehouse_folder(f"{address}/")
    assert address_of(folder) == address_of(folder.resolve()) == address
    assert folder.parent == warehouse_folder("s3://lab").parent


class Travelling(Noun):
    """As requests are, which shards bear."""

    warehouse: WarehouseFolder


def test_options_and_requests_travel_with_the_address_to_a_machine_with_another_home(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_HOME", "/here")
    told = [
        LakeOptions(warehouse="s3://lab/assay").model_dump_json(),
        Travelling(warehouse=warehouse_folder("s3://lab/assay")).model_dump_json(),
    ]
    monkeypatch.setenv("ASSAY_HOME", "/there")
    assert told == [told[0], told[0]]
    for kind in (LakeOptions, Travelling):
        read = kind.model_validate_json(told[0])
        assert read.warehouse == Path("/there/warehouses/s3=lab=assay")


@pytest.mark.parametrize("address", ["/a/b", "file:/a/b", "file:///a/b"])
def test_a_folder_is_itself(address: str) -> None:
    assert LakeOptions(warehouse=address).warehouse == Path("/a/b")
    assert address_of(Path("/a/b")) is None
    assert address_of(Path("/a/s3=lab")) is None


@pytest.mark.parametrize(
    "address",
    [
        "s3://",
        "s3:///assay",
        "s3://lab/../other",
        "s3://lab/a=b",
        "s3://lab/é",
        "s3://lab/" + "a" * 250,
    ],
)
def test_what_is_no_address_is_refused_in_one_line(address: str) -> None:
    with pytest.raises(ConfigurationError, match="s3://") as refused:
        LakeOptions(warehouse=address)
    assert "\n" not in str(refused.value)
