"""The log of a run: JSON lines that say what happened, and keep every secret."""

import json
import logging
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from warehouse.run_log import EVENTS, run_log

KEY = "sk-abcdef123456789"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_event_is_one_json_object_with_its_time(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "run-a.jsonl"
    for count in range(2):
        with run_log(path):
            EVENTS.info("planned", extra={"unit_count": count})
    first, second = lines(path)
    assert (first["message"], first["level"], first["unit_count"]) == ("planned", "INFO", 0)
    assert second["unit_count"] == 1
    assert datetime.fromisoformat(first["time"]).utcoffset() is not None


def test_warnings_and_tracebacks_of_any_library_are_in_it_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_PASSWORD", "correct horse battery")
    path = tmp_path / "run.jsonl"
    with run_log(path):
        try:
            raise ValueError(f"refused {KEY}")
        except ValueError:
            logging.getLogger("any.library").exception(
                "Authorization: Bearer %s, correct horse battery", KEY, extra={"units": (KEY,)}
            )
    (line,) = lines(path)
    assert line["units"] == ["***"]
    assert "ValueError: refused ***" in line["exc_info"]
    assert KEY not in path.read_text()
    assert "battery" not in path.read_text()


def test_what_ended_the_run_is_its_last_line_even_when_logging_is_silenced(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    try:
        with pytest.raises(KeyboardInterrupt), run_log(path):
            logging.disable(logging.CRITICAL)
            raise KeyboardInterrupt
    finally:
        logging.disable(logging.NOTSET)
    assert lines(path)[-1]["error"] == "KeyboardInterrupt"


def test_a_log_entered_twice_is_written_once_and_nothing_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    with run_log(path), run_log(path):
        EVENTS.info("planned")
    EVENTS.info("after the run")
    assert [line["message"] for line in lines(path)] == ["planned"]
    assert capsys.readouterr().err == ""
