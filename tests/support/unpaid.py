"""A model's server that leaves questions without an answer, for commands that are killed meanwhile: a
provider bills what it has answered, and nothing else.
"""

import json
import sqlite3
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.assay_command import wait_until
from tests.support.openai_server import Recorded

GUARD_SECONDS = 600
CONTACT = "whether questions and answers are understood on both sides"


@dataclass
class Till:
    """Answers so many questions, and leaves those that come after without an answer."""

    allowed: float = float("inf")
    answered: Counter[str] = field(default_factory=Counter)
    held: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Recorded) -> str:
        # A repetition asks with the same words and another seed.
        question = json.dumps([request.messages, request.body.get("seed")])
        if CONTACT in question:
            return "good"
        with self.lock:
            if self.answered.total() >= self.allowed:
                self.held += 1
                return "hangs"
            self.answered[question] += 1
            return "good"


def stored(warehouse: Path) -> int:
    """Replies that are kept on disk; 0 while there is no store."""
    try:
        path = warehouse / "cache" / "replies.sqlite"
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(connection.execute("select count(*) from entries").fetchone()[0])
    except sqlite3.Error:
        return 0


def not_yet_at(till: Till, process: subprocess.Popen[bytes], warehouse: Path) -> bool:
    """Whether the command ended before it met a question without an answer; else every answer that
    was paid for is on disk.
    """
    wait_until(
        lambda: (
            process.poll() is not None
            or (till.held > 0 and stored(warehouse) >= till.answered.total())
        ),
        GUARD_SECONDS,
        "a question without an answer",
    )
    return process.poll() is not None
