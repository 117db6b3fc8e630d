"""Landed files enter the lake in batches bounded by bytes."""

from pathlib import Path

import pytest

from schemas.errors import PublicationError
from warehouse import landed
from warehouse.landed import in_batches


def test_batches_hold_some_bytes_whatever_the_number_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landed, "_BYTES_PER_BATCH", 100)
    files = [tmp_path / f"{number}.parquet" for number in range(5)]
    for file, size in zip(files, (40, 60, 250, 10, 10), strict=True):
        file.write_bytes(b"x" * size)
    assert list(in_batches(files)) == [files[:2], files[2:3], files[3:]]


def test_a_lost_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PublicationError, match=r"gone\.parquet cannot be read"):
        list(in_batches([tmp_path / "gone.parquet"]))
