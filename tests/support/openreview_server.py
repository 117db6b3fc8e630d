"""A loopback copy of OpenReview's API 2: forums with notes, edits and files."""

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.loopback import Loopback, QuietHandler, serving

VENUE = "ICLR.cc/2025/Conference"


def note(
    name: str, forum: str, invitation: str, at: int, content: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """A note as API 2 has it: every field of the content is `{"value": …}`."""
    return {
        "id": name,
        "forum": forum,
        "invitations": [f"{VENUE}/Submission7/-/{invitation}", f"{VENUE}/-/Edit"],
        "tcdate": at,
        "content": {key: {"value": value} for key, value in content.items()},
        **more,
    }


@dataclass
class OpenReviewServer(Loopback):
    """What it serves, and the addresses it was asked for.

    Attributes:
        files: by path and id, such as `/attachment?id=F`.
        refused: paths that are answered with a status.
    """

    notes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    edits: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def answer(self, path: str, asked: dict[str, list[str]]) -> tuple[int, bytes]:
        """Status and body."""
        if path in self.refused:
            return self.refused[path], b'{"name": "ForbiddenError", "message": "no"}'
        if path == "/notes":
            return 200, json.dumps({"notes": self.notes.get(asked["forum"][0], [])}).encode()
        if path == "/notes/edits":
            return 200, json.dumps({"edits": self.edits.get(asked["note.id"][0], [])}).encode()
        content = self.files.get(f"{path}?id={asked.get('id', [''])[0]}")
        return (200, content) if content is not None else (404, b"{}")


def openreview_server() -> AbstractContextManager[OpenReviewServer]:
    """Run a server on a free port for the length of the block."""
    return serving(OpenReviewServer, _Handler)


class _Handler(QuietHandler):
    def answer(self) -> None:
        server: OpenReviewServer = self.told
        parts = urlsplit(self.path)
        server.asked.append(self.path)
        server.keys.append(self.headers.get("Authorization", ""))
        self.send_whole(*server.answer(parts.path, parse_qs(parts.query)))
