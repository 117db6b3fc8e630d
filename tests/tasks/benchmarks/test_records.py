"""Files of data sets, whoever made them."""

import gzip
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.tables import RECORDERS
from tasks.benchmarks import records
from tasks.benchmarks.records import json_lines, json_list
from warehouse.kinds.benchmarks.landing import BENCHMARKS


def packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


def test_a_packed_file_of_more_entries_than_are_held_in_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = packed(tmp_path / "lines.gz", b"{}\n" * 10)
    entries = packed(tmp_path / "list.gz", b"[" + b"{}," * 9 + b"{}]")
    monkeypatch.setattr(records, "_MOST_RECORDS", 10)
    assert len(json_lines(lines)) == len(json_list(entries)) == 10
    monkeypatch.setattr(records, "_MOST_RECORDS", 9)
    for read, path in ((json_lines, lines), (json_list, entries)):
        with pytest.raises(ConfigurationError, match=r"more than 9 entries: check --data"):
            read(path)


def test_a_failed_suite_may_be_recorded() -> None:
    assert BENCHMARKS.word in RECORDERS
