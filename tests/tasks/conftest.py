"""What holds for all tasks."""

import pytest


@pytest.fixture(autouse=True)
def patient_parents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsers in child processes keep their processor time, but a busy machine may take as long as
    it likes to give it to them.
    """
    monkeypatch.setattr("tasks.documents.child._WALL_SECONDS_PER_CPU_SECOND", 100)
