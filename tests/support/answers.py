"""What commands print with `--json`, held to its one shape."""

import json
from typing import Any

from flows.cli.answer import Answer


def read_answer(printed: str) -> dict[str, Any]:
    """The document; fails where it is no `Answer`."""
    document: dict[str, Any] = json.loads(printed)
    assert list(document)[:4] == list(Answer.model_fields)
    assert document["run"] is None or document["run"]["run_id"]
    assert document["state"]
    assert all(isinstance(row, dict) for row in document["rows"])
    assert all(isinstance(line, str) and line for line in document["warnings"])
    return document
