"""Entries and files made to break the reader: each is rejected by itself, in one line, at a small
price.
"""

import json
import os
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas import limits, parse, read
from tasks.ideas.read import read_ideas
from tests.support.idea_files import GOOD
from warehouse.kinds.runs.landing import land_rejections
from warehouse.warehouse import Warehouse

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(f'*{old}' for _ in range(9))}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


MANY_KEYS = "\n".join(f"k{number}: 1" for number in range(1_001))


def read_here(path: Path) -> IdeaBatch:
    """The batch, which lands: every idea and every rejection can be written down."""
    batch = read_ideas(path, default_cutoff=None)
    for idea in batch.ideas:
        assert idea.model_dump_json()
    land_rejections(Warehouse(path.parent / "w"), "run-1", batch.rejected)
    return batch


def folder_with(tmp_path: Path, matter: str) -> Path:
    folder = tmp_path / "ideas"
    folder.mkdir()
    (folder / "bad.md").write_text(f"---\n{matter}\n---\n{GOOD}\n")
    (folder / "good.md").write_text(f"{GOOD} Twice.\n")
    return folder


@pytest.mark.parametrize(
    "matter",
    [
        'title: "\\ud800"',
        '"\\ud800": x',
        'idea_id: "\\udfff"',
        'group: "\\ud800"',
        f"{BOMB}cutoff_date: *i",
        f"{BOMB}note: *i",
        f"note: {'[' * 50}{']' * 50}",
        f"cutoff_date: {'[' * 300}{']' * 300}",
        MANY_KEYS,
    ],
    ids=[
        *("title", "name of a field", "identifier", "group", "aliases as a date"),
        *("aliases as a note", "deep", "deeper", "many keys"),
    ],
)
def test_poisoned_front_matter_is_rejected_as_that_idea_alone(matter: str, tmp_path: Path) -> None:
    batch = read_here(folder_with(tmp_path, matter))
    assert [idea.metadata["file"] for idea in batch.ideas] == ["good.md"]
    (rejected,) = batch.rejected
    assert rejected.location == "bad.md"
    assert "\n" not in rejected.detail


def test_a_date_nested_a_thousand_deep_is_rejected_as_that_idea_alone(tmp_path: Path) -> None:
    path = tmp_path / "ideas.jsonl"
    deep = '{"text": "' + GOOD + '", "cutoff_date": ' + "[" * 1000 + "]" * 1000 + "}"
    shallow = json.dumps({"text": GOOD, "cutoff_date": {"year": 2020}})
    path.write_text("\n".join([deep, shallow, json.dumps({"text": GOOD})]))
    batch = read_here(path)
    assert len(batch.ideas) == 1
    assert [entry.reason for entry in batch.rejected] == ["bad_field", "bad_cutoff_date"]


@pytest.mark.parametrize("inside", ["", "metadata", "data"])
def test_an_object_of_too_many_keys_is_rejected_as_that_idea_alone(
    inside: str, tmp_path: Path
) -> None:
    many = {"text": GOOD, **{f"k{number}": number for number in range(1_001)}}
    bad = {"text": GOOD, inside: many} if inside else many
    path = tmp_path / "ideas.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in (bad, {"text": f"{GOOD} Twice."})))
    batch = read_here(path)
    assert [idea.text for idea in batch.ideas] == [f"{GOOD} Twice."]
    (rejected,) = batch.rejected
    assert "keys, the limit is 1,000" in rejected.detail


def test_groups_named_to_meet_each_others_second_names_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "ideas.jsonl"
    names = ["g" + "#2" * (number % 300) for number in range(600)]
    path.write_text(
        "\n".join(
            json.dumps({"group": name, "ideas": [{"text": f"{GOOD} {n}"}]})
            for n, name in enumerate(names)
        )
    )
    batch = read_here(path)
    groups = [idea.group for idea in batch.ideas]
    assert len(set(groups)) == len(groups) > 50
    assert len(batch.ideas) + len(batch.rejected) == len(names)


@pytest.mark.parametrize("stage", ["_idea_id", "parts_of", "title_of", "Idea"])
def test_whatever_stage_of_reading_fails_over_an_entry_the_others_are_read(
    stage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = getattr(parse, stage)

    def breaking(*given: object, **named: object) -> object:
        if "poison" in repr((given, named)):
            raise ZeroDivisionError("nobody foresaw this")
        return before(*given, **named)

    monkeypatch.setattr(parse, stage, breaking)
    path = tmp_path / "ideas.jsonl"
    path.write_text(
        "\n".join(json.dumps({"text": f"{GOOD} {word}"}) for word in ("poison", "once", "twice"))
    )
    batch = read_here(path)
    assert len(batch.ideas) == 2
    (rejected,) = batch.rejected
    assert (rejected.reason, rejected.location) == ("internal_error", "ideas.jsonl line 1")
    assert "ZeroDivisionError: nobody foresaw this" in rejected.detail


def test_memory_that_ran_out_is_no_entrys_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def breaking(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(read, "parse_entry", breaking)
    path = tmp_path / "ideas.jsonl"
    path.write_text(json.dumps({"text": GOOD}))
    with pytest.raises(MemoryError):
        read_ideas(path, default_cutoff=None)


def test_links_pipes_and_names_that_are_no_text_in_a_folder_are_rejected_and_never_opened(
    tmp_path: Path,
) -> None:
    folder = folder_with(tmp_path, "title: fine")
    (tmp_path / "secret").write_text("The secret of this machine lies in this very file.")
    (folder / "passwd.txt").symlink_to(tmp_path / "secret")
    (folder / "broken.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe.md")
    (folder / os.fsdecode(b"caf\xe9.md")).write_text(f"{GOOD} Thrice.")
    (folder / os.fsdecode(b"caf\xe8.txt")).write_text("Short.")
    batch = read_here(folder)
    assert [idea.metadata["file"] for idea in batch.ideas] == ["bad.md", "caf?.md", "good.md"]
    assert [entry.location for entry in batch.rejected] == [
        "broken.txt",
        "caf?.txt",
        "passwd.txt",
        "pipe.md",
    ]
    assert "secret of this" not in batch.model_dump_json()


def test_a_pipe_in_place_of_an_idea_file_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ideas.jsonl")
    with pytest.raises(IdeaFileError, match="is a pipe"):
        read_ideas(tmp_path / "ideas.jsonl", default_cutoff=None)


def one_value_for_all(path: Path, characters: int, rows: int) -> Path:
    """A file in which one value stands for all rows: small on the disk, large in memory."""
    values = pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(["a" * characters])
    )
    pq.write_table(
        pa.table({"text": values}),
        path,
        compression="zstd",
        store_schema=False,
        write_statistics=False,
    )
    return path


def test_a_small_parquet_file_with_one_large_value_for_all_rows_takes_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = one_value_for_all(tmp_path / "ideas.parquet", 3_000_000, 20)
    assert path.stat().st_size < 5_000
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    batch = read_here(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [entry.reason for entry in batch.rejected] == ["too_long"] * 20
    assert peak_bytes < 15_000_000
    assert pa.total_allocated_bytes() - before < 15_000_000
    monkeypatch.setattr("tasks.ideas.tables.MAXIMUM_FILE_BYTES", 20_000_000)
    with pytest.raises(IdeaFileError, match=r"unpacked, has .* bytes, the limit is 20,000,000"):
        read_ideas(path, default_cutoff=None)


def test_a_parquet_file_says_by_itself_that_it_has_too_many_rows(tmp_path: Path) -> None:
    path = one_value_for_all(tmp_path / "ideas.parquet", 5, 3_000_000)
    with pytest.raises(IdeaFileError, match="has 3,000,000 rows, the limit is 250,000"):
        read_ideas(path, default_cutoff=None)


def test_a_row_of_parquet_that_is_no_text_is_rejected_by_itself(tmp_path: Path) -> None:
    values = pa.array([GOOD.encode(), b"\xff\xfe", f"{GOOD} Twice.".encode()]).view(pa.string())
    pq.write_table(pa.table({"text": values}), tmp_path / "ideas.parquet")
    batch = read_here(tmp_path / "ideas.parquet")
    assert len(batch.ideas) == 2
    assert [entry.location for entry in batch.rejected] == ["ideas.parquet row 2"]


def test_a_column_nested_too_deep_is_one_line(tmp_path: Path) -> None:
    kind: pa.DataType = pa.int8()
    for _ in range(40):
        kind = pa.list_(kind)
    table = pa.table({"text": pa.array([GOOD]), "deep": pa.nulls(1, kind)})
    pq.write_table(table, tmp_path / "ideas.parquet")
    with pytest.raises(IdeaFileError, match="nested deeper than 32"):
        read_ideas(tmp_path / "ideas.parquet", default_cutoff=None)


@pytest.mark.parametrize("name", ["ideas.jsonl", "ideas.json", "ideas.csv"])
def test_more_entries_than_a_batch_may_have_are_one_line(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(limits, "MAXIMUM_ENTRIES", 10)
    content = {
        "ideas.jsonl": "{}\n" * 11,
        "ideas.json": json.dumps([{"ideas": [{"a": 1}] * 11}]),
        "ideas.csv": "text\n" + "x\n" * 11,
    }
    (tmp_path / name).write_text(content[name])
    with pytest.raises(IdeaFileError, match=f"{name} has more than 10 entries: split it"):
        read_ideas(tmp_path / name, default_cutoff=None)


def test_more_text_than_fits_in_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(limits, "MAXIMUM_BATCH_CHARACTERS", 500)
    path = tmp_path / "ideas.jsonl"
    path.write_text(
        "\n".join(json.dumps({"text": f"{GOOD} {number}", "note": "n" * 50}) for number in range(8))
    )
    with pytest.raises(IdeaFileError, match="more than 500 characters: split it"):
        read_ideas(path, default_cutoff=None)


@pytest.mark.parametrize(
    ("name", "bytes_said"), [("ideas.json", "200,000,000"), ("ideas.csv", "1,000,000,000")]
)
def test_a_file_larger_than_can_be_read_is_one_line(
    name: str, bytes_said: str, tmp_path: Path
) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(1_100_000_000)  # a file with a hole: nothing is written
    with pytest.raises(IdeaFileError, match=f"{name} has 1,100,000,000 bytes, the limit is"):
        read_ideas(tmp_path / name, default_cutoff=None)
    if name == "ideas.json":
        os.truncate(tmp_path / name, 300_000_000)
        with pytest.raises(IdeaFileError, match=f"the limit is {bytes_said}"):
            read_ideas(tmp_path / name, default_cutoff=None)
