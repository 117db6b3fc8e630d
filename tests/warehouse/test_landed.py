"""Landed files enter the lake in batches bounded by bytes, and only as they were written."""

from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from schemas.errors import PublicationError
from schemas.tables import TABLE
from tests.support.evaluations import make_evaluation
from warehouse import parquet
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.parquet import in_batches, read_landed
from warehouse.warehouse import Warehouse


def test_batches_hold_some_bytes_whatever_the_number_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_BYTES_PER_BATCH", 100)
    files = [tmp_path / f"{number}.parquet" for number in range(5)]
    for file, size in zip(files, (40, 60, 250, 10, 10), strict=True):
        file.write_bytes(b"x" * size)
    assert list(in_batches(files)) == [files[:2], files[2:3], files[3:]]


def test_a_byte_changed_anywhere_changes_no_row_unseen(tmp_path: Path) -> None:
    """Pages have checksums; of what a footer says, only statistics, which no row comes from, may be
    wrong.
    """
    warehouse, evaluation = Warehouse(tmp_path), make_evaluation()
    land(warehouse, evaluation)
    file = (
        RUNS.unit_folder(warehouse, evaluation.run_id, evaluation.evaluation_key) / "papers.parquet"
    )
    whole, rows = file.read_bytes(), read_landed(TABLE["papers"], [file])
    refused = 0
    for place in range(4, len(whole), 7):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with suppress(PublicationError):
            assert read_landed(TABLE["papers"], [file]).equals(rows) or place >= len(
                whole
            ) - footer_bytes(whole)
            refused -= 1
        refused += 1
    assert refused > 300


def test_a_file_of_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    warehouse, evaluation = Warehouse(tmp_path), make_evaluation()
    land(warehouse, evaluation)
    file = (
        RUNS.unit_folder(warehouse, evaluation.run_id, evaluation.evaluation_key) / "ideas.parquet"
    )
    whole = pq.read_table(file)
    for content, name in (
        (whole.drop_columns("novelty_requested"), "novelty_requested"),
        (whole.append_column("mood", whole.column("title")), "mood"),
    ):
        pq.write_table(content, file, write_page_checksum=True)
        with pytest.raises(PublicationError, match=rf"differ in columns \({name}\)") as refused:
            read_landed(TABLE["ideas"], [file])
        assert len(str(refused.value).splitlines()) == 1


def footer_bytes(content: bytes) -> int:
    return int.from_bytes(content[-8:-4], "little") + 8
