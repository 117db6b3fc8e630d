"""Prompt and reply of a call: kept once, compressed, without keys, and only for so long."""

import sqlite3
from pathlib import Path

import pytest

from warehouse.stores.transcripts import Transcripts, open_transcripts, transcripts_path
from warehouse.warehouse import Warehouse

MESSAGES = [{"role": "system", "content": "You judge. " * 200}, {"role": "user", "content": "Œ?"}]


def rows(path: Path) -> list[tuple[str, int]]:
    with sqlite3.connect(path) as connection:
        return connection.execute("select key, length(value) from entries").fetchall()


def test_the_same_words_are_kept_once_and_small(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path / "t.sqlite")
    first = transcripts.keep(MESSAGES, '{"score": 7}')
    assert transcripts.keep(MESSAGES, '{"score": 7}') == first
    other = transcripts.keep(MESSAGES, '{"score": 8}')
    assert {key for key, _ in rows(tmp_path / "t.sqlite")} == {first, other}
    assert all(size < 300 for _, size in rows(tmp_path / "t.sqlite"))
    found = transcripts.read(first)
    assert found is not None
    assert found.messages == (("system", "You judge. " * 200), ("user", "Œ?"))
    assert found.reply == '{"score": 7}'
    assert transcripts.read("unknown") is None


def test_a_key_in_a_reply_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    transcripts = Transcripts(tmp_path / "t.sqlite")
    found = transcripts.read(transcripts.keep(MESSAGES, "my key is sk-very-secret-key"))
    assert found is not None
    assert "sk-very-secret-key" not in found.reply


@pytest.mark.parametrize("planted", ["[1]", "[[[1, 2, 3]], 4]", '[[["user", 1]], "x"]', "no JSON"])
def test_what_no_call_said_reads_as_not_kept(planted: str, tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path / "t.sqlite")
    key = transcripts.keep(MESSAGES, "7")
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("update entries set value = ?", [planted.encode()])
    assert transcripts.read(key) is None


def test_what_is_older_than_the_setting_is_deleted_and_nothing_is_kept_when_off(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    assert open_transcripts(warehouse, 0) is None
    assert not transcripts_path(warehouse).exists()
    transcripts = open_transcripts(warehouse, 90)
    assert transcripts is not None
    old, new = transcripts.keep(MESSAGES, "old"), transcripts.keep(MESSAGES, "new")
    transcripts.close()
    with sqlite3.connect(transcripts_path(warehouse)) as connection:
        connection.execute(
            "update entries set stored_at = stored_at - 91 * 86400 where key = ?", (old,)
        )
    again = open_transcripts(warehouse, 90)
    assert again is not None
    assert (again.read(old), again.read(new) is None) == (None, False)
    again.close()
    assert open_transcripts(warehouse, 0) is None
    assert rows(transcripts_path(warehouse)) == []
