"""Model and Semantic Scholar on loopback that answer at once and fail by plan, and object storage
that does not, in a process of their own.

python -m tests.benchmarks._soak_servers FOLDER --faults 0.02 --seed 7

prints how they are reached as JSON. Every second it writes `FOLDER/asked.json`: how many requests came,
how many faults were given, and how often a question that was answered well was asked again.
"""

import argparse
import hashlib
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tests.support.object_server import object_server
from tests.support.openai_server import Messages, Recorded, start_openai_server
from tests.support.schema_answers import Schema, answer_from_schema
from tests.support.semantic_scholar_server import SemanticScholarServer, bundled_corpus

MODEL_FAULTS = ("rate_limited", "server_error", "malformed", "dropped")
LITERATURE_FAULTS = ("429", "500", "truncated", "dropped")
ASKED = "asked.json"


def planned(faults: tuple[str, ...], share: float, seed: int, number: int) -> str | None:
    """What goes wrong with the request of this number; None: nothing."""
    dice = random.Random(f"{seed} {faults[0]} {number}")
    return dice.choice(faults) if dice.random() < share else None


@dataclass
class Asked:
    """What the model was asked.

    Attributes:
        answered: when each question was answered first.
        again: when a question was answered that had been answered before, and when that was.
    """

    share: float
    seed: int
    answered: dict[bytes, float] = field(default_factory=dict)
    again: list[tuple[float, float]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    requests: int = 0

    def behaviour(self, recorded: Recorded) -> str:
        """Of the next request. A reply that is no JSON is paid for as well, and is no answer: the
        same question may be asked again.
        """
        self.requests += 1
        fault = planned(MODEL_FAULTS, self.share, self.seed, recorded.number)
        if fault is not None:
            self.faults[fault] += 1
            return fault
        now = time.time()
        asked = orjson.dumps(recorded.body, option=orjson.OPT_SORT_KEYS)
        first = self.answered.setdefault(hashlib.sha256(asked).digest(), now)
        if first < now:
            self.again.append((first, now))
        return "good"


def answer(messages: Messages, schema: Schema | None) -> Any:
    return answer_from_schema(messages, schema) if schema else "OK"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--faults", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    asked = Asked(options.faults, options.seed)
    looked_up: Counter[str] = Counter()

    def literature_fault(number: int, path: str) -> str | None:
        fault = planned(LITERATURE_FAULTS, options.faults, options.seed, number)
        looked_up[fault or "answered"] += 1
        return fault

    model = start_openai_server(asked.behaviour, answer, record=False)
    with (
        SemanticScholarServer(bundled_corpus(), fault=literature_fault) as literature,
        object_server() as storage,
    ):
        told = {"model": model.url, "literature": literature.url, "storage": storage.environment}
        print(json.dumps(told), flush=True)
        while True:
            time.sleep(1)
            told = {
                "requests": asked.requests,
                "questions": len(asked.answered),
                "again": asked.again,
                "faults": asked.faults,
                "look_ups": looked_up,
            }
            written = options.folder / f"{ASKED}.new"
            written.write_text(json.dumps(told))
            written.replace(options.folder / ASKED)


if __name__ == "__main__":
    main()
